"""`sdrag suggest`: propose a policy for documents, or say what to change in one."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdrag.cli.common import (
    LOCAL,
    Llm,
    ModelConcurrency,
    ModelTimeout,
    Rows,
    llm_of,
    read_input,
)
from sdrag.effects.prompts import Message, Prompt, sensitive
from sdrag.effects.steps import Failure, Steps, complete
from sdrag.errors import UsageError
from sdrag.policy import Policy
from sdrag.policy.document import KeepSection
from sdrag.vocabulary import Constraint, Passage, Span

if TYPE_CHECKING:
    from sdrag.disclosure.constraint_parser import ParsedConstraint

_SAMPLE = 200_000
"""So many characters are read; what is rarer is not proposed."""
_ABOUT = "Hide everything about "
_SEEN = 2
_FOR_GOAL = "for the goal"
_REPLY = 400
"""Tokens that eight rules may take."""
_NEVER_ALONE = frozenset(
    {"DATE", "TIME", "DURATION", "NUMBER", "QUANTITY", "LOCATION", "ORGANIZATION"}
)
"""Types that most texts are unreadable without: only a goal asks for them."""
_MOST_SUBJECTS = 8
_MOST_TEXTS = 20
_DIGIT, _UPPER, _LETTER = map(re.compile, (r"\d", r"[A-Z]", r"[^\W\d_Xx]"))
_LIST_MARK = re.compile(r"^[-*\d.)\s\"']+|[\s\"']+$")
_HEAD = """\
# Proposed for {documents} documents. Nothing of them is quoted: x is a letter.
# Save it: add  > {file}  to the command that printed it.
# Delete what may be shown, take the # away from what must be hidden, then run:
#   sdrag check {file}
#   sdrag preview {file} DOCUMENTS --html preview.html"""
_ASK = """\
Somebody writes rules on what a search over documents must never disclose. Write at
most eight rules for their goal, one a line, each beginning with "Hide". Each names one
kind of thing in plain words, such as "Hide people's names" or "Hide why he left".

Goal: {goal}
Found in the documents: {found}"""


def suggest(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders to read.")],
    goal: Annotated[
        str, typer.Option(help="What must be kept from whom, in your own words.")
    ] = "",
    policy: Annotated[
        Path | None,
        typer.Option(help="Say what to change in this policy, and propose none."),
    ] = None,
    must_stay: Annotated[
        list[str] | None,
        typer.Option(help="Words that must stay readable; may be repeated."),
    ] = None,
    must_go: Annotated[
        list[str] | None, typer.Option(help="Words that must go; may be repeated.")
    ] = None,
    rows: Rows = False,
    llm: Llm = LOCAL,
    model_timeout: ModelTimeout = None,
    model_concurrency: ModelConcurrency = None,
) -> None:
    """
    Propose a policy for documents, or say which sentence of a policy to change.

    Reads a sample. Prints a policy with comments: what was found, how often, in masked
    examples. A model is told the goal and what was found, and nothing of the documents.
    A model that fails is reported by its cause, and the command then ends with 1.

    Example: sdrag suggest documents --goal "nobody may know who the patients are"
    """
    if policy is not None and not (must_stay or must_go):
        raise UsageError("--policy needs --must-stay or --must-go.", hint="Name words.")
    from sdrag.pipeline import Engine
    from sdrag.privacy.audit import count_failures

    model = llm_of(llm, timeout=model_timeout, concurrency=model_concurrency)
    documents = list(_sample(read_input(paths, rows=rows).documents))
    causes: dict[str, int] = {}
    if policy is None:
        proposed = {**_kinds(documents), **_subjects(documents)}
        if model is not None and goal:
            engine = Engine(Policy.read({"constraints": []}), llm=model)
            sentences, event = engine.run(_ask(goal, proposed))
            unread = () if sentences or event.model_failures else ("no-verdict",)
            causes = count_failures([event], unread)
            proposed = dict.fromkeys(sentences, _FOR_GOAL) | proposed
        is_asked = model is not None and not causes
        text = "\n".join(_proposal(proposed, len(documents), goal, is_asked=is_asked))
        typer.echo(text)
        rules = Policy.parse(text)
    else:
        rules = Policy.read(policy)
    for words in must_stay or ():
        for line in _advise(words, documents, rules, stay=True):
            typer.echo(f"# must stay, “{words}”: {line}")
    for words in must_go or ():
        for line in _advise(words, documents, rules, stay=False):
            typer.echo(f"# must go, “{words}”: {line}")
    for cause in causes:  # beside the policy, which may go into a file
        typer.echo(f"sdrag: model_failures: {cause}", err=True)
    raise typer.Exit(1 if causes else 0)


def _sample(documents: Iterable[Passage]) -> Iterator[Passage]:
    """Yield documents up to the limit, the last of them cut."""
    left = _SAMPLE
    for document in documents:
        if left > 0:
            yield Passage(document.id, document.text[:left])
            left -= len(document.text)


def _ask(goal: str, found: Iterable[str]) -> Steps[list[str]]:
    """Ask a model for sentences; none where it fails, or none is understood."""
    text = sensitive(_ASK.format(goal=goal, found="; ".join(found)))
    prompt = Prompt("suggest", (Message("user", text),), max_tokens=_REPLY)
    (outcome,) = yield from complete([prompt])
    reply = "" if isinstance(outcome, Failure) else outcome.value.text
    lines = (_LIST_MARK.sub("", line) for line in reply.splitlines())
    return [line for line in lines if line and _parse(line).status == "understood"]


def _proposal(
    proposed: Mapping[str, str], documents: int, goal: str, *, is_asked: bool
) -> Iterator[str]:
    """Yield the lines of a policy; `is_asked` of a model that answered."""
    from sdrag.evaluation.examples import run_examples

    wanted = _asked_by(goal)
    yield _HEAD.format(documents=documents, file="policy.yaml")
    chosen, others = [], []
    for sentence, note in proposed.items():
        parsed = _parse(sentence)
        if parsed.status != "understood":
            continue
        entry = {"text": sentence, **_example(parsed)}
        is_wanted = note == _FOR_GOAL or _is_wanted(parsed, wanted)
        if is_wanted and not run_examples(Policy.read([entry])).failed:
            chosen.append((note, entry))
        else:
            others.append((note, sentence))
    if goal and not wanted and not is_asked:
        yield "# The goal names no kind that is known: choose from what was found."
    if goal and not chosen:
        yield "# Nothing that the goal names was found: choose from what was."
    yield "constraints:" if chosen else "constraints: []"
    for note, entry in chosen:
        yield f"  # {note}"
        yield f"  - text: {json.dumps(entry.pop('text'), ensure_ascii=False)}"
        for key, value in entry.items():
            yield f"    {key}: {json.dumps(value, ensure_ascii=False)}"
    for note, sentence in others:
        yield f"  # - {json.dumps(sentence, ensure_ascii=False)}  # {note}"
    yield "metadata: {allow: []}  # name the keys that may leave, such as source"


def _parse(sentence: str) -> ParsedConstraint:
    from sdrag.disclosure.constraint_parser import parse

    return parse(Constraint("c1", sentence))


def _kinds(documents: Sequence[Passage]) -> dict[str, str]:
    """Return sentences for the kinds of mentions in documents, frequent ones first."""
    from sdrag.detectors.local import mentions
    from sdrag.explanation.understood_as import kinds_of_mentions

    count: Counter[str] = Counter()
    shown: dict[str, str] = {}
    kinds = {type_: kind for kind in kinds_of_mentions() for type_ in kind.types}
    for document in documents:
        for mention in mentions(document.text):
            if kind := kinds.get(mention.type):
                count[kind.name] += 1
                shown.setdefault(kind.name, _mask(mention.span.of(document.text)))
    return {
        f"Hide {name}": f"{number} found, such as {shown[name]}"
        for name, number in count.most_common()
    }


def _mask(value: str) -> str:
    """Return what a value looks like: letters as x, digits as 9."""
    masked = _LETTER.sub("x", _UPPER.sub("X", _DIGIT.sub("9", value)))
    return " ".join(masked.split())[:40]


def _subjects(documents: Sequence[Passage]) -> dict[str, str]:
    """Return sentences for the subjects that documents have words of."""
    from sdrag.disclosure.constraint_parser.words import concept_rows
    from sdrag.disclosure.local.by_type import find_by_cue

    count: Counter[str] = Counter()
    asked = [_parse(f"{_ABOUT}{name}") for name, _ in concept_rows()]
    named = [p for p in asked if p.topics and p.kind == "meaning" and not p.reason]
    for parsed in named:
        for document in documents:
            count[parsed.constraint.text] += sum(
                1 for _ in find_by_cue(document.text, [parsed])
            )
    return {
        sentence: f"words of it in {number} sentences"
        for sentence, number in count.most_common(_MOST_SUBJECTS)
        if number >= _SEEN
    }


def _asked_by(goal: str) -> frozenset[str]:
    """Return the types and subjects that a goal speaks of."""
    parts = [
        _parse(part) for part in re.split(r"[,;.]| and | or ", goal) if part.strip()
    ]
    types = frozenset().union(*(p.types | p.everywhere for p in parts))
    return types.union(topic.name for p in parts for topic in p.topics if topic.name)


def _is_wanted(parsed: ParsedConstraint, wanted: frozenset[str]) -> bool:
    """Say whether a goal asks for it; without one, what is secret by itself is."""
    asked = parsed.everywhere | {topic.name for topic in parsed.topics if topic.name}
    if wanted:
        return not asked.isdisjoint(wanted)
    subject = parsed.constraint.text.startswith(_ABOUT)
    return not subject and parsed.everywhere.isdisjoint(_NEVER_ALONE)


def _example(parsed: ParsedConstraint) -> dict[str, Any]:
    """Return an example that holds; none where nothing that was tried is hidden."""
    from sdrag.explanation.trial import try_constraint

    trial = try_constraint(parsed, Policy.read([parsed.constraint.text]))
    return {"examples": [{"text": t, "hides": list(w)} for w, t in trial.hides[:1]]}


def _advise(
    words: str, documents: Sequence[Passage], policy: Policy, *, stay: bool
) -> Iterator[str]:
    """Yield what to change so that words stay, or go, where they occur in documents."""
    from sdrag.text.sentences import sentences

    parts = (part.of(d.text) for d in documents for part in sentences(d.text))
    texts = [*dict.fromkeys(part for part in parts if words in part)] or [words]
    texts = texts[:_MOST_TEXTS]
    names = {rule.id: f"“{rule.text}” ({rule.id})" for rule in policy.rules}
    over = _over(words, texts, policy)
    hidden = dict.fromkeys(name for by, _ in over for name in by)
    left = dict.fromkeys(name for _, nearly in over for name in nearly)
    if not stay and all(by for by, _ in over):
        yield f"goes already, by {', '.join(map(names.__getitem__, hidden))}"
    elif not stay and left:
        for name in left:
            yield f"write `sensitivity: high` under {names[name]}, or remove its keep"
    elif not stay:
        yield f"no sentence hides it; add one:  - Do not mention {json.dumps(words)}"
    elif not hidden:
        yield "stays already"
    else:
        kept = [
            entry.model_copy(update={"keep": (*entry.keep, KeepSection(words=words))})
            if entry.id in hidden
            else entry
            for entry in policy.constraints
        ]
        tightened = policy.model_copy(update={"constraints": tuple(kept)})
        closed = {n for by, _ in _over(words, texts, tightened) for n in by}
        for name in hidden:
            if name in closed:
                yield f"{names[name]} hides it, and no keep opens it: change its words"
            else:
                keep = json.dumps(words, ensure_ascii=False)
                yield f"{names[name]} hides it; write under it:  keep: [{keep}]"


def _over(
    words: str, texts: Sequence[str], policy: Policy
) -> list[tuple[list[str], list[str]]]:
    """Return, for each text, which constraints hide the words and which nearly do."""
    from sdrag.explanation import Explainer

    passages = [Passage(str(number), text) for number, text in enumerate(texts)]
    results = []
    for explanation in Explainer(policy).explain(passages):
        start = explanation.text.find(words)
        at = Span(start, start + len(words))
        hidden, left = (
            [each.constraint_id for each in spans if each.span.overlaps(at)]
            for spans in (explanation.spans, explanation.left)
        )
        results.append((hidden, left))
    return results
