"""`sdrag check`: say what policies do, and whether their examples hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sdrag.cli.common import LOCAL, AsJson, Llm, complete_with
from sdrag.errors import PolicyError, UsageError
from sdrag.policy import Policy
from sdrag.vocabulary import Constraint

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
    from sdrag.evaluation.examples import run_examples
    from sdrag.explanation.understood_as import settings_of

    complete = complete_with(llm, "--llm")
    constraints: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    guards: dict[str, None] = {}
    passed = failed = refused = 0
    for path in policies:
        try:
            policy = Policy.read(path)
        except PolicyError as error:
            errors += _problems(path, error)
            continue
        typer.echo(f"{path}: a valid policy")
        for rule in policy.rules:
            described = _describe(rule, policy, has_model=complete is not None)
            constraints.append({"file": str(path), **described})
            needs_model = complete is None and described["status"] == "needs_model"
            refused += needs_model and policy.when_not_understood == "refuse"
        guards |= dict.fromkeys(policy.guards)
        for line in settings_of(policy):
            typer.echo(f"  {line}")
        results = run_examples(policy, complete)
        passed, failed = passed + results.passed, failed + results.failed
        typer.echo(f"  examples: {results.passed} passed, {results.failed} failed")
        for failure in results.failures:
            why = _FAILED[failure.kind].format(quoted=failure.quoted)
            typer.echo(f"    {failure.constraint_id}, example {failure.example}: {why}")
    if refused:
        typer.echo(_TO_DO)
    status = 2 if errors else int(failed + refused > 0)
    result = {
        "ok": not status,
        "constraints": constraints,
        "guards": list(guards),
        "errors": errors,
        "examples": {"passed": passed, "failed": failed},
    }
    if as_json:
        typer.echo(json.dumps(result))
    raise typer.Exit(status)


def _problems(path: Path, error: PolicyError) -> Iterator[dict[str, Any]]:
    """Print and yield all that keeps a file from being a policy."""
    for problem in error.problems:
        typer.echo(f"sdrag: {path}: {problem}", err=True)
        place = {"file": str(path), "line": problem.line, "key": problem.key}
        yield {**place, "message": str(problem)}


def _describe(rule: Constraint, policy: Policy, *, has_model: bool) -> dict[str, Any]:
    """Print and return how a constraint is understood."""
    from sdrag.disclosure.constraint_parser import parse
    from sdrag.disclosure.setup import why_not
    from sdrag.explanation.understood_as import limits_of, understood_as, without_model

    parsed = parse(rule)
    reason = why_not(parsed)
    typer.echo(f"  {rule.id}: {' '.join(limits_of(rule))}")
    typer.echo(f"    {understood_as(parsed)}")
    if warning := without_model(parsed, policy, has_model=has_model):
        typer.echo(f"    {warning}")
    return {
        "id": rule.id,
        "kind": parsed.kind,
        "types": sorted(parsed.types),
        "people": parsed.people,
        "status": "needs_model" if reason else "understood",
        "reason": reason,
    }
