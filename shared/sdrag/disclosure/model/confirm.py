"""
Confirmation: with a model, what the local engine alone finds is a question to it.

What the model itself quotes goes, and needs no question, for whichever constraint it
quotes it; neither does what has a form of its own, what a constraint names or states
itself, and what is in a text that speaks to the model. All else is asked, form by form,
with every sentence of its document that holds it, one document a prompt, in one round
trip. Only an explicit no frees a form, for that constraint and in that document; where
a reply cannot be used, fewer questions are asked once more, and what has no answer then
is withheld.

A span is as wide as the local engine is careful, and may hold what another constraint
protects. The model is asked about the rest of it. What it quoted for the other stays
withheld for both: not everybody whom the one binds is bound by the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.lookup import ENCODED, Found, KnownFindings
from sdrag.disclosure.model.confirm_prompt import Candidate, Confirmation
from sdrag.effects.steps import Steps, complete
from sdrag.effects.tokens import CHARACTERS_PER_TOKEN
from sdrag.text.folding import fold, fold_text
from sdrag.text.phrase_matcher import PhraseMatcher
from sdrag.text.sentences import sentences
from sdrag.text.spans import merge, subtract
from sdrag.vocabulary import Finding, Span

_MAX_QUESTIONS, _FEW = 40, 10
"""Questions of one prompt, without the controls; of one that asks again."""
_TOKENS_PER_QUESTION = 100
"""With its answer: a model that takes in little is asked less at once."""
_WRONG = "it was not JSON of that form, or left out a question"
_GAP = " \N{HORIZONTAL ELLIPSIS} "
_SURE = frozenset({"checked", "named", "pattern", ENCODED})
"""Check digits and the author's own words outweigh a reply; a model can't be shown what
is encoded as whoever decodes it reads it."""


def confirm(known: KnownFindings, located: Found, quoted: Found) -> Steps[Found]:
    """Return what is withheld of what the local engine located and no model quoted."""
    if known.setup.policy.disclosure.with_model == "union" or not located:
        return located
    suspects = yield from _find_suspects(known, located)
    candidates: dict[tuple[bytes, str], Candidate] = {}
    judged: list[tuple[int, Finding, Candidate | None, list[Span]]] = []
    for index, findings in located.items():
        text, quotes = known.texts.all[index].text, _find_quotes(known, index, quoted)
        by_any = [span for spans in quotes.values() for span in spans]
        for finding in findings:
            if index in suspects or _is_sure(known, index, finding):
                judged.append((index, finding, None, []))
                continue
            by_rule_itself = quotes.get(known.rules[finding.constraint_id], ())
            open_ = _subtract(text, finding.span, by_any)
            rest = _subtract(text, finding.span, [*by_rule_itself, *open_])
            candidate = None
            if open_:
                candidate = _add(known, index, finding, open_, candidates)
            if open_ or rest:  # else the model quotes all of it
                judged.append((index, finding, candidate, rest))
    _add_sentences(known, candidates, suspects)
    yield from _ask(known, list(candidates.values()))
    kept: Found = {}
    for index, finding, candidate, rest in judged:
        left = [finding]
        if candidate is not None and finding.constraint_id in candidate.freed:
            left = [replace(finding, span=span) for span in rest]
        if left:
            kept.setdefault(index, []).extend(left)
    return kept


def _find_suspects(known: KnownFindings, located: Found) -> Steps[set[int]]:
    """
    Return the indices of texts that speak to the model, in documents asked about.

    They are kept as the local engine reads them, and shown to no question: what says
    that it is harmless could free itself, and the others of its prompt.
    """
    documents = {known.documents[index] for index in located}
    indices = [i for i, document in enumerate(known.documents) if document in documents]
    flags = yield from known.setup.suspects([known.texts.all[i] for i in indices])
    return {i for i, is_suspect in zip(indices, flags, strict=True) if is_suspect}


def _find_quotes(
    known: KnownFindings, index: int, quoted: Found
) -> dict[bytes, tuple[Span, ...]]:
    """Return what the model quotes of a text, now or when it read it before."""
    quotes: dict[bytes, tuple[Span, ...]] = {}
    for finding in quoted.get(index, ()):
        rule = known.rules[finding.constraint_id]
        quotes[rule] = (*quotes.get(rule, ()), finding.span)
    applied = {known.rules[name] for name in known.texts.applied[index]}
    for row in known.rows.get(known.keys[index], ()):
        if row.engine == known.setup.model_key:
            for rule in row.spans.keys() & applied:
                quotes[rule] = (*quotes.get(rule, ()), *row.spans[rule])
    return quotes


def _is_sure(known: KnownFindings, index: int, finding: Finding) -> bool:
    """Say whether a finding goes whatever a model says of it."""
    if finding.reason in _SURE:
        return True
    rules = known.texts.constraints
    stated = next(parse(r).statement for r in rules if r.id == finding.constraint_id)
    words = set(fold_text(finding.span.of(known.texts.all[index].text)).split())
    return bool(stated) and words <= set(fold_text(stated).split())


def _add(
    known: KnownFindings,
    index: int,
    finding: Finding,
    parts: Iterable[Span],
    candidates: dict[tuple[bytes, str], Candidate],
) -> Candidate:
    text, document = known.texts.all[index].text, known.documents[index]
    words = _GAP.join(" ".join(part.of(text).split()) for part in parts)
    key = document, fold_text(words)
    candidate = candidates.setdefault(key, Candidate(words, document))
    candidate.constraints[finding.constraint_id] = None
    candidate.sentences.update(dict.fromkeys(_find_sentences(text, finding.span)))
    return candidate


def _subtract(text: str, span: Span, taken: Iterable[Span]) -> list[Span]:
    """Return the parts of a span that hold words and are not taken."""
    parts = subtract(span, merge(taken))
    return [part for part in parts if any(map(str.isalnum, part.of(text)))]


def _find_sentences(text: str, span: Span) -> Iterator[str]:
    for sentence in sentences(text):
        if sentence.overlaps(span):
            yield sentence.of(text).strip()


def _add_sentences(
    known: KnownFindings,
    candidates: Mapping[tuple[bytes, str], Candidate],
    suspects: set[int],
) -> None:
    """Add to each candidate all other sentences of its document that hold it."""
    words: dict[bytes, set[str]] = {}
    for document, folded in candidates:
        words.setdefault(document, set()).add(folded)
    matchers = {document: PhraseMatcher(each) for document, each in words.items()}
    for index, document in enumerate(known.documents):
        if document not in matchers or index in suspects:
            continue
        text = known.texts.all[index].text
        for span in matchers[document].find(fold(text)):
            candidate = candidates.get((document, fold_text(span.of(text))))
            if candidate is not None:
                candidate.sentences.update(dict.fromkeys(_find_sentences(text, span)))


def _ask(known: KnownFindings, candidates: Sequence[Candidate]) -> Steps[None]:
    """Ask about candidates, and again about those that a reply left unanswered."""
    for wrong, size in (("", _MAX_QUESTIONS), (_WRONG, _FEW)):
        requests = [
            _request(known, batch, wrong) for batch in _pack(known, candidates, size)
        ]
        outcomes = yield from complete(request.prompt for request in requests)
        candidates = [
            candidate
            for request, outcome in zip(requests, outcomes, strict=True)
            for candidate in request.read(outcome)
        ]


def _pack(
    known: KnownFindings, candidates: Iterable[Candidate], size: int
) -> Iterator[list[Candidate]]:
    """Pack candidates of a document; one too long for any prompt is not asked about."""
    tokens = known.setup.policy.disclosure.token_budget
    limit = tokens * CHARACTERS_PER_TOKEN
    size = max(1, min(size, tokens // _TOKENS_PER_QUESTION))
    by_document: dict[bytes, list[Candidate]] = {}
    for candidate in candidates:
        if sum(map(len, candidate.sentences)) <= limit:
            by_document.setdefault(candidate.document, []).append(candidate)
    for listed in by_document.values():
        packed: list[Candidate] = []
        shown: set[str] = set()
        for candidate in listed:
            shown.update(candidate.sentences)
            if packed and (len(packed) == size or sum(map(len, shown)) > limit):
                yield packed
                packed, shown = [], set(candidate.sentences)
            packed.append(candidate)
        yield packed


def _request(
    known: KnownFindings, candidates: Sequence[Candidate], wrong: str
) -> Confirmation:
    """Ask about candidates, under all constraints that hold for their document."""
    texts = zip(known.documents, known.texts.applied, strict=True)
    document = candidates[0].document
    names = {n for key, applied in texts if key == document for n in applied}
    rules = [rule for rule in known.texts.constraints if rule.id in names]
    return Confirmation.of(candidates, rules, known.setup.key, wrong)
