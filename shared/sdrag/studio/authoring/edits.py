"""
Changing a policy by words that must stay or go.

Each change is tried before it is kept: what must go is gone from the sentences that it
was found in, which become its examples, and what must stay stays in its documents. A
change that does not bring that about is undone, and the note says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from textwrap import wrap
from typing import NamedTuple

from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.local.by_meaning import needs_meaning
from sdrag.errors import SdragError, UsageError
from sdrag.explanation.explain import Explainer
from sdrag.explanation.explanations import Explanation
from sdrag.policy import Policy
from sdrag.studio.authoring.policy_text import add, append, read_policy
from sdrag.studio.documents import chunks_of
from sdrag.text.folding import fold_text
from sdrag.text.sentences import around
from sdrag.text.spans import SpanUnion, widen
from sdrag.vocabulary import Passage, Span

_MOST_TEXTS = 40
"""So many sentences of the documents are read for words that must go."""
_QUOTABLE = 80
"""So many characters a constraint takes in quotation marks."""
_MARKS = " \"'\u2018\u2019\u201c\u201d\u00ab\u00bb"
_STILL = (
    "still hidden by {}: no keep opens an identifier, what the sentence itself names,"
    " or what is a name elsewhere in the document"
)


def let_stay(
    text: str, words: Sequence[str], documents: Sequence[Passage]
) -> tuple[str, list[str]]:
    """
    Let words stay under each constraint that hides them in documents.

    Returns:
        The policy, and for each of the words what was done, or why nothing was.
    """
    policy, regexes = read_policy(text), {w: _regex(w, documents) for w in words}
    # Whole documents: a name in one sentence hides its parts in another.
    held = [d for d in documents if any(r.search(d.text) for r in regexes.values())]
    alone = (w for w, r in regexes.items() if not any(r.search(d.text) for d in held))
    passages = [
        *chain.from_iterable(map(chunks_of, held)),
        *(Passage(w, w) for w in alone),
    ]
    before = _look(policy, passages, regexes)
    undone: dict[str, str] = {}
    kept = {each: [" ".join(each.split())] for each in regexes}
    while True:
        changed = text
        for each in (w for w in regexes if w not in undone):
            try:
                changed = _keep(changed, policy, kept[each], before[each].hidden)
            except SdragError as error:
                undone[each] = str(error)
        after = _look(read_policy(changed), passages, regexes)
        still = [w for w in regexes if after[w].hidden and w not in undone]
        if not still:
            break
        # Together again: what stays may rest on another that does, or on its own
        # words, which the document has by themselves.
        for each in still:
            if len(kept[each]) == 1 and len(parts := each.split()) > 1:
                kept[each] += [p for p in parts if any(map(str.isalnum, p))]
            else:
                undone[each] = _STILL.format(_quote(policy, after[each].hidden))
    notes = []
    for each in words:
        hidden = before[each].hidden
        note = f"`keep` under {_quote(policy, hidden)}" if hidden else "stays already"
        note += ", and of each of its words" if len(kept[each]) > 1 else ""
        note = f"undone, {undone[each]}" if each in undone else note
        notes.append(note + _unless_there(regexes[each], documents))
    return changed, notes


def _keep(text: str, policy: Policy, kept: Iterable[str], hidden: Sequence[str]) -> str:
    """Return a policy with keeps under each of the constraints."""
    for number, rule in enumerate(policy.rules):
        for words in kept if rule.id in hidden else ():
            text = append(text, number, "keep", words)
    return text


def make_go(
    text: str, words: Sequence[str], documents: Sequence[Passage]
) -> tuple[str, list[str]]:
    """
    Write an example of words that must go, under a new sentence where none hides them.

    A sentence that nearly hides them is taught by the example, and needs no new one.

    Returns:
        The policy, and for each of the words what was done, or why nothing was.
    """
    notes = []
    for each in words:
        regex = _regex(each, documents)
        try:
            text, note = _make_go(text, each, regex, documents)
        except SdragError as error:
            note = f"undone, {error}"
        notes.append(note + _unless_there(regex, documents))
    return text, notes


def _make_go(
    text: str, words: str, regex: re.Pattern[str], documents: Sequence[Passage]
) -> tuple[str, str]:
    policy = read_policy(text)
    found = (  # sentences: an example is a text of its own
        around(document.text, place).of(document.text).strip()
        for document, place in _places(regex, documents)
    )
    texts = [*dict.fromkeys(found)][:_MOST_TEXTS] or [words]
    passages = [Passage(each, each) for each in texts]
    look = _look(policy, passages, {words: regex})[words]
    (first, place), *_ = _places(regex, passages)
    quoted = place.of(first.text)
    example = {"text": first.text, "hides": [quoted]}
    # Where other words hold its letters, no example could tell that it is gone.
    is_told = fold_text(first.text).count(fold_text(quoted)) == 1
    if look.gone:
        number = max(n for n, r in enumerate(policy.rules) if r.id in look.hidden)
        changed = append(text, number, "examples", example) if is_told else text
        return changed, f"goes already, by {_quote(policy, look.hidden)}"
    for number, rule in enumerate(policy.rules):
        if is_told and rule.id in look.left and needs_meaning(parse(rule)):
            changed = append(text, number, "examples", example)
            if _look(read_policy(changed), passages, {words: regex})[words].gone:
                return changed, f"shown to {_quote(policy, [rule.id])} as an example"
    forms = dict.fromkeys((quoted, widen(first.text, place).of(first.text)))
    for sentence in chain.from_iterable(map(_sentences_on, forms)):
        changed = add(text, sentence, [example] if is_told else [])
        if _look(read_policy(changed), passages, {words: regex})[words].gone:
            near = _quote(policy, look.left)
            also = f"; or perhaps, in its place, `sensitivity: high` under {near}"
            return changed, f"added {sentence}{also if near else ''}"
    return text, "undone, no sentence that quotes it hides it: select whole words"


def _sentences_on(words: str) -> Iterator[str]:
    """Yield sentences that hide words, as they are quoted in a constraint."""
    words = " ".join(words.split()).strip(_MARKS)
    if len(words) <= _QUOTABLE:
        mark = "'" if '"' in words else '"'
        yield f"Hide {mark}{words}{mark}"
    pieces = (wrap(piece, _QUOTABLE) for piece in words.split('"'))
    quoted = (f'"{each}"' for each in chain.from_iterable(pieces) if len(each) > 1)
    yield f"Hide {' and '.join(quoted)}"


def _regex(words: str, documents: Sequence[Passage]) -> re.Pattern[str]:
    """Return what finds words: as whole words, unless no document has them so."""
    if not any(map(str.isalnum, words)):
        raise UsageError("There is no word to look for.", hint="Select words.")
    inner = r"\s+".join(map(re.escape, words.split()))
    whole = re.compile(rf"(?<!\w){inner}(?!\w)")
    found = any(whole.search(document.text) for document in documents)
    return whole if found else re.compile(inner)


def _places(
    regex: re.Pattern[str], passages: Iterable[Passage]
) -> Iterator[tuple[Passage, Span]]:
    for passage in passages:
        for match in regex.finditer(passage.text):
            yield passage, Span(*match.span())


def _unless_there(regex: re.Pattern[str], documents: Sequence[Passage]) -> str:
    there = any(regex.search(document.text) for document in documents)
    return "" if there else " (these documents do not have it)"


class _Look(NamedTuple):
    """The constraints that hide words, those that nearly do, and if all of them go."""

    hidden: Sequence[str]
    left: Sequence[str]
    gone: bool


def _look(
    policy: Policy, passages: Sequence[Passage], regexes: Mapping[str, re.Pattern[str]]
) -> dict[str, _Look]:
    """Say of words what a policy does with them in texts."""
    explanations = Explainer(policy).explain(passages)
    return {words: _look_at(explanations, regex) for words, regex in regexes.items()}


def _look_at(explanations: Sequence[Explanation], regex: re.Pattern[str]) -> _Look:
    hidden, left, gone = dict[str, None](), dict[str, None](), True
    for each in explanations:
        covered = SpanUnion(e.span for e in each.spans)
        for at in (Span(*match.span()) for match in regex.finditer(each.text)):
            for ids, spans in ((hidden, each.spans), (left, each.left)):
                ids.update(
                    (e.constraint_id, None) for e in spans if e.span.overlaps(at)
                )
            letters = (n for n in range(at.start, at.end) if each.text[n].isalnum())
            gone = gone and all(covered.overlaps(Span(n, n + 1)) for n in letters)
    return _Look([*hidden], [*left], gone)


def _quote(policy: Policy, ids: Sequence[str]) -> str:
    quoted = (f"\u201c{r.text}\u201d ({r.id})" for r in policy.rules if r.id in ids)
    return ", ".join(quoted)
