"""
Confirmation: with a model, what the local engine alone finds is a question to it.

What the model itself quotes goes, and needs no question; neither does what has a form
of its own, what a constraint names or states itself, and what is in a text that
speaks to the model. All else is asked, form by form, with every sentence of its
document that hold it, one document a prompt, in one round trip. Only an explicit
no frees a form, for that constraint and in that document; a reply that cannot be used
is asked again once, and what has no answer then is withheld.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from sdrag.disclosure.confirm_prompt import Confirmation, Marked, confirm_prompt
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.decoded import ENCODED
from sdrag.disclosure.model_replies import read_answers
from sdrag.disclosure.stored_findings import Found, Lookup
from sdrag.effects.prompts import Labelled
from sdrag.effects.steps import Failure, Outcome, Steps, complete, compute, replied
from sdrag.effects.tokens import CHARACTERS_PER_TOKEN
from sdrag.state.span_bytes import by_rule
from sdrag.text.folding import fold, fold_text
from sdrag.text.phrase_matcher import PhraseMatcher
from sdrag.text.sentences import sentences
from sdrag.text.spans import merge
from sdrag.vocabulary import Confidential, Constraint, Finding, Span

__all__ = ["confirmed"]

_SURE = frozenset({"checked", "named", ENCODED})
_MOST_QUESTIONS = 20
"""So many are asked in one prompt."""
_WRONG = "it was not JSON of that form, or left out a question"


@dataclass(slots=True, repr=False)
class _Form(Confidential):
    """
    What was marked in a document, and for which constraints.

    Args:
        words: As written there, without what the model took itself.
        document: The key of the document.
        rules: The ids of the constraints.
        sentences: Of the document; they hold it.
    """

    words: str
    document: bytes
    rules: dict[str, None] = field(default_factory=dict)
    sentences: dict[str, None] = field(default_factory=dict)


_FormKey = tuple[bytes, str]
"""A document, and the words, folded."""


@dataclass(frozen=True, slots=True, repr=False)
class _Sorted(Confidential):
    """
    Findings by what becomes of them.

    Args:
        kept: They go, unasked.
        asked: The others, each with its form.
        forms: To be asked about.
    """

    kept: Found
    asked: Sequence[tuple[int, bytes, Finding, _FormKey]]
    forms: Mapping[_FormKey, _Form]


def confirmed(lookup: Lookup, found: Found, quoted: Found) -> Steps[Found]:
    """
    Ask a model about what only the local engine found.

    Args:
        lookup: The texts.
        found: By the local engine.
        quoted: By the model.

    Returns:
        What of the local findings is withheld.
    """
    how = lookup.setup.policy.disclosure.with_model
    if how == "union" or not found:
        return found
    suspects = yield from _suspects(lookup, found)
    (answer,) = yield from compute(
        lambda given: _sorted(lookup, given, quoted, suspects), [found]
    )
    sorting = replied(answer)
    if how == "model":
        return sorting.kept
    freed = yield from _freed(lookup, sorting)
    kept = sorting.kept
    for text_index, rule, finding, form in sorting.asked:
        if (form, finding.constraint_id) not in freed:
            kept.setdefault(text_index, {}).setdefault(rule, []).append(finding)
    return kept


def _suspects(lookup: Lookup, found: Found) -> Steps[set[int]]:
    """Return the indices of texts that speak to the model, in documents asked about."""
    documents = {lookup.documents[text_index] for text_index in found}
    text_indices = [p for p, own in enumerate(lookup.documents) if own in documents]
    suspected = yield from lookup.setup.suspects(
        [lookup.texts.all[p] for p in text_indices]
    )
    return {p for p, is_one in zip(text_indices, suspected, strict=True) if is_one}


def _sorted(lookup: Lookup, found: Found, quoted: Found, suspects: set[int]) -> _Sorted:
    """Sort out what is asked about."""
    rules = {rule.id: rule for rule in lookup.texts.constraints}
    kept: Found = {}
    asked: list[tuple[int, bytes, Finding, _FormKey]] = []
    forms: dict[_FormKey, _Form] = {}
    for text_index, by_key in found.items():
        text, document = lookup.texts.all[text_index].text, lookup.documents[text_index]
        taken = _taken(lookup, text_index, quoted)
        for rule, findings in by_key.items():
            for finding in findings:
                own = rules[finding.constraint_id]
                if text_index in suspects or _is_sure(finding, text, own):
                    kept.setdefault(text_index, {}).setdefault(rule, []).append(finding)
                    continue
                words = _left(text, finding.span, taken.get(rule, ()))
                if not words:  # the model's own spans take all of it
                    continue
                key = (document, fold_text(words))
                form = forms.setdefault(key, _Form(words, document))
                form.rules[finding.constraint_id] = None
                form.sentences.update(dict.fromkeys(_around(text, finding.span)))
                asked.append((text_index, rule, finding, key))
    _add_sentences(lookup, forms, suspects)
    return _Sorted(kept, asked, forms)


def _taken(
    lookup: Lookup, text_index: int, quoted: Found
) -> dict[bytes, tuple[Span, ...]]:
    """Return what the model takes from a text, now or when it read it before."""
    taken = {
        rule: tuple(finding.span for finding in findings)
        for rule, findings in quoted.get(text_index, {}).items()
    }
    known = lookup.known.get(lookup.own[text_index])
    for row in known.rows if known is not None else ():
        if row.engine == lookup.model:
            for rule, spans in by_rule(row.spans.groups).items():
                whole = (Span(0, len(lookup.texts.all[text_index].text)),)
                taken[rule] = (*taken.get(rule, ()), *(spans or whole))
    return taken


def _is_sure(finding: Finding, text: str, constraint: Constraint) -> bool:
    """Say whether a finding goes whatever a model says of it."""
    if finding.reason in _SURE:
        return True
    stated = parse(constraint).statement
    if not stated:
        return False
    said = set(fold_text(finding.span.of(text)).split())
    return said <= set(fold_text(stated).split())


def _left(text: str, span: Span, taken: Iterable[Span]) -> str:
    """Return the words of a span that are not taken anyway; empty if none are."""
    parts, start = [], span.start
    for other in merge(taken):
        if other.start < span.end and span.start < other.end:
            parts.append(text[start : max(start, other.start)])
            start = max(start, other.end)
    parts.append(text[start : span.end] if start < span.end else "")
    said = [" ".join(part.split()) for part in parts if any(map(str.isalnum, part))]
    return " \N{HORIZONTAL ELLIPSIS} ".join(said)


def _around(text: str, span: Span) -> Iterator[str]:
    """Yield the sentences that a span is in."""
    for sentence in sentences(text):
        if sentence.overlaps(span):
            yield sentence.of(text).strip()


def _add_sentences(
    lookup: Lookup, forms: Mapping[_FormKey, _Form], suspects: set[int]
) -> None:
    """Add to each form all other sentences of its document that hold it."""
    words: dict[bytes, set[str]] = {}
    for document, folded in forms:
        words.setdefault(document, set()).add(folded)
    needles = {document: PhraseMatcher(own) for document, own in words.items()}
    for text_index, document in enumerate(lookup.documents):
        if document not in needles or text_index in suspects:
            continue
        text = lookup.texts.all[text_index].text
        for span in needles[document].find(fold(text)):
            form = forms.get((document, fold_text(span.of(text))))
            if form is not None:
                form.sentences.update(dict.fromkeys(_around(text, span)))


def _freed(lookup: Lookup, sorting: _Sorted) -> Steps[set[tuple[_FormKey, str]]]:
    """Return the forms and the constraints for which the model said no."""
    key_of = {id(form): key for key, form in sorting.forms.items()}
    freed: set[tuple[_FormKey, str]] = set()
    batches = list(_batches(lookup, sorting.forms.values()))
    for wrong in ("", _WRONG):  # asked again once
        asked = [_ConfirmRequest.of(lookup, batch, wrong) for batch in batches]
        outcomes = yield from complete(request.confirmation.prompt for request in asked)
        readings = yield from compute(
            lambda pair: pair[0].read(pair[1]), zip(asked, outcomes, strict=True)
        )
        batches = []
        for reading in readings:
            if isinstance(reading, Failure):
                continue
            for form, names in reading.value.freed:
                freed.update((key_of[id(form)], name) for name in names)
            if reading.value.unanswered:
                batches.append(reading.value.unanswered)
    return freed


@dataclass(frozen=True, slots=True, repr=False)
class _ConfirmAnswers(Confidential):
    """What came of one prompt."""

    freed: Sequence[tuple[_Form, frozenset[str]]] = ()
    unanswered: Sequence[_Form] = ()


@dataclass(frozen=True, slots=True, repr=False)
class _ConfirmRequest(Confidential):
    """A prompt, and the forms that it asks about by the ids of their questions."""

    confirmation: Confirmation
    forms: Mapping[str, _Form]

    @classmethod
    def of(cls, lookup: Lookup, forms: Sequence[_Form], wrong: str) -> Self:
        """Ask about forms of one document."""
        form_of = {
            Marked(form.words, tuple(form.sentences), tuple(form.rules)): form
            for form in forms
        }
        document = forms[0].document
        names = {
            name
            for own, applied in zip(lookup.documents, lookup.texts.applied, strict=True)
            if own == document
            for name in applied
        }
        rules = [rule for rule in lookup.texts.constraints if rule.id in names]
        asked_for = {name for form in forms for name in form.rules}
        confirmation = confirm_prompt(
            list(dict.fromkeys(said for form in forms for said in form.sentences)),
            list(form_of),
            rules,
            lookup.setup.key,
            types={
                type_
                for rule in rules
                if rule.id in asked_for
                for type_ in parse(rule).types
            },
            wrong=wrong,
        )
        by_id = {name: form_of[item] for name, item in confirmation.marked.items()}
        return cls(confirmation, by_id)

    def read(self, outcome: Outcome[Labelled]) -> _ConfirmAnswers:
        """Read the reply; one that fails a control question is not believed."""
        if isinstance(outcome, Failure):
            return _ConfirmAnswers()
        asked = self.confirmation
        answers = read_answers(outcome.value.text, asked.questions)
        controls = {name: answers.get(name) for name in asked.controls}
        if None in controls.values():
            return _ConfirmAnswers(unanswered=tuple(self.forms.values()))
        if any(
            bool(controls[name]) is has_to_go
            for name, has_to_go in asked.controls.items()
        ):
            return _ConfirmAnswers()
        pairs = [(form, answers.get(name)) for name, form in self.forms.items()]
        return _ConfirmAnswers(
            [
                (form, frozenset(map(asked.constraints.__getitem__, aliases)))
                for form, aliases in pairs
                if aliases
            ],
            [form for form, aliases in pairs if aliases is None],
        )


def _batches(lookup: Lookup, forms: Iterable[_Form]) -> Iterator[Sequence[_Form]]:
    """Pack forms into prompts; one whose sentences fit into none is not asked about."""
    limit = lookup.setup.policy.disclosure.token_budget * CHARACTERS_PER_TOKEN
    by_document: dict[bytes, list[_Form]] = {}
    for form in forms:
        by_document.setdefault(form.document, []).append(form)
    for own in by_document.values():
        packed: list[_Form] = []
        shown: set[str] = set()
        for form in own:
            if sum(map(len, form.sentences)) > limit:
                continue
            together = shown.union(form.sentences)
            is_full = len(packed) == _MOST_QUESTIONS
            if packed and (is_full or sum(map(len, together)) > limit):
                yield packed
                packed, together = [], set(form.sentences)
            packed.append(form)
            shown = together
        if packed:
            yield packed
