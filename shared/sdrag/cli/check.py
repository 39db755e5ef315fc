"""`sdrag check`: say what policies do, and whether their examples hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sdrag.cli.common import AsJson, complete_with
from sdrag.errors import PolicyError, UsageError
from sdrag.policy import Policy

if TYPE_CHECKING:
    from sdrag.disclosure.constraint_parser import ParsedConstraint
    from sdrag.effects.prompts import Prompt
    from sdrag.evaluation.examples import ExampleFailure

__all__ = ["check"]

_UNTRUE = {
    "hides": "number {quoted} of its hides is shown",
    "keeps": "number {quoted} of its keeps is withheld",
    "refused": "not run, since the constraint is not understood",
}
_TO_DO = (
    "Constraints are refused without a model. Reword them, pass a model (`llm=`), or "
    "set `when_not_understood: withhold`."
)


def check(
    policies: Annotated[
        list[Path] | None, typer.Argument(help="Policy files.", show_default=False)
    ] = None,
    llm: Annotated[
        str, typer.Option(help="local, or langchain:PROVIDER:MODEL.")
    ] = "local",
    schema: Annotated[
        Literal["policy", "audit"] | None,
        typer.Option(help="Print a JSON schema instead, for editors and validators."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """
    Check policy files: how each constraint is understood, and its examples.

    The words of constraints and examples are confidential and are not printed. Ends
    with 1 where an example fails or a constraint would be refused, with 2 where a file
    is wrong.
    """
    if schema is not None:
        _show_schema(schema)
        return
    if not policies:
        raise UsageError("There is no policy file to check.", hint="Name one.")
    complete = complete_with(llm, "--llm")
    found = _Found()
    for path in policies:
        try:
            policy = Policy.read(path)
        except PolicyError as error:
            found.wrong(path, error)
            continue
        typer.echo(f"{path}: a valid policy")
        for line in found.lines(path, policy, complete):
            typer.echo(f"  {line}")
    if found.refused:
        typer.echo(_TO_DO)
    if as_json:
        typer.echo(json.dumps(found.result()))
    raise typer.Exit(found.status())


def _show_schema(name: Literal["policy", "audit"]) -> None:
    from sdrag.policy import policy_schema
    from sdrag.privacy.audit_log import event_schema

    made = policy_schema() if name == "policy" else event_schema()
    typer.echo(json.dumps(made, indent=2))


class _Found:
    """What was found in all the files."""

    def __init__(self) -> None:
        self.constraints: list[dict[str, Any]] = []
        self.guards: dict[str, None] = {}
        self.errors: list[dict[str, Any]] = []
        self.passed = self.failed = self.refused = 0

    def wrong(self, path: Path, error: PolicyError) -> None:
        """Note all that keeps a file from being a policy, one line each."""
        for problem in error.problems:
            self.errors.append(
                {
                    "file": str(path),
                    "line": problem.line,
                    "key": problem.key,
                    "message": str(problem),
                }
            )
            typer.echo(f"sdrag: {path}: {problem}", err=True)

    def lines(
        self, path: Path, policy: Policy, complete: Callable[[Prompt], str] | None
    ) -> Iterator[str]:
        """Note what a policy does, and yield it line by line."""
        from sdrag.disclosure.constraint_parser import parse
        from sdrag.disclosure.setup import why_not
        from sdrag.evaluation.examples import run_examples
        from sdrag.explanation.understood_as import (
            limits_of,
            settings_of,
            understood_as,
            without_model,
        )

        has_model = complete is not None
        refusing = not has_model and policy.when_not_understood == "refuse"
        for parsed in map(parse, policy.rules):
            rule = parsed.constraint
            self.constraints.append(_entry(path, parsed))
            self.refused += refusing and bool(why_not(parsed))
            yield f"{rule.id}: {' '.join(limits_of(rule))}"
            yield f"  {understood_as(parsed)}"
            if said := without_model(parsed, policy, has_model=has_model):
                yield f"  {said}"
        self.guards |= dict.fromkeys(policy.guards)
        yield from settings_of(policy)
        results = run_examples(policy, complete)
        self.passed += results.passed
        self.failed += results.failed
        yield f"examples: {results.passed} passed, {results.failed} failed"
        yield from map(_failure, results.failures)

    def status(self) -> int:
        """Return the exit status."""
        if self.errors:
            return 2
        return 1 if self.failed or self.refused else 0

    def result(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "ok": not self.status(),
            "constraints": self.constraints,
            "guards": list(self.guards),
            "errors": self.errors,
            "examples": {"passed": self.passed, "failed": self.failed},
        }


def _entry(path: Path, parsed: ParsedConstraint) -> dict[str, Any]:
    from sdrag.disclosure.setup import why_not

    reason = why_not(parsed)
    return {
        "file": str(path),
        "id": parsed.constraint.id,
        "kind": parsed.kind,
        "types": sorted(parsed.types),
        "people": parsed.people,
        "status": "needs_model" if reason else "understood",
        "reason": reason,
    }


def _failure(failure: ExampleFailure) -> str:
    said = _UNTRUE[failure.kind].format(quoted=failure.quoted)
    return f"  {failure.constraint_id}, example {failure.example}: {said}"
