"""
How the local work grows with the text: every path, plain and adversarial texts.

    python benchmarks/sizes.py                    # every path over every text
    python benchmarks/sizes.py mentions --text dots --each

Each path reads a text of 10 kB, then of twice as much, and so on to 10 MB, until one
reading takes longer than `--seconds`. The exponent is the slope of the logarithm of the
time over that of the size, over the last four sizes: 1 is linear, 2 is quadratic.
Printed is, of each path, the text on which it grows fastest, and the slowest text;
`--each` prints every text. Time is processor time, the better of two readings. A series
that looks steep is measured once more; what still is above 1.15 is listed at the end,
and the command fails.

`networks` adds the tagger and the scorer, which read some kilobytes a second.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import log
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "shared")]

from sdrag.detectors import tagger  # noqa: E402
from sdrag.detectors.local import later_forms, mentions  # noqa: E402
from sdrag.detectors.text_windows import windows  # noqa: E402
from sdrag.disclosure.closing import closed  # noqa: E402
from sdrag.disclosure.constraint_parser import parse  # noqa: E402
from sdrag.disclosure.cutting import Taken, cut  # noqa: E402
from sdrag.disclosure.local.by_cue import cued  # noqa: E402
from sdrag.disclosure.local.by_name import named  # noqa: E402
from sdrag.disclosure.local.by_type import typed  # noqa: E402
from sdrag.disclosure.local.joined_text import JoinedText  # noqa: E402
from sdrag.disclosure.local.scorer import score  # noqa: E402
from sdrag.disclosure.metadata import leaves, plain, rewritten  # noqa: E402
from sdrag.disclosure.placeholders import Marks  # noqa: E402
from sdrag.disclosure.registering import add_entries, surfaces  # noqa: E402
from sdrag.effects.runner import PortRunner, Ports  # noqa: E402
from sdrag.effects.steps import run  # noqa: E402
from sdrag.guardrails.claims import claims  # noqa: E402
from sdrag.guardrails.injection import patterns  # noqa: E402
from sdrag.guardrails.injection.classifier import cut as cut_for_head  # noqa: E402
from sdrag.guardrails.injection.normalise import views  # noqa: E402
from sdrag.guardrails.injection.screen import screen  # noqa: E402
from sdrag.guardrails.injection.text_scan import scan_patterns  # noqa: E402
from sdrag.guardrails.monitoring import indicators  # noqa: E402
from sdrag.policy import (  # noqa: E402
    DisclosureSection,
    InjectionSection,
    MonitoringSection,
)
from sdrag.state.entries import Entries, Hashes  # noqa: E402
from sdrag.state.register import Register  # noqa: E402
from sdrag.text.decoding import decode  # noqa: E402 -- the path comes first
from sdrag.text.folding import fold  # noqa: E402
from sdrag.text.phrase_matcher import PhraseMatcher  # noqa: E402
from sdrag.text.readings import readings  # noqa: E402
from sdrag.text.sentences import sentences, words  # noqa: E402
from sdrag.text.spans import merge, splice, widen  # noqa: E402
from sdrag.vocabulary import Constraint, Finding, Passage, Span  # noqa: E402

SMALLEST, LARGEST = 10_000, 10_000_000
MOST = 1.15
FEWEST = 4
"""A series has so many sizes, unless one takes ten times too long."""
LEAST_TIME = 0.01
"""Shorter times say more of the machine than of the path."""
RULES = tuple(
    Constraint(id=f"rule-{number}", text=text)
    for number, text in enumerate(
        (
            "Do not reveal the names of people.",
            "Do not disclose dates, addresses or telephone numbers.",
            "Do not reveal anything about Jonathan Meyers.",
            "Do not disclose disciplinary records.",
            "Do not mention how much anybody earns.",
            "Do not reveal medical conditions or treatments.",
            "Do not disclose account numbers or passwords.",
            "Do not say that May White is ill.",
            "Do not reveal what identifies a person.",
            "Do not disclose the names of organisations.",
            "Do not reveal anything about drug abuse.",
            "Do not reveal where people live or travel.",
        )
    )
)
OPEN = InjectionSection(max_characters=2 * LARGEST, local_classifier=False)
HASHES = Hashes(b"k" * 32)
MARKS = Marks.of((), DisclosureSection(placeholders="plain"))

Call = Callable[[], object]
Path_ = Callable[[str], Call]


@lru_cache(maxsize=1)
def prose() -> str:
    """Return the packaged articles as one text."""
    folder = ROOT / "benchmarks/suites/data/articles"
    found = [json.loads(p.read_text("utf-8")) for p in sorted(folder.glob("*.json"))]
    return "".join(f"{one['article_text']}\n\n" for one in found)


def repeated(unit: str) -> Callable[[int], str]:
    """Repeat a unit to any size."""
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def halves(first: str, second: str) -> Callable[[int], str]:
    """Repeat one unit over the first half, another one over the second."""
    return lambda size: repeated(first)(size // 2) + repeated(second)(size // 2)


def counted(form: str) -> Callable[[int], str]:
    """Fill a form with another number, and another word, every time."""

    def text(size: int) -> str:
        pieces, length, number = [], 0, 0
        while length < size:
            number += 1
            name = lettered(number)
            pieces.append(form.format(n=number, word=name, Name=name.capitalize()))
            length += len(pieces[-1])
        return "".join(pieces)

    return text


def lettered(number: int) -> str:
    """Write a number in letters, as a word that is no English one."""
    letters = ""
    while number:
        number, digit = divmod(number, 20)
        letters += "bcdfghjklmnpqrstvwxz"[digit] + "aeiou"[digit % 5]
    return f"{letters}q"


TEXTS: dict[str, Callable[[int], str]] = {
    "prose": repeated(prose()),
    "prose without spaces": repeated(prose().replace(" ", "")),
    "prose without stops": repeated(prose().replace(".", "").replace("\n", " ")),
    "capitals": repeated(prose().upper()),
    "small letters": repeated(prose().lower()),
    "one word": repeated("a"),
    "one word in capitals": repeated("A"),
    "one number": repeated("7"),
    "long words": repeated("abcdefghij" * 20 + " "),
    "letters and digits": repeated("a1"),
    "hexadecimal": repeated("deadbeef"),
    "base64": repeated("QWxhZGRpbjpvcGVuIHNlc2FtZQ"),
    "letters apart": repeated("A B C D "),
    "words": repeated("word "),
    "capital words": repeated("Word "),
    "dotted letters": repeated("a.a.a.a."),
    "initials": repeated("A.B. "),
    "digits apart": repeated("1 2 3 4 "),
    "pairs of digits": repeated("12 "),
    "grouped digits": repeated("123,"),
    "digits with hyphens": repeated("12-34-"),
    "digits with points": repeated("1.1."),
    "digits with colons": repeated("12:34:"),
    "digits with slashes": repeated("1/2/"),
    "spaces": repeated(" "),
    "tabs": repeated("\t"),
    "newlines": repeated("\n"),
    "blank lines": repeated("a\n\n"),
    "lines": repeated("a\n"),
    "list": repeated("- a\n"),
    "dots": repeated("."),
    "dashes": repeated("-"),
    "long dashes": repeated("\u2014"),
    "underscores": repeated("_"),
    "quotes": repeated('"'),
    "apostrophes": repeated("'"),
    "closing quotes": repeated("\u2019"),
    "quoted words": repeated('"Word '),
    "brackets": repeated("("),
    "brackets around": halves("(", ")"),
    "square brackets": repeated("["),
    "marked": repeated("[1]"),
    "placeholders": repeated("[REDACTED]"),
    "placeholders apart": repeated("[REDACTED] "),
    "placeholders and names": repeated("[REDACTED] Anna Karlsson "),
    "open placeholders": repeated("[REDACTED"),
    "comments": repeated("<!--"),
    "comments closed": repeated("<!---->"),
    "tags": repeated("<a "),
    "hidden": repeated("<a style=display:none>"),
    "at signs": repeated("@"),
    "mails": repeated("a@b.com "),
    "mails joined": repeated("a@b."),
    "links": repeated("https://a.b/c "),
    "schemes": repeated("http://"),
    "slashes": repeated("/"),
    "back slashes": repeated("\\"),
    "web": repeated("www."),
    "colons": repeated(":"),
    "commas": repeated(","),
    "semicolons": repeated(";"),
    "bangs": repeated("!"),
    "percent": repeated("%41"),
    "percent signs": repeated("%"),
    "entities": repeated("&amp;"),
    "entities open": repeated("&#65"),
    "ampersands": repeated("&"),
    "escapes": repeated("\\u0041"),
    "equals": repeated("="),
    "plus": repeated("+"),
    "stars": repeated("*"),
    "hashes": repeated("#"),
    "binary": repeated("01000001 "),
    "combining marks": repeated("a\u0301"),
    "combining marks behind": halves("a", "\u0301"),
    "zero width": repeated("a\u200b"),
    "zero width behind": halves("a", "\u200b"),
    "tag characters": repeated("\U000e0041"),
    "lookalikes": repeated("\u0430\u0435 "),
    "half characters": repeated("\ud83d"),
    "Han": repeated("\u6f22\u5b57\u3002"),
    "Han without stops": repeated("\u6f22"),
    "Thai": repeated("\u0e01\u0e32"),
    "one name": repeated("Anna Karlsson "),
    "one name in sentences": repeated("Anna Karlsson left. "),
    "the name": repeated("Jonathan Meyers "),
    "everyday name": repeated("May White "),
    "everyday name small": repeated("may white "),
    "titles": repeated("Mr Judge "),
    "titled": repeated("Judge Lee said so. "),
    "dates": repeated("3 May 2024 "),
    "dates joined": repeated("3 May 2024 and "),
    "years": repeated("1999-2000-"),
    "money": repeated("$5 million "),
    "number words": repeated("twenty-two "),
    "many number words": repeated("two hundred and "),
    "telephones": repeated("+44 20 7946 0958 "),
    "cards": repeated("4111 1111 1111 1111 "),
    "addresses": repeated("12 Canal Street, Leeds, "),
    "streets": repeated("Street "),
    "cues": repeated("number number is "),
    "cued numbers": repeated("no 1234567, "),
    "numbers and": repeated("no 1 and 2 and 3 "),
    "secrets": repeated("password: "),
    "secret for": repeated("password for a "),
    "keys": repeated("sk-"),
    "key blocks": repeated("-----BEGIN A KEY-----"),
    "tokens": repeated("eyJ."),
    "tokens joined": repeated("eyJ-"),
    "token": halves("eyJ", "abcdefgh."),
    "hidden words": repeated("<a hidden hidden hidden "),
    "key words": repeated("api key: secret for "),
    "networks": repeated("fe80::"),
    "machines": repeated("00:1b:"),
    "plates": repeated("AB 12 "),
    "orders": repeated("ignore all previous "),
    "order": repeated("ignore previous instructions. "),
    "whens": repeated("when you answer "),
    "always": repeated("always "),
    "admissions": repeated("the sources do not "),
    "offers": repeated("would what which? "),
    "warnings": repeated("He had a written warning. They left. "),
    "defined": repeated('Word ("the Word") '),
    "definitions open": repeated('a ("'),
    "firms": repeated("Davis, Reynolds and "),
    "peoples": repeated("Polish "),
    "particles": repeated("Van der "),
    "many names": counted("{Name} Karlsson went home. "),
    "many people": counted("Mr {Name} met Anna. "),
    "many words": counted("{word} "),
    "many numbers": counted("{n} "),
    "many codes": counted("ref AB{n:07d}. "),
    "many definitions": counted('{Name} Group ("the {Name}") and '),
    "many initials": counted("Anna {Name} Karlsson came. "),
    "many links": counted("https://{word}.com/{n} "),
    "growing words": lambda size: " ".join(
        "a" * n for n in range(1, int((2 * size) ** 0.5))
    ),
    "growing names": lambda size: ". ".join(
        "Ab" + "c" * n + " Karlsson" for n in range(1, int((2 * size) ** 0.5))
    ),
}


def of_document(text: str) -> JoinedText:
    """Return a document of one passage."""
    return JoinedText.of([Passage(id="p", text=text)])


def _named(text: str) -> Call:
    document, found = of_document(text), mentions(text)
    asked = [parse(rule) for rule in RULES]
    return lambda: list(named(document, found, asked))


def _typed(text: str) -> Call:
    found, asked = mentions(text), [parse(rule) for rule in RULES]
    return lambda: list(typed(text, found, asked))


def _cued(text: str) -> Call:
    asked = [parse(rule) for rule in RULES]
    return lambda: list(cued(text, asked))


def _later(text: str) -> Call:
    found = mentions(text)
    return lambda: list(later_forms(text, found))


def _divided(text: str) -> Call:
    parts = [text[at : at + 1000] for at in range(0, len(text), 1000)]
    document = JoinedText.of([Passage(id=str(n), text=t) for n, t in enumerate(parts)])
    findings = [Finding(span, "r", "type") for span in words_of(document.text)]
    return lambda: document.divide(findings)


def words_of(text: str) -> Sequence[Span]:
    """Return every other word, so that spans are all over the text."""
    return words(text)[::2]


def _cut(text: str) -> Call:
    spans = merge(words_of(text))
    names = ("a", "b")
    taken = Taken.of([(frozenset({"a"}), spans[::2]), (frozenset({"b"}), spans[1::2])])
    return lambda: cut(text, taken, names, MARKS)


def _spliced(text: str) -> Call:
    spans = words_of(text)
    return lambda: splice(text, merge(spans, text), lambda _: "[REDACTED]")


def _widened(text: str) -> Call:
    every = range(0, len(text) - 1, 10)
    return lambda: [widen(text, Span(at, at + 1)) for at in every]


def _folded_back(text: str) -> Call:
    folded = fold(text)
    places = range(0, len(folded.text) - 1, 10)
    return lambda: [folded.span(at, at + 1) for at in places]


def _needles(text: str) -> Call:
    folded = fold(text)
    some = {span.of(text) for span in words_of(text)[:1000]}
    needles = PhraseMatcher({*some, "Anna Karlsson", "a", "a a", "Karlsson went home"})
    return lambda: list(needles.find(folded))


def _findings(text: str) -> dict[bytes, list[Finding]]:
    found = [Finding(m.span, "rule-0", "type") for m in mentions(text)]
    meant = [Finding(span, "rule-5", "scored") for span in words_of(text)]
    return {b"0" * 16: found, b"5" * 16: meant}


def _entries(text: str) -> Call:
    from sdrag.disclosure.placeholders import any_of  # noqa: PLC0415

    findings, marks = _findings(text), any_of(MARKS)

    def made() -> Entries:
        entries, folded = Entries(), fold(text)
        for (key, own), rule in zip(
            findings.items(), (RULES[0], RULES[5]), strict=True
        ):
            forms = surfaces(text, own, rule, marks)
            add_entries(entries, key, folded, own, forms, HASHES)
        return entries

    return made


def _closed(text: str) -> Call:
    findings = _findings(text)
    empty = Register(Entries(), HASHES)
    return lambda: closed(text, findings, empty)


def _known_again(text: str) -> Call:
    register = Register(_entries(prose()[:10_000])(), HASHES)
    folded = fold(text)
    return lambda: list(register.find(folded))


def _known_all(text: str) -> Call:
    register = Register(_entries(text)(), HASHES)
    folded = fold(text)
    return lambda: list(register.find(folded))


def _rewritten(text: str) -> Call:
    parts = [text[at : at + 100] for at in range(0, len(text), 100)]
    metadata = {"all": text, "parts": parts}

    def made() -> object:
        bare = plain(metadata, metadata)
        return leaves(bare), rewritten(bare, lambda said: said)

    return made


def _scanned(text: str) -> Call:
    return lambda: scan_patterns(text, OPEN)


def _found(text: str) -> Call:
    reading = fold(text).text
    return lambda: list(patterns.find(reading))


def _viewed(text: str) -> Call:
    return lambda: list(views(text))


def _cut_for_head(text: str) -> Call:
    return lambda: cut_for_head(text, views(text))


def _screened(text: str) -> Call:
    section = OPEN.model_copy(update={"action": "strip"})
    passage = Passage(id="p", text=text, metadata={"title": text})
    runner = PortRunner(Ports())
    return lambda: run(screen([passage], section), runner)


def _monitored_passage(text: str) -> Call:
    answer = "Visit https://a.b/c and mail a@b.com. Call +1 now. " * 20
    section = MonitoringSection(look_for=["links", "emails", "calls"])
    return lambda: indicators(answer, "What?", [text], section)


def _monitored_answer(text: str) -> Call:
    section = MonitoringSection(look_for=["links", "emails", "calls"])
    return lambda: indicators(text, "What?", ["Nothing is said."], section)


def _monitored_both(text: str) -> Call:
    section = MonitoringSection(look_for=["links", "emails", "calls"])
    return lambda: indicators(text[:40_000], "What?", [text], section)


PATHS: dict[str, Path_] = {
    "sentences": lambda text: lambda: sentences(text),
    "words": lambda text: lambda: words(text),
    "windows": lambda text: lambda: list(windows(text, 1200)),
    "fold": lambda text: lambda: fold(text),
    "fold back": _folded_back,
    "decode": lambda text: lambda: decode(text),
    "readings": lambda text: lambda: readings(text),
    "needles": _needles,
    "mentions": lambda text: lambda: mentions(text),
    "later forms": _later,
    "joined": lambda text: lambda: of_document(text).alone(),
    "named": _named,
    "typed": _typed,
    "cued": _cued,
    "divided": _divided,
    "cut": _cut,
    "spliced": _spliced,
    "widened": _widened,
    "entries": _entries,
    "closed": _closed,
    "known again": _known_again,
    "known all": _known_all,
    "metadata": _rewritten,
    "views": _viewed,
    "patterns": _found,
    "scanned": _scanned,
    "cut for head": _cut_for_head,
    "screened": _screened,
    "monitored answer": _monitored_answer,
    "monitored passage": _monitored_passage,
    "monitored both": _monitored_both,
    "claims": lambda text: lambda: claims(text),
}
NETWORKS: dict[str, Path_] = {
    "tagger": lambda text: lambda: tagger.tags(text),
    "scorer": lambda text: lambda: score([text], [rule.text for rule in RULES]),
}


class Series(NamedTuple):
    """What a path took, by size."""

    path: str
    text: str
    times: dict[int, float]

    @property
    def exponent(self) -> float:
        """The slope of log time over log size, over the last four sizes."""
        points = [
            (log(size), log(took))
            for size, took in self.times.items()
            if took >= LEAST_TIME
        ][-4:]
        if len(points) < 2:
            return 0.0
        mean_x = sum(x for x, _ in points) / len(points)
        mean_y = sum(y for _, y in points) / len(points)
        above = sum((x - mean_x) * (y - mean_y) for x, y in points)
        return above / sum((x - mean_x) ** 2 for x, _ in points)

    @property
    def rate(self) -> float:
        """Seconds a megabyte, at the last size."""
        size, took = list(self.times.items())[-1]
        return took / size * 1e6

    def __str__(self) -> str:
        size, took = list(self.times.items())[-1]
        return (
            f"{self.path:18} {self.text:24} {self.exponent:6.2f}"
            f" {self.rate:9.2f} s/MB {size / 1000:8.0f} kB {took:7.2f} s"
        )


def timed(call: Call) -> float:
    """Return the seconds of processor time that a call takes."""
    gc.collect()
    start = process_time()
    call()
    return process_time() - start


def series(path: str, make: Path_, name: str, seconds: float, smallest: int) -> Series:
    """Measure a path over a text of growing size."""
    times: dict[int, float] = {}
    size = smallest
    while size <= LARGEST:
        start = process_time()
        call = make(TEXTS[name](size))
        prepared = process_time() - start
        times[size] = timed(call)
        took = max(times[size], prepared / 10)
        if took > 10 * seconds or (took > seconds and len(times) >= FEWEST):
            break
        size *= 2
    return Series(path, name, times)


def measured(
    paths: dict[str, Path_], names: Sequence[str], seconds: float, smallest: int
) -> Iterator[list[Series]]:
    """Measure every path over every text; what looks steep is measured again."""
    for path, make in paths.items():
        make(TEXTS["prose"](2000))()  # tables and networks are loaded
        gc.freeze()
        found = []
        for name in names:
            own = series(path, make, name, seconds, smallest)
            if own.exponent > MOST:
                again = series(path, make, name, 10 * seconds, smallest)
                own = min(own, again, key=lambda one: one.exponent)
            found.append(own)
        yield found


def main() -> None:
    """Print the exponents."""
    parser = argparse.ArgumentParser(description="Measure how local work grows.")
    parser.add_argument("paths", nargs="*", help="some paths, or `networks`")
    parser.add_argument("--text", action="append", choices=TEXTS, help="some texts")
    parser.add_argument("--seconds", type=float, default=0.3, help="end of a series")
    parser.add_argument("--each", action="store_true", help="print every text")
    given = parser.parse_args()
    gc.disable()
    chosen, smallest = dict(PATHS), SMALLEST
    if given.paths == ["networks"]:
        chosen, smallest = dict(NETWORKS), SMALLEST // 10
    elif given.paths:
        chosen = {path: {**PATHS, **NETWORKS}[path] for path in given.paths}
    steep: list[Series] = []
    for found in measured(chosen, given.text or list(TEXTS), given.seconds, smallest):
        shown: Any = found if given.each else _worst(found)
        print(*shown, sep="\n", flush=True)
        steep += [one for one in found if one.exponent > MOST]
    if steep:
        print(f"\nabove {MOST}:", *steep, sep="\n")
        sys.exit(1)


def _worst(found: Sequence[Series]) -> list[Series]:
    """Return the steepest and the slowest."""
    steepest = max(found, key=lambda one: one.exponent)
    slowest = max(found, key=lambda one: one.rate)
    return list(dict.fromkeys(map(id, (steepest, slowest)))) and (
        [steepest] if steepest is slowest else [steepest, slowest]
    )


if __name__ == "__main__":
    main()
