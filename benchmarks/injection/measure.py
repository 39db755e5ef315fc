"""
Measure the injection scan by kind of text, on what is aside and on the rest.

    python benchmarks/injection/measure.py [--head] [--clean DATA_FOLDER]

Prints for each kind how many of its texts raise an alarm. A form feed parts a text into
the passages of one request. With `--clean`, clean
paragraphs of XQuAD, WiCE and FEVER are read instead, of which none should.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from sdrag.effects.runner import Limits, PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.guardrails.injection import screen
from sdrag.policy import InjectionSection
from sdrag.vocabulary import Passage

HERE = Path(__file__).parent
MOST = 500
"""Paragraphs of each clean set."""


def main() -> None:
    """Print the share of alarms, by kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--head", action="store_true", help="ask the trained head too")
    parser.add_argument("--clean", type=Path, help="the folder of the clean sets")
    chosen = parser.parse_args()
    section = InjectionSection(local_classifier=chosen.head)
    if chosen.clean:
        report(clean(chosen.clean), section)
        return
    for aside in (False, True):
        print("aside" if aside else "development")
        for name in ("attacks", "harmless"):
            report(rows(name, aside=aside), section)


def rows(name: str, *, aside: bool) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each row of a file, of one half."""
    with (HERE / f"{name}.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["aside"] is aside:
                yield row["source"], row["text"]


def clean(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield paragraphs that nobody has attacked."""
    for language in ("en", "de", "es"):
        source = folder / "xquad" / f"xquad.{language}.json"
        articles = json.loads(source.read_text(encoding="utf-8"))["data"]
        paragraphs = [
            part["context"] for item in articles for part in item["paragraphs"]
        ]
        yield from ((f"xquad {language}", text) for text in paragraphs[:MOST])
    with (folder / "wice" / "claim_dev.jsonl").open(encoding="utf-8") as lines:
        for row in list(map(json.loads, lines))[:MOST]:
            yield "wice", " ".join(row["evidence"][:8])
    with (folder / "fever_symmetric" / "dev.jsonl").open(encoding="utf-8") as lines:
        for row in list(map(json.loads, lines))[:MOST]:
            yield "fever", row["evidence"]


def report(texts: Iterable[tuple[str, str]], section: InjectionSection) -> None:
    """Print how many texts of each kind raise an alarm, and of all."""
    alarms: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for kind, text in texts:
        total[kind] += 1
        parts = enumerate(text.split("\f"))
        passages = [Passage(str(number), part) for number, part in parts]
        screened = run(screen(passages, section, limits=Limits()), PortRunner(Ports()))
        alarms[kind] += bool(screened.decisions)
    for kind, count in total.items():
        print(f"  {kind:20} {alarms[kind]:4} of {count}")
    whole = total.total()
    print(f"  {'all':20} {alarms.total():4} of {whole} = {alarms.total() / whole:.3f}")


if __name__ == "__main__":
    main()
