"""
Confirmation: with a model, what the local engine alone finds is a question to it.

What the model itself quotes goes, and needs no question; neither does what has a form
of its own, what a constraint names or states itself, and what is in a text that
speaks to the model. All else is asked, form by form, with every sentence of its
document that holds it, one document a prompt, in one round trip. Only an explicit
no frees a form, for that constraint and in that document; a reply that cannot be used
is asked again once, and what has no answer then is withheld.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.lookup import ENCODED, Found, Lookup
from sdrag.disclosure.model.confirm_prompt import Confirmation, Marked
from sdrag.effects.steps import Steps, complete
from sdrag.effects.tokens import CHARACTERS_PER_TOKEN
from sdrag.text.folding import fold, fold_text
from sdrag.text.phrase_matcher import PhraseMatcher
from sdrag.text.sentences import sentences
from sdrag.text.spans import merge
from sdrag.vocabulary import Confidential, Constraint, Finding, Span

_MAX_QUESTIONS = 20
"""Questions of one prompt, without the controls."""

_WRONG = "it was not JSON of that form, or left out a question"
_SURE = frozenset({"checked", "named", ENCODED})


_FormKey = tuple[bytes, str]
"""A document, and the words, folded."""


@dataclass(slots=True, repr=False)
class _Sorted(Confidential):
    """
    Findings by what becomes of them.

    Args:
        kept: They go, unasked.
        asked: The others, each with its form.
        forms: To be asked about.
    """

    kept: Found = field(default_factory=dict)
    asked: list[tuple[int, bytes, Finding, _FormKey]] = field(default_factory=list)
    forms: dict[_FormKey, Marked] = field(default_factory=dict)

    def keep(self, text_index: int, rule: bytes, finding: Finding) -> None:
        """Withhold a finding."""
        self.kept.setdefault(text_index, {}).setdefault(rule, []).append(finding)


def confirm(lookup: Lookup, found: Found, quoted: Found) -> Steps[Found]:
    """
    Ask a model about what only the local engine found.

    Args:
        lookup: The texts.
        found: By the local engine.
        quoted: By the model.

    Returns:
        What of the local findings is withheld.
    """
    if lookup.setup.policy.disclosure.with_model == "union" or not found:
        return found
    suspects = yield from _find_suspects(lookup, found)
    sorting = _sort(lookup, found, quoted, suspects)
    freed = yield from _ask(lookup, sorting)
    for text_index, rule, finding, form in sorting.asked:
        if (form, finding.constraint_id) not in freed:
            sorting.keep(text_index, rule, finding)
    return sorting.kept


def _find_suspects(lookup: Lookup, found: Found) -> Steps[set[int]]:
    """Return the indices of texts that speak to the model, in documents asked about."""
    documents = {lookup.documents[text_index] for text_index in found}
    indices = [p for p, own in enumerate(lookup.documents) if own in documents]
    flags = yield from lookup.setup.suspects([lookup.texts.all[p] for p in indices])
    return {p for p, is_suspect in zip(indices, flags, strict=True) if is_suspect}


def _sort(lookup: Lookup, found: Found, quoted: Found, suspects: set[int]) -> _Sorted:
    """Sort out what is asked about."""
    rules = {rule.id: rule for rule in lookup.texts.constraints}
    sorting = _Sorted()
    for text_index, by_key in found.items():
        text, document = lookup.texts.all[text_index].text, lookup.documents[text_index]
        taken = _find_taken(lookup, text_index, quoted)
        for rule, finding in ((r, f) for r, all_ in by_key.items() for f in all_):
            constraint = rules[finding.constraint_id]
            if text_index in suspects or _is_sure(finding, text, constraint):
                sorting.keep(text_index, rule, finding)
                continue
            words = _subtract(text, finding.span, taken.get(rule, ()))
            if not words:  # the model's own spans take all of it
                continue
            key = (document, fold_text(words))
            form = sorting.forms.setdefault(key, Marked(words, document))
            form.constraints[finding.constraint_id] = None
            form.sentences.update(dict.fromkeys(_around(text, finding.span)))
            sorting.asked.append((text_index, rule, finding, key))
    _add_sentences(lookup, sorting.forms, suspects)
    return sorting


def _find_taken(
    lookup: Lookup, text_index: int, quoted: Found
) -> dict[bytes, tuple[Span, ...]]:
    """Return what the model takes from a text, now or when it read it before."""
    taken = {
        rule: tuple(finding.span for finding in findings)
        for rule, findings in quoted.get(text_index, {}).items()
    }
    for row in lookup.known.get(lookup.keys[text_index], ()):
        if row.engine == lookup.model:
            for rule, spans in row.spans.items():
                taken[rule] = (*taken.get(rule, ()), *spans)
    return taken


def _is_sure(finding: Finding, text: str, constraint: Constraint) -> bool:
    """Say whether a finding goes whatever a model says of it."""
    if finding.reason in _SURE:
        return True
    stated = parse(constraint).statement
    words = set(fold_text(finding.span.of(text)).split())
    return bool(stated) and words <= set(fold_text(stated).split())


def _subtract(text: str, span: Span, taken: Iterable[Span]) -> str:
    """Return the words of a span that are not taken anyway; empty if none are."""
    parts, start = [], span.start
    for other in merge(taken):
        if other.start < span.end and span.start < other.end:
            parts.append(text[start : max(start, other.start)])
            start = max(start, other.end)
    parts.append(text[start : span.end] if start < span.end else "")
    left = [" ".join(part.split()) for part in parts if any(map(str.isalnum, part))]
    return " \N{HORIZONTAL ELLIPSIS} ".join(left)


def _around(text: str, span: Span) -> Iterator[str]:
    """Yield the sentences that a span is in."""
    for sentence in sentences(text):
        if sentence.overlaps(span):
            yield sentence.of(text).strip()


def _add_sentences(
    lookup: Lookup, forms: Mapping[_FormKey, Marked], suspects: set[int]
) -> None:
    """Add to each form all other sentences of its document that hold it."""
    words: dict[bytes, set[str]] = {}
    for document, folded in forms:
        words.setdefault(document, set()).add(folded)
    matchers = {document: PhraseMatcher(each) for document, each in words.items()}
    for text_index, document in enumerate(lookup.documents):
        if document not in matchers or text_index in suspects:
            continue
        text = lookup.texts.all[text_index].text
        for span in matchers[document].find(fold(text)):
            form = forms.get((document, fold_text(span.of(text))))
            if form is not None:
                form.sentences.update(dict.fromkeys(_around(text, span)))


def _ask(lookup: Lookup, sorting: _Sorted) -> Steps[set[tuple[_FormKey, str]]]:
    """Return the forms and the constraints for which the model said no."""
    key_of = {id(form): key for key, form in sorting.forms.items()}
    freed: set[tuple[_FormKey, str]] = set()
    batches = list(_batches(lookup, sorting.forms.values()))
    for wrong in ("", _WRONG):
        asked = [_request(lookup, batch, wrong) for batch in batches]
        outcomes = yield from complete(request.prompt for request in asked)
        batches = []
        for request, outcome in zip(asked, outcomes, strict=True):
            answered, unanswered = request.read(outcome)
            for form, names in answered:
                freed.update((key_of[id(form)], name) for name in names)
            if unanswered:
                batches.append(unanswered)
    return freed


def _batches(lookup: Lookup, forms: Iterable[Marked]) -> Iterator[Sequence[Marked]]:
    """Pack forms into prompts; one whose sentences fit into none is not asked about."""
    limit = lookup.setup.policy.disclosure.token_budget * CHARACTERS_PER_TOKEN
    by_document: dict[bytes, list[Marked]] = {}
    for form in forms:
        by_document.setdefault(form.document, []).append(form)
    for listed in by_document.values():
        packed: list[Marked] = []
        shown: set[str] = set()
        for form in listed:
            if sum(map(len, form.sentences)) > limit:
                continue
            together = shown.union(form.sentences)
            is_full = len(packed) == _MAX_QUESTIONS
            if packed and (is_full or sum(map(len, together)) > limit):
                yield packed
                packed, together = [], set(form.sentences)
            packed.append(form)
            shown = together
        if packed:
            yield packed


def _request(lookup: Lookup, forms: Sequence[Marked], wrong: str) -> Confirmation:
    """Ask about forms of one document, under all constraints that hold for it."""
    names = {
        name
        for document, applied in zip(
            lookup.documents, lookup.texts.applied, strict=True
        )
        if document == forms[0].document
        for name in applied
    }
    rules = [rule for rule in lookup.texts.constraints if rule.id in names]
    return Confirmation.of(forms, rules, lookup.setup.key, wrong)
