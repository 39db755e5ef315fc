"""`sdrag suggest`: propose a policy for documents, or change one by its words."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdrag.effects.prompts import Message, Prompt, sensitive
from sdrag.effects.steps import Failure, Steps, complete
from sdrag.errors import UsageError
from sdrag.policy import Policy
from sdrag.policy.reading import text_of
from sdrag.studio.cli.common import (
    LOCAL,
    Llm,
    ModelConcurrency,
    ModelTimeout,
    Rows,
    llm_of,
    read_input,
    write_private,
)
from sdrag.vocabulary import Constraint, Passage

if TYPE_CHECKING:
    from sdrag.disclosure.constraint_parser import ParsedConstraint
    from sdrag.framework import Model

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
_DIGIT, _UPPER, _LETTER = map(re.compile, (r"\d", r"[A-Z]", r"[^\W\d_Xx]"))
_LIST_MARK = re.compile(r"^[-*\d.)\s\"']+|[\s\"']+$")
_HEAD = """\
# Proposed for {documents} documents. Nothing of them is quoted: x is a letter, and an
# example is a sentence of this tool, not of theirs.
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
        typer.Option(help="Change this policy; needs --must-stay or --must-go."),
    ] = None,
    must_stay: Annotated[
        list[str] | None,
        typer.Option(help="Words that must stay readable; may be repeated."),
    ] = None,
    must_go: Annotated[
        list[str] | None, typer.Option(help="Words that must go; may be repeated.")
    ] = None,
    teach: Annotated[
        bool,
        typer.Option(
            "--teach", help="Ask about ten sentences; the answers become examples."
        ),
    ] = False,
    write: Annotated[
        bool,
        typer.Option(help="Write the changed policy to its file, not to the screen."),
    ] = False,
    rows: Rows = False,
    llm: Llm = LOCAL,
    model_timeout: ModelTimeout = None,
    model_concurrency: ModelConcurrency = None,
) -> None:
    """
    Propose a policy for documents, or change one so that words stay or go.

    Reads a sample, and prints a policy with comments. A model is told the goal and the
    kinds that were found, and nothing of the documents. With --policy prints that
    policy, with what makes words stay or go. Each change is tried, and undone if it
    does not do that.

    Example: sdrag suggest documents --goal "nobody may know who the patients are"

    With --teach asks, in a terminal, about the sentences of which it is least certain,
    and writes examples. Elsewhere it prints them, ready to be pasted.

    Example: sdrag suggest documents --policy policy.yaml --must-stay "Ward 7"
    """
    if policy is not None and not (must_stay or must_go or teach):
        raise UsageError(
            "--policy needs --must-stay, --must-go or --teach.", hint="Name words."
        )
    for option, is_given in (("--teach", teach), ("--write", write)):
        if is_given and policy is None:
            raise UsageError(f"{option} needs --policy.", hint="Name the policy.")
    if both := {*(must_stay or ())} & {*(must_go or ())}:
        raise UsageError(f"{len(both)} of the words must both stay and go.")
    model = llm_of(llm, timeout=model_timeout, concurrency=model_concurrency)
    documents = list(_sample(read_input(paths, rows=rows).documents))
    text, causes = (
        _propose(documents, goal, model) if policy is None else (text_of(policy), {})
    )
    text = _change(text, documents, must_stay or (), must_go or ())
    if teach:
        text = _teach(text, documents)
    if write and policy is not None:
        write_private(policy.resolve(), text, policy.stat().st_mode & 0o777)
    else:
        typer.echo(text.removeprefix("\ufeff"), nl=False)
    for cause in causes:  # beside the policy, which may go into a file
        typer.echo(f"sdrag: model_failures: {cause}", err=True)
    raise typer.Exit(1 if causes else 0)


def _change(
    text: str,
    documents: Sequence[Passage],
    must_stay: Sequence[str],
    must_go: Sequence[str],
) -> str:
    """Return the policy changed so that words stay or go; print how, as comments."""
    from sdrag.studio.authoring.edits import let_stay, make_go

    for label, words, change in (
        ("must stay", must_stay, let_stay),
        ("must go", must_go, make_go),
    ):
        text, notes = change(text, words, documents)
        for each, note in zip(words, notes, strict=True):
            line = f"# {label}, “{each}”: {note}"
            typer.echo(" ".join(line.split()))  # a comment of one line
    return text


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def _teach(text: str, documents: Sequence[Passage]) -> str:
    """Ask about sentences, and return the policy with what was answered."""
    from sdrag.studio.authoring.policy_text import append, read_policy
    from sdrag.studio.authoring.questions import find_questions

    policy = read_policy(text)
    questions = find_questions(policy, documents)
    if not questions:
        typer.echo("# No sentence of the documents would teach this policy anything.")
    for question in questions:
        rule = policy.rules[question.number]
        if not _is_terminal():
            typer.echo(f"# “{rule.text}” ({rule.id}): one of the two is an example")
            for each in (question.answer(goes=True), question.answer(goes=False)):
                typer.echo(f"#   - {json.dumps(each, ensure_ascii=False)}")
            continue
        typer.echo(f"\n{question.text}\n  goes: {'; '.join(question.hides)}", err=True)
        asked = f"“{rule.text}”: must it go? [y]es, [n]o, [s]kip, [q]uit"
        answer = typer.prompt(asked, default="s", err=True)[:1].lower()
        if answer == "q":
            break
        if answer in "yn":
            example = question.answer(goes=answer == "y")
            text = append(text, question.number, "examples", example)
    return text


def _sample(documents: Iterable[Passage]) -> Iterator[Passage]:
    """Yield documents up to the limit, the last of them cut."""
    left = _SAMPLE
    for document in documents:
        if left > 0:
            yield Passage(document.id, document.text[:left])
            left -= len(document.text)


def _propose(
    documents: Sequence[Passage], goal: str, model: Model | None
) -> tuple[str, Mapping[str, int]]:
    """Return a policy for documents, and how often a model failed, by cause."""
    from sdrag.pipeline import Engine
    from sdrag.privacy.audit import count_failures

    proposed = {**_kinds(documents), **_subjects(documents)}
    causes: Mapping[str, int] = {}
    if model is not None and goal:
        engine = Engine(Policy(), llm=model, stage="summarize")
        sentences, event = engine.run(_ask(goal, proposed))
        unread = () if sentences or event.model_failures else ("no-verdict",)
        causes = count_failures([event], unread)
        proposed = dict.fromkeys(sentences, _FOR_GOAL) | proposed
    is_asked = model is not None and not causes
    lines = _proposal(proposed, len(documents), goal, is_asked=is_asked)
    return "".join(f"{line}\n" for line in lines), causes


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
    from sdrag.studio.evaluation.examples import run_examples

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
    if goal and not is_asked:
        yield from _misunderstood(goal)
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
    from sdrag.studio.authoring.understood_as import kind_of

    count: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for document in documents:
        for mention in mentions(document.text):
            if kind := kind_of(mention):
                count[kind] += 1
                shown.setdefault(kind, _mask(mention.span.of(document.text)))
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


def _parts_of(goal: str) -> list[ParsedConstraint]:
    """Return each thing that a goal speaks of, parsed."""
    parts = (part.strip() for part in re.split(r"[,;.]|\b(?:and|or)\b", goal))
    return [_parse(" ".join(part.split())) for part in parts if part]


def _asked_by(goal: str) -> frozenset[str]:
    """Return the types and subjects that a goal speaks of."""
    return frozenset().union(*map(_meant, _parts_of(goal)))


def _meant(part: ParsedConstraint) -> frozenset[str]:
    topics = {topic.name for topic in part.topics if topic.name}
    return part.types | part.everywhere | topics


def _misunderstood(goal: str) -> Iterator[str]:
    """Yield which words of a goal choose nothing."""
    parts = _parts_of(goal)
    unknown = [each.constraint.text for each in parts if not _meant(each)]
    if unknown:
        yield (
            f"# Not understood of the goal: {_quote(unknown)}. Say it in other words,"
            " or write a sentence."
        )
    if unheard := [word for each in parts if _meant(each) for word in each.unheard]:
        yield f"# Words of the goal that choose nothing: {_quote(unheard)}."


def _quote(texts: Iterable[str]) -> str:
    return ", ".join(f"“{text}”" for text in dict.fromkeys(texts))


def _is_wanted(parsed: ParsedConstraint, wanted: frozenset[str]) -> bool:
    """Say whether a goal asks for it; without one, what is secret by itself is."""
    asked = parsed.worded | {topic.name for topic in parsed.topics if topic.name}
    if wanted:
        return not asked.isdisjoint(wanted)
    subject = parsed.constraint.text.startswith(_ABOUT)
    return not subject and parsed.worded.isdisjoint(_NEVER_ALONE)


def _example(parsed: ParsedConstraint) -> dict[str, Any]:
    """Return an example that holds, of its own kind if that is known; none else."""
    from sdrag.studio.authoring.trial import try_constraint
    from sdrag.studio.authoring.understood_as import kinds_of_mentions

    sentence = parsed.constraint.text
    trial = try_constraint(parsed, Policy.read([sentence]))
    listed = [k.phrases for k in kinds_of_mentions() if sentence == f"Hide {k.name}"]
    texts = {re.sub("[{}]", "", phrase) for phrases in listed for phrase in phrases}
    fitting = [(t, w) for w, t in trial.hides if not listed or t in texts]
    return {"examples": [{"text": t, "hides": list(w)} for t, w in fitting[:1]]}
