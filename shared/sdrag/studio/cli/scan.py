"""`sdrag scan`: what a summarizer could obey, and what sources contradict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from sdrag.errors import UsageError
from sdrag.guardrails.injection import InjectionSection
from sdrag.policy import Policy
from sdrag.studio.cli.common import (
    AsJson,
    Rows,
    check_writable,
    progress_bars,
    read_input,
    show,
)
from sdrag.vocabulary import Passage


def scan(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders to read.")],
    policy: Annotated[
        Path | None,
        typer.Option(
            help="A policy; its sections highlight, injection, contradictions and"
            " staleness are used."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Write JSON lines of ids, spans and scores or reasons, no text."
        ),
    ] = None,
    classifier: Annotated[
        bool, typer.Option(help="Use the local classifier as well as the patterns.")
    ] = False,
    contradictions: Annotated[
        bool,
        typer.Option(
            "--contradictions",
            help="Find sentences that contradict each other instead: which, why, and"
            " which document the policy prefers.",
        ),
    ] = False,
    quote: Annotated[
        bool, typer.Option("--quote", help="Print the text itself as well.")
    ] = False,
    rows: Rows = False,
    as_json: AsJson = False,
) -> None:
    """
    Find text in documents that a model could take as an instruction.

    Reads the formats of `sdrag preview`. Ends with 1 if something is found, or a file
    cannot be read.

    Example: sdrag scan documents --policy policy.yaml --quote

    Example: sdrag scan documents --contradictions --report pairs.jsonl
    """
    if contradictions and classifier:
        raise UsageError(
            "--classifier judges instructions, and no contradictions.",
            hint="Leave one of the two out.",
        )
    check_writable(report)
    started = perf_counter()
    rules = Policy.read({} if policy is None else policy)
    if rules.injection is None:
        section = InjectionSection(local_classifier=classifier)
        rules = rules.model_copy(update={"injection": section})
    given = read_input(paths, rows=rows)
    documents = given.documents
    texts = {document.id: document.text for document in documents}
    with progress_bars() as update:

        def pass_on() -> Iterator[Passage]:
            for number, document in enumerate(documents, start=1):
                yield document
                update("Scanning", number, len(documents))

        find = _find_contradictions if contradictions else _find_alarms
        lines, counts = find(pass_on(), rules, report, texts if quote else None)
    for line in lines:
        typer.echo(line)
    result = {
        "documents": len(documents),
        **counts,
        **given.as_dict(),
        "seconds": round(perf_counter() - started, 3),
    }
    show(result, as_json=as_json)
    raise typer.Exit(1 if lines or given.skipped else 0)


_Found = tuple[list[str], dict[str, int]]
"""What is printed, a line for each find, and what was counted."""


def _find_alarms(
    passages: Iterable[Passage],
    rules: Policy,
    report: Path | None,
    texts: Mapping[str, str] | None,
) -> _Found:
    """Find what a model could obey; `texts` are given where it is quoted."""
    from sdrag.studio.evaluation.corpus_scan import scan_passages, write_found

    alarms = list(write_found(report, scan_passages(passages, rules)))
    lines = []
    for alarm in alarms:
        words = f": {alarm.span.of(texts[alarm.passage_id])}" if texts else ""
        place = f"{alarm.passage_id} {alarm.span.start}-{alarm.span.end}"
        lines.append(f"{place} {alarm.score:.2f}{words}")
    named = {alarm.passage_id for alarm in alarms}
    return lines, {"alarms": len(alarms), "passages": len(named)}


def _find_contradictions(
    passages: Iterable[Passage],
    rules: Policy,
    report: Path | None,
    texts: Mapping[str, str] | None,
) -> _Found:
    """Find pairs that contradict each other, and what the policy says of them."""
    from sdrag.knowledge_base import scan_contradictions
    from sdrag.studio.evaluation.corpus_scan import write_found

    found = scan_contradictions(passages, rules)
    pairs = list(write_found(report, found.pairs))
    lines = []
    for pair in pairs:
        placed = list(zip(pair.passage_ids, pair.spans, strict=True))
        places = " / ".join(f"{name} {span.start}-{span.end}" for name, span in placed)
        settled = f"{pair.winner or 'neither'} ({pair.resolution})"
        words = " / ".join(span.of(texts[name]) for name, span in placed if texts)
        line = f"{places} {pair.reason}, {settled}"
        lines.append(f"{line}: {words}" if texts else line)
    return lines, {
        "contradictions": len(pairs),
        "passages": len({name for pair in pairs for name in pair.passage_ids}),
        "repeated": found.repeated,
        "unchecked": found.unchecked,
    }
