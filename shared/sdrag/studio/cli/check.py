"""`sdrag check`: say what policies do, and whether their examples hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from sdrag.errors import PolicyError, UsageError
from sdrag.policy import Policy, check_not_empty
from sdrag.studio.cli.common import (
    LOCAL,
    JsonAlone,
    Llm,
    ModelConcurrency,
    ModelTimeout,
    llm_of,
    read_input,
    show,
)

if TYPE_CHECKING:
    from sdrag.disclosure.constraint_parser import ParsedConstraint
    from sdrag.framework import Model
    from sdrag.studio.evaluation.examples import ExampleFailure, ExampleResults
    from sdrag.studio.evaluation.teaching import Change, Taught
    from sdrag.vocabulary import Passage

_WRONG = {
    "hides": "must be hidden, and is shown.",
    "kept": "must be hidden, and is shown since a keep covers it.",
    "keeps": "must stay, and is hidden.",
}
_NETWORKS = (
    "Trained networks decide what tells of a subject, sentence by sentence. They miss"
    " some and take some that they should not: add examples from your own documents."
)
_FEW, _QUOTED = 3, 100
"""Sentences that are quoted, and characters of each."""
_NEXT = """
To say more about a sentence, write it like this:
  - text: Remove names of witnesses
    keep: [Ward 7]                # stays, although the sentence hides its like
    unless: {{roles: [clerk]}}      # is not hidden from people with this role
    sensitivity: high             # hides more; low hides less
    examples:                     # teach, and are tried each time you check
      - {{text: Mr Hale is in., hides: [Hale], keeps: [is in]}}
On your documents: sdrag preview {path} DOCUMENTS --html preview.html
  as a clerk reads them: add --as clerk
In each build: sdrag check {path} --json (prints no sentence; ends with 1 if an example
fails or a sentence is refused, with 2 if the file is no policy)"""


def check(
    policies: Annotated[
        list[Path] | None, typer.Argument(help="Policy files.", show_default=False)
    ] = None,
    llm: Llm = LOCAL,
    model_timeout: ModelTimeout = None,
    model_concurrency: ModelConcurrency = None,
    schema: Annotated[
        Literal["policy", "audit"] | None,
        typer.Option(help="Print a JSON schema instead, for editors and validators."),
    ] = None,
    documents: Annotated[
        Path | None,
        typer.Option(help="Also say what examples change in these files."),
    ] = None,
    recognisers: Annotated[
        bool,
        typer.Option(
            "--recognisers",
            help="List what the local engine looks for without a model instead.",
        ),
    ] = False,
    brief: Annotated[
        bool, typer.Option("--brief", help="Print one line for each sentence.")
    ] = False,
    as_json: JsonAlone = False,
) -> None:
    """
    Say what each sentence of a policy hides, try it, and run the examples.

    Quotes the policy, which may be confidential; with --json ids and types alone. Ends
    with 1 if an example fails or a sentence would be refused.

    Example: sdrag check policy.yaml
    """
    if schema is not None:
        _print_schema(schema)
        return
    if recognisers:
        _print_recognisers(policies or (), as_json=as_json)
        return
    if not policies:
        raise UsageError("There is no policy file to check.", hint="Name one.")
    model = llm_of(llm, timeout=model_timeout, concurrency=model_concurrency)
    read = read_input([documents], rows=False).documents if documents else []
    tried: list[_Checked] = []
    errors: list[dict[str, Any]] = []
    for path in policies:
        try:
            tried.append(_try(path, model, read))
        except PolicyError as error:
            errors += _problems(path, error)
            continue
        if not as_json:
            (_print_brief if brief else _print)(tried[-1])
    result, is_wrong = _sum_up(tried)
    status = 2 if errors else int(is_wrong)
    if as_json:
        typer.echo(json.dumps({"ok": not status, "errors": errors, **result}))
    else:
        show({"model_failures": result["model_failures"]}, as_json=False)
        if not (errors or brief):
            typer.echo(_NEXT.format(path=policies[0]))
    raise typer.Exit(status)


def _sum_up(tried: Sequence[_Checked]) -> tuple[dict[str, Any], bool]:
    """Return what policies come to, and whether anything in them is wrong."""
    rows = [[*_rows(checked)] for checked in tried]
    guards = dict.fromkeys(name for checked in tried for name in checked.policy.guards)
    results = [checked.results for checked in tried]
    examples: dict[str, Any] = {
        "passed": sum(each.passed for each in results),
        "failed": sum(each.failed for each in results),
        "failures": [each for checked in tried for each in _failures(checked)],
    }
    causes = sum((Counter(each.model_failures) for each in results), Counter[str]())
    refused = any(
        row["status"] == "needs_model"
        for checked, listed in zip(tried, rows, strict=True)
        if not checked.has_model and checked.policy.when_not_understood == "refuse"
        for row in listed
    )
    result = {
        "constraints": [*chain(*rows)],
        "guards": [*guards],
        "examples": examples,
        "model_failures": causes,
    }
    return result, bool(examples["failed"] or refused or causes)


class _Checked(NamedTuple):
    """A policy, how its sentences are understood, and what its examples do."""

    path: Path
    policy: Policy
    constraints: Sequence[ParsedConstraint]
    results: ExampleResults
    taught: Mapping[str, Taught]
    changes: Mapping[str, Change]
    has_model: bool


def _try(path: Path, model: Model | None, documents: Sequence[Passage]) -> _Checked:
    """Read a policy, and try it; the documents show what its examples change."""
    from sdrag.disclosure.constraint_parser import parse
    from sdrag.studio.evaluation.examples import run_examples
    from sdrag.studio.evaluation.teaching import compare_documents, measure_teaching

    policy = Policy.read(path)
    check_not_empty(policy)
    parsed = [parse(rule) for rule in policy.rules]
    taught = {each.constraint_id: each for each in measure_teaching(policy)}
    changes = compare_documents(policy, documents) if documents else {}
    results = run_examples(policy, model)
    return _Checked(path, policy, parsed, results, taught, changes, model is not None)


def _print_schema(name: Literal["policy", "audit"]) -> None:
    from sdrag.policy import policy_schema
    from sdrag.studio.cli.audit import event_schema

    schema = policy_schema() if name == "policy" else event_schema()
    typer.echo(json.dumps(schema, indent=2))


def _print_recognisers(policies: Iterable[Path], *, as_json: bool) -> None:
    """Print the table of recognisers, and which of them the policies switch off."""
    from sdrag.detectors.local.recognisers import RECOGNISERS

    read = (Policy.read(path).disclosure.recognisers_off for path in policies)
    off = {name for names in read for name in names}
    rows: list[dict[str, Any]] = [
        {
            "name": each.name,
            "types": sorted(each.types),
            "cues": sorted(each.cues),
            "on": each.name not in off,
        }
        for each in RECOGNISERS
    ]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    for row in rows:
        typer.echo(f"{row['name']}{'' if row['on'] else ' (off)'}")
        for key in ("types", "cues"):
            if words := ", ".join(row[key]):
                lead = f"  {key}: "
                typer.echo(fill(f"{lead}{words}", 88, subsequent_indent=" " * 9))


def _problems(path: Path, error: PolicyError) -> Iterator[dict[str, Any]]:
    """Print and yield all that keeps a file from being a policy."""
    for problem in error.problems:
        typer.echo(f"sdrag: {path}: {problem}", err=True)
        place = {"file": str(path), "line": problem.line, "key": problem.key}
        yield {**place, "message": str(problem)}


def _rows(checked: _Checked) -> Iterator[dict[str, Any]]:
    """Yield how each constraint is understood and taught, in no word of it."""
    from sdrag.disclosure.enforceable import find_less, why_not

    for parsed in checked.constraints:
        name, reason = parsed.constraint.id, why_not(parsed, checked.policy)
        yield {
            "file": str(checked.path),
            "id": name,
            "kind": parsed.kind,
            "types": sorted(parsed.types),
            "people": parsed.people,
            "status": "needs_model" if reason else "understood",
            "recognisers_off": find_less(parsed, checked.policy),
            "reason": reason,
            **_teaching(checked.taught.get(name), checked.changes.get(name)),
        }


def _teaching(taught: Taught | None, change: Change | None) -> dict[str, Any]:
    """Return what examples teach a constraint, in no word of them."""
    if taught is None:
        return {}
    figures: dict[str, Any] = {
        "shown": taught.shown,
        "found_by_others": taught.found,
        "odd": [{"example": o.example, "kind": o.kind} for o in taught.odd],
    }
    if change is not None:
        figures |= {"opened": len(change.opened), "closed": len(change.closed)}
    return {"taught": figures}


def _describe_teaching(taught: Taught, changes: Mapping[str, Change]) -> Iterator[str]:
    """Yield what examples teach, which are odd, and what they change in documents."""
    if taught.found is not None:
        yield (
            f"its examples teach: {taught.found} of {taught.shown} are found by what"
            " the others show"
        )
    for odd in taught.odd:
        what = "sentences of other kinds" if odd.kind == "opens" else "other examples"
        yield f"EXAMPLE {odd.example} IS ODD: it {odd.kind} {what} ({odd.count})"
    change = changes.get(taught.constraint_id)
    for kind, texts in (
        ("open", change.opened if change else ()),
        ("close", change.closed if change else ()),
    ):
        if texts:
            quoted = "”, “".join(text[:_QUOTED] for text in texts[:_FEW])
            yield f"sentences that its examples {kind}: {len(texts)}, “{quoted}”"


def _failures(checked: _Checked) -> Iterator[dict[str, Any]]:
    """Yield which examples fail, in no word of them."""
    for failure in checked.results.failures:
        yield {
            "file": str(checked.path),
            "constraint": failure.constraint_id,
            "example": failure.example,
            "kind": failure.kind,
            "number": failure.quoted,
        }


def _print(checked: _Checked) -> None:
    """Print what a policy does, sentence by sentence."""
    from sdrag.studio.authoring.trial import opened_by
    from sdrag.studio.authoring.understood_as import keep_in_words, settings_of

    policy, results = checked.policy, checked.results
    typer.echo(f"{checked.path}: a valid policy")
    for number, parsed in enumerate(checked.constraints, start=1):
        rule = parsed.constraint
        typer.echo(f"\n{number}. “{rule.text}” ({rule.id})")
        lines = [*_describe(parsed, policy, has_model=checked.has_model)]
        if rule.id in checked.taught:
            lines += _describe_teaching(checked.taught[rule.id], checked.changes)
        for line in lines:
            typer.echo(fill(line, 88, initial_indent="   ", subsequent_indent="     "))
        for failure in results.failures:
            if failure.constraint_id == rule.id:
                _print_failure(policy, failure)
    typer.echo("")
    if any(parsed.kind in {"meaning", "statement"} for parsed in checked.constraints):
        typer.echo(fill(_NETWORKS, 88))
    for entry in policy.keep:
        keep, alone = entry.keep(), policy.model_copy(update={"keep": (entry,)})
        ids = ", ".join(opened_by(keep, alone)) or "nothing that was tried"
        opens = "may open" if keep.pattern else "opens"
        typer.echo(f"keep, under every sentence: {keep_in_words(keep)}; {opens} {ids}")
    for line in settings_of(policy):
        typer.echo(line)
    typer.echo(f"examples: {results.passed} passed, {results.failed} failed")


def _print_brief(checked: _Checked) -> None:
    """Print a line for each sentence, and nothing that was tried."""
    from sdrag.studio.authoring.understood_as import describe

    results = checked.results
    failing = {failure.constraint_id for failure in results.failures}
    typer.echo(f"{checked.path}: a valid policy")
    for parsed in checked.constraints:
        effects, _, warnings = describe(
            parsed, checked.policy, has_model=checked.has_model
        )
        said = f"{'warns' if warnings else 'ok'}: {'; '.join(effects)}"
        if not effects:
            (said, *_) = warnings
        elif parsed.constraint.id in failing:
            said = f"EXAMPLES FAIL: {'; '.join(effects)}"
        typer.echo(f"{parsed.constraint.id}: {said}")
    typer.echo(f"examples: {results.passed} passed, {results.failed} failed")


def _describe(
    parsed: ParsedConstraint, policy: Policy, *, has_model: bool
) -> Iterator[str]:
    """Yield what a constraint does, or why it is refused."""
    from sdrag.studio.authoring.trial import try_constraint
    from sdrag.studio.authoring.understood_as import describe

    effects, limits, warnings = describe(parsed, policy, has_model=has_model)
    yield from (*effects, *warnings, *limits)
    if not effects or parsed.kind == "everything":
        return
    trial = try_constraint(parsed, policy)
    for words, sentence in trial.hides:
        yield f"for example “{'”, “'.join(words)}” in “{sentence}”"
    for words, sentence in trial.beyond[:1]:
        yield (
            "wider than its words: the engine does not tell its like apart, and hides"
            f" “{'”, “'.join(words)}” in “{sentence}” too"
        )
    if trial.few:
        count = f"only {len(trial.hides)}" if trial.hides else "none"
        yield (
            f"narrower than its words: {count} of {trial.tried} sentences that were"
            " tried; say it in other words, or set `sensitivity: high`"
        )
    elif not trial.hides:
        yield "no sentence that it should hide is known, so write `examples`"
    but = "but not" if trial.hides else "does not hide"
    yield f"{but} “{trial.stays}”" if trial.stays else "none that was tried stays"


def _print_failure(policy: Policy, failure: ExampleFailure) -> None:
    """Print an example that does not hold: its text, what is expected, and what is."""
    entry = policy.entries[failure.constraint_id]
    example = entry.examples[failure.example - 1]
    typer.echo(f"   EXAMPLE {failure.example} FAILS: {example.text}")
    if failure.kind == "refused":
        typer.echo("     It is not run, since the sentence is not understood.")
        return
    listed = example.keeps if failure.kind == "keeps" else example.hides
    typer.echo(f"     “{listed[failure.quoted - 1]}” {_WRONG[failure.kind]}")
    typer.echo(f"     got: {failure.shown or 'nothing'}")
