"""
Checking the answer once more for what redaction withheld.

What was located in a document is in its register as keyed hashes. They say nothing in a
dump, and any process that opens the same state can ask them. A released passage
names its document by an opaque handle, and the constraints that took something out of
it. The answer is read for the forms that these withhold in this document, as they are
and as runs of words whatever separates them, so that `Anna-Karlsson`, `AnnaKarlsson`
and `Anna Karlsson's` hold the same one; and it is read decoded, so that base64, letters
apart, letters of other scripts and a name written backwards hold it as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from sdrag.guardrails.screened import evidence
from sdrag.policy import Policy
from sdrag.state import State
from sdrag.state.keys import DOCUMENT_BYTES, PROCESS_KEYS
from sdrag.state.register import Register
from sdrag.text.folding import Folded
from sdrag.text.readings import readings
from sdrag.vocabulary import Passage, Principal, Span

__all__ = ["find_withheld", "is_of_another", "unknown"]


def find_withheld(
    passages: Sequence[Passage], answer: str, policy: Policy, state: State
) -> tuple[Span, ...]:
    """
    Return where an answer holds a form that was withheld from its passages.

    Args:
        passages: That the answer was made from, as they were released.
        answer: What the model said.
        policy: Whose constraints took something out.
        state: That the release was made with.
    """
    wanted: dict[bytes, set[bytes]] = {}
    registers = state.findings.registers({handle for handle, _ in _cut(passages)})
    for handle, taken in _cut(passages):
        rules = _rules(taken, policy, state)
        if rules is None:  # by a constraint that this policy does not know
            rules = set(registers[handle].rules())
        wanted.setdefault(handle, set()).update(rules)
    said = readings(answer)
    found: set[Span] = set()
    for handle, register in registers.items():
        for hiding, span in _held(register, said):
            if not wanted[handle].isdisjoint(hiding):
                found.add(span)
    return tuple(sorted(found))


def _held(
    register: Register, said: Sequence[Folded]
) -> Iterator[tuple[AbstractSet[bytes], Span]]:
    """Yield what of a register is in an answer, however it is spelt."""
    for reading in said:
        yield from register.find_forms(reading, loose=True)


def unknown(passages: Sequence[Passage], policy: Policy, state: State) -> int:
    """
    Count the passages that say something was cut, of which it is not known what.

    So it is where the state knows nothing of the document, and where the policy has
    not got the constraint, or in other words. Where the policy leaves the evidence out,
    none of them says what was done to it.
    """
    if policy.metadata.evidence is None and policy.rules:
        return len(passages)
    registers = state.findings.registers({handle for handle, _ in _cut(passages)})
    return sum(
        (rules := _rules(taken, policy, state)) is None
        or not rules <= registers[handle].rules()
        for handle, taken in _cut(passages)
    )


def is_of_another(
    passages: Iterable[Passage],
    principal: Principal | None,
    state: State | None,
    *,
    by_key: bool = False,
) -> bool:
    """
    Say whether passages were released for somebody else.

    Args:
        passages: As they were released.
        principal: Who is answered.
        state: That they were released with, if the host keeps it.
        by_key: Say instead whether another state says for whom, so it is not known.
    """
    mine = (state.shared_keys if state else PROCESS_KEYS).audience(principal)
    tags = {str(tag) for one in passages if (tag := evidence(one).get("audience"))}
    if by_key:
        return any(tag[:4] != mine[:4] for tag in tags)
    return any(tag[:4] == mine[:4] and tag != mine for tag in tags)


def _rules(taken: Iterable[str], policy: Policy, state: State) -> set[bytes] | None:
    """Return the keys of constraints; none, where the policy lacks one."""
    names = {rule.id: state.keys.rule(rule) for rule in policy.rules}
    if not all(name in names for name in taken):
        return None
    return {names[name] for name in taken}


def _cut(passages: Iterable[Passage]) -> Iterator[tuple[bytes, list[str]]]:
    """Yield the handle of each passage that says it was cut, and by what."""
    for passage in passages:
        said = evidence(passage)
        if said.get("spans") or "document" in said:
            yield _handle(said.get("document")), list(said.get("constraints") or ())


def _handle(given: object) -> bytes:
    """Read a handle; what is none is one that nothing is known of."""
    try:
        handle = bytes.fromhex(str(given))
    except ValueError:
        return b""
    return handle if len(handle) == DOCUMENT_BYTES else b""
