"""
Checking the answer once more for what redaction withheld.

What was located in a document is in its register as keyed hashes. They say nothing in a
dump, and any process that opens the same state can ask them. A released passage
names its document by an opaque handle, and the constraints that took something out of
it. The answer is read for the forms that these withhold in this document, as they are
and as runs of words whatever separates them, so that `Anna-Karlsson`, `AnnaKarlsson`
and `Anna Karlsson's` hold the same one; and it is read decoded, so that base64, letters
apart and letters of other scripts hold it as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sdrag.guardrails.evidence import evidence
from sdrag.policy import Policy
from sdrag.state import State
from sdrag.state.keys import DOCUMENT_BYTES, PROCESS_KEYS
from sdrag.text.readings import readings
from sdrag.vocabulary import Passage, Principal, Span


def find_withheld(
    passages: Sequence[Passage], answer: str, policy: Policy, state: State
) -> tuple[tuple[Span, ...], bool]:
    """
    Return where an answer holds a form that was withheld from its passages.

    Returns:
        The spans, and whether it is known of each passage what was cut out of it. It
        is not where the state knows nothing of the document, where the policy has not
        got the constraint, or in other words, and where it leaves the evidence out.
    """
    cut = list(_cut(passages))
    registers = state.findings.registers({handle for handle, _ in cut})
    hiding: dict[bytes, set[bytes]] = {}
    is_known = not (passages and policy.metadata.evidence is None and policy.rules)
    for handle, names in cut:
        rules, recorded = _rules(names, policy, state), set(registers[handle].rules())
        is_known = is_known and rules is not None and rules <= recorded
        hiding.setdefault(handle, set()).update(recorded if rules is None else rules)
    read = readings(answer)
    spans = {
        span
        for handle, register in registers.items()
        for rules, span in register.find_forms(read, loose=True)
        if not hiding[handle].isdisjoint(rules)
    }
    return tuple(sorted(spans)), is_known


def is_of_another(
    passages: Iterable[Passage],
    principal: Principal | None,
    state: State | None,
    *,
    by_key: bool = False,
) -> bool:
    """
    Say whether passages were released for another principal.

    `by_key`: say instead whether another state says for whom, so it is not known.
    """
    wanted = (state.shared_keys if state else PROCESS_KEYS).audience(principal)
    tags = {str(tag) for item in passages if (tag := evidence(item).get("audience"))}
    if by_key:
        return any(tag[:4] != wanted[:4] for tag in tags)
    return any(tag[:4] == wanted[:4] and tag != wanted for tag in tags)


def _rules(names: Iterable[str], policy: Policy, state: State) -> set[bytes] | None:
    """Return the keys of constraints; none, where the policy lacks one."""
    known = {rule.id: state.keys.rule(rule) for rule in policy.rules}
    return {known[name] for name in names} if set(names) <= set(known) else None


def _cut(passages: Iterable[Passage]) -> Iterator[tuple[bytes, list[str]]]:
    """Yield the handle of each passage that says it was cut, and by what."""
    for passage in passages:
        facts = evidence(passage)
        if facts.get("spans") or "document" in facts:
            yield _handle(facts.get("document")), list(facts.get("constraints") or ())


def _handle(value: object) -> bytes:
    """Read a handle; what is none is one that nothing is known of."""
    try:
        handle = bytes.fromhex(str(value))
    except ValueError:
        return b""
    return handle if len(handle) == DOCUMENT_BYTES else b""
