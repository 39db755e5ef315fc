"""`sdrag tune FOLDER`: what each setting of masking costs, where links are known."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdrag.errors import UsageError
from sdrag.policy import Policy
from sdrag.studio.cli.common import (
    LOCAL,
    AsJson,
    Llm,
    ModelConcurrency,
    ModelTimeout,
    Rows,
    check_writable,
    llm_of,
    model_runner,
    progress_bars,
    read_input,
    unwritable,
)

if TYPE_CHECKING:
    from sdrag.studio.evaluation.tuning import Links, Pair

_LINKS = "links.csv"
_FEW = 30
_SMALL = (
    "{count} known links are few: differences of some hundredths are chance. Try what"
    " is best here on other documents."
)

_WIDE, _HIGH, _EDGE = 480, 300, 40
_TICKS = (0, 0.2, 0.4, 0.6, 0.8, 1)
_CURVES = (("precision", "#1f6feb"), ("recall", "#bf3989"), ("f1", "#1a7f37"))


def tune(
    folder: Annotated[Path, typer.Argument(help="Documents whose links are known.")],
    links: Annotated[
        Path | None,
        typer.Option(
            help="A CSV file, a link a line: the names of two documents."
            f" By default {_LINKS} in the folder."
        ),
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(help="A policy, for its linkage section.")
    ] = None,
    llm: Llm = LOCAL,
    model_timeout: ModelTimeout = None,
    model_concurrency: ModelConcurrency = None,
    plot: Annotated[
        Path | None, typer.Option(help="An SVG file to draw the edge thresholds in.")
    ] = None,
    rows: Rows = False,
    as_json: AsJson = False,
) -> None:
    """
    Try edge thresholds and ceilings of masking on documents whose links are known.

    The first table has, for each `edge_threshold`, the known links and others that are
    found, precision, recall and F1; the second, with the best of these, what ceilings
    of documents and chains mask, and how many links they leave. A document of a file
    with several is named as `sdrag preview` names it.

    Example: sdrag tune sample --policy policy.yaml --plot tune.svg
    """
    from sdrag.detectors.local import LocalDetector
    from sdrag.linkage.extractor import ModelExtractor
    from sdrag.linkage.masking import Passes
    from sdrag.studio.evaluation import tuning

    check_writable(plot)
    settings = (Policy() if policy is None else Policy.read(policy)).linkage
    listed = links or folder / _LINKS
    model = llm_of(llm, timeout=model_timeout, concurrency=model_concurrency)
    given = read_input([folder], rows=rows)
    inside = listed.resolve()
    given.files[:] = [f for f in given.files if (folder / f.path).resolve() != inside]
    known = {*_read_links(listed, {document.id for document in given.documents})}
    entities: Any = LocalDetector() if model is None else ModelExtractor()
    with progress_bars() as update:
        tuned = tuning.tune(
            given.documents,
            known,
            settings,
            entities,
            runner=model_runner(model),
            passes=Passes(progress=update),
        )
    best = tuned.best.edge_threshold
    typer.echo(f"{tuned.documents} documents, {tuned.known_links} known links")
    _print_table([asdict(row) for row in tuned.links])
    typer.echo(f"\nwith edge_threshold {best:g}, which has the best F1:")
    _print_table([asdict(row) for row in tuned.ceilings])
    if len(known) < _FEW:
        typer.echo(_SMALL.format(count=len(known)), err=True)
    if plot is not None:
        try:
            plot.write_text(_draw_links(tuned.links, settings.edge_threshold), "utf-8")
        except OSError as error:
            raise unwritable(plot, error) from None
    if as_json:
        typer.echo(json.dumps({**asdict(tuned), **given.as_dict()}))
    raise typer.Exit(1 if given.skipped or tuned.withheld else 0)


def _read_links(path: Path, names: set[str]) -> Iterator[Pair]:
    """Read the known links; a line that names no two documents is an error."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [row for row in csv.reader(file) if any(map(str.strip, row))]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(
            f"The links in {path} cannot be read ({type(error).__name__}).",
            hint="Write a CSV file with two names of documents a line.",
        ) from None
    for number, row in enumerate(lines, start=1):
        pair = frozenset(map(str.strip, row))
        if len(row) != 2 or len(pair) != 2 or not pair <= names:
            raise UsageError(
                f"Link {number} in {path} does not name two of the documents.",
                hint="Name them as they are named in the folder: a.txt,sub/b.txt.",
            )
        yield pair


def _print_table(rows: Sequence[dict[str, float]]) -> None:
    """Print rows under their names."""
    heads = list(rows[0])
    cells = [
        [f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()]
        for row in rows
    ]
    for line in (heads, *cells):
        typer.echo("  ".join(c.rjust(len(h)) for c, h in zip(line, heads, strict=True)))


def _draw_links(rows: Sequence[Links], in_force: float) -> str:
    """Return an SVG of the thresholds that were tried; the one in force is dashed."""
    width, height = _WIDE + 2 * _EDGE, _HIGH + 2 * _EDGE
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
    return "\n".join(
        (
            head + 'font-family="sans-serif" font-size="12">',
            _line(f"M {_x(0)} {_y(1)} V {_y(0)} H {_x(1)}", "#888"),
            _line(f"M {_x(in_force)} {_y(0)} V {_y(1)}", "#888", dashed=True),
            _text(_x(0.5), height - 6, "edge_threshold"),
            *(_text(_x(tick), _y(0) + 16, f"{tick:g}") for tick in _TICKS),
            *(_text(_x(0) - 14, _y(tick) + 4, f"{tick:g}") for tick in _TICKS),
            *_curves(rows),
            "</svg>\n",
        )
    )


def _curves(rows: Sequence[Links]) -> Iterator[str]:
    for number, (name, colour) in enumerate(_CURVES):
        points = [(_x(row.edge_threshold), _y(getattr(row, name))) for row in rows]
        yield _line("M " + " L ".join(f"{x} {y}" for x, y in points), colour)
        yield _text(_x(0) + 36, _y(0) - 44 + 16 * number, name, colour)


def _line(path: str, colour: str, *, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="4"' if dashed else ""
    return f'<path d="{path}" fill="none" stroke="{colour}"{dashes}/>'


def _text(x: float, y: float, said: str, colour: str = "#444") -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}" text-anchor="middle">{said}</text>'


def _x(value: float) -> float:
    return round(_EDGE + _WIDE * value, 1)


def _y(value: float) -> float:
    return round(_EDGE + _HIGH * (1 - value), 1)
