"""
The suites: one command for each, in the order of their names.

    python -m benchmarks.suites rcqa --data benchmarks/articles/unseen --json

A suite is a function that returns figures; what it takes are the options of its
command. Its figures are printed one a line, or as one JSON object; `errors` are shown
where they are asked for. Run them from the folder of the checkout.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Annotated, Any

import typer

from benchmarks.suites.adversary import adversary
from benchmarks.suites.answers import answers
from benchmarks.suites.carriers import carriers
from benchmarks.suites.claim_evidence import contradiction, grounding
from benchmarks.suites.constraint_ranking import ranking
from benchmarks.suites.control_bits import control
from benchmarks.suites.entities import entities
from benchmarks.suites.examples import examples
from benchmarks.suites.generalising import generalising
from benchmarks.suites.highlight import highlight
from benchmarks.suites.injection import injection
from benchmarks.suites.linkage import linkage
from benchmarks.suites.own_patterns import patterns
from benchmarks.suites.rcqa import rcqa
from benchmarks.suites.wordings import wordings
from sdrag.errors import SdragError

Suite = Callable[..., Mapping[str, Any]]
SUITES: tuple[Suite, ...] = (
    adversary,
    answers,
    carriers,
    contradiction,
    control,
    entities,
    examples,
    generalising,
    grounding,
    highlight,
    injection,
    linkage,
    patterns,
    ranking,
    rcqa,
    wordings,
)
_AsJson = Annotated[bool, typer.Option("--json", help="One JSON object.")]
_Errors = Annotated[int, typer.Option(min=0, help="Show so many errors of each kind.")]

app = typer.Typer(help="Measure.", no_args_is_help=True, pretty_exceptions_enable=False)


def as_command(suite: Suite) -> Callable[..., None]:
    """Return a suite as a command that prints its figures."""

    @wraps(suite)
    def command(*, errors: int, as_json: bool, **options: Any) -> None:
        figures = dict(suite(**options))
        show_errors(figures.pop("errors", ()), errors)
        if as_json:
            print(json.dumps(figures))
        else:
            print(*(f"{name}: {_brief(of)}" for name, of in figures.items()), sep="\n")

    parameters = {
        name: given
        if given.default is not given.empty
        else given.replace(annotation=Annotated[given.annotation, typer.Option()])
        for name, given in inspect.signature(suite, eval_str=True).parameters.items()
    }
    for name, default, annotation in (
        ("errors", 0, _Errors),
        ("as_json", False, _AsJson),
    ):
        parameters[name] = inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )
    command.__signature__ = inspect.Signature([*parameters.values()])  # type: ignore[attr-defined]
    command.__annotations__ = {n: of.annotation for n, of in parameters.items()}
    return command


def show_errors(errors: Iterable[Mapping[str, str]], limit: int) -> None:
    """
    Print some errors of each kind, and how many there are.

    Args:
        errors: Each with `kind`, `before`, `text` and `after`.
        limit: So many of each kind, from all over; none for 0.
    """
    kinds: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for error in errors if limit else ():
        kinds[error["kind"]].append(error)
    for kind, listed in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(len(listed), kind)
        for error in listed[:: max(1, len(listed) // limit)][:limit]:
            before, after = (" ".join(error[k].split()) for k in ("before", "after"))
            print(f"    {before} [{error['text']}] {after}")


def _brief(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_brief(inner)}" for key, inner in value.items())
    return str(value)


for _suite in SUITES:
    app.command()(as_command(_suite))

if __name__ == "__main__":
    try:
        app()
    except SdragError as error:
        sys.exit(f"{type(error).__name__}: {error}")
