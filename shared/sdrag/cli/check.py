"""`sdrag check`: say what policies do, and whether their examples hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sdrag.cli.common import LOCAL, AsJson, Llm, complete_with, show_json
from sdrag.errors import PolicyError, UsageError
from sdrag.policy import Policy

if TYPE_CHECKING:
    from sdrag.effects.prompts import Prompt

_FAILED = {
    "hides": "number {quoted} of its hides is shown",
    "kept": "number {quoted} of its hides is shown, since a keep covers it",
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
    llm: Llm = LOCAL,
    schema: Annotated[
        Literal["policy", "audit"] | None,
        typer.Option(help="Print a JSON schema instead, for editors and validators."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """
    Check policy files: how each constraint is understood, and whether examples hold.

    Prints ids and types, and no word of a constraint or an example, since these are
    confidential. Ends with 1 if an example fails or a constraint would be refused, and
    with 2 if a file is no valid policy.

    Example: sdrag check policy.yaml
    """
    if schema is not None:
        from sdrag.policy import policy_schema
        from sdrag.privacy.audit_log import event_schema

        made = policy_schema() if schema == "policy" else event_schema()
        typer.echo(json.dumps(made, indent=2))
        return
    if not policies:
        raise UsageError("There is no policy file to check.", hint="Name one.")
    complete = complete_with(llm, "--llm")
    checked = _Checked()
    for path in policies:
        try:
            policy = Policy.read(path)
        except PolicyError as error:
            checked.refuse(path, error)
        else:
            checked.describe(path, policy, complete)
    if checked.refused:
        typer.echo(_TO_DO)
    show_json(checked.result(), wanted=as_json)
    raise typer.Exit(checked.status)


@dataclass(slots=True)
class _Checked:
    """What was found in all the files."""

    constraints: list[dict[str, Any]] = field(default_factory=list)
    guards: dict[str, None] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)
    passed: int = 0
    failed: int = 0
    refused: int = 0

    def refuse(self, path: Path, error: PolicyError) -> None:
        """Print and keep all that keeps a file from being a policy."""
        for problem in error.problems:
            place = {"line": problem.line, "key": problem.key}
            self.errors.append({"file": str(path), **place, "message": str(problem)})
            typer.echo(f"sdrag: {path}: {problem}", err=True)

    def describe(
        self, path: Path, policy: Policy, complete: Callable[[Prompt], str] | None
    ) -> None:
        """Print and keep what a policy does, and how its examples end."""
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
        typer.echo(f"{path}: a valid policy")
        for parsed in map(parse, policy.rules):
            rule, reason = parsed.constraint, why_not(parsed)
            if reason and not has_model and policy.when_not_understood == "refuse":
                self.refused += 1
            self.constraints.append(
                {
                    "file": str(path),
                    "id": rule.id,
                    "kind": parsed.kind,
                    "types": sorted(parsed.types),
                    "people": parsed.people,
                    "status": "needs_model" if reason else "understood",
                    "reason": reason,
                }
            )
            typer.echo(f"  {rule.id}: {' '.join(limits_of(rule))}")
            typer.echo(f"    {understood_as(parsed)}")
            if warning := without_model(parsed, policy, has_model=has_model):
                typer.echo(f"    {warning}")
        self.guards |= dict.fromkeys(policy.guards)
        for line in settings_of(policy):
            typer.echo(f"  {line}")
        results = run_examples(policy, complete)
        self.passed += results.passed
        self.failed += results.failed
        typer.echo(f"  examples: {results.passed} passed, {results.failed} failed")
        for failure in results.failures:
            why = _FAILED[failure.kind].format(quoted=failure.quoted)
            typer.echo(f"    {failure.constraint_id}, example {failure.example}: {why}")

    @property
    def status(self) -> int:
        """The exit status."""
        if self.errors:
            return 2
        return 1 if self.failed or self.refused else 0

    def result(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "ok": not self.status,
            "constraints": self.constraints,
            "guards": list(self.guards),
            "errors": self.errors,
            "examples": {"passed": self.passed, "failed": self.failed},
        }
