"""
Measure what a policy hides of documents in real formats, and what it leaves to read.

    python -m benchmarks.readability.measure [--part development|heldout]
        [--sensitivity high|balanced|low] [--llm scripted:exact] [--quick]
        [--json] [--each]

Each document is released by itself under its whole policy, by `sdrag.explain`. Without
a model, constraints that sdrag refuses are left out; what they protect counts as left.

- Secret left: a `go` phrase of which, at any of its places in the document, a content
  word has a visible letter or digit. Content words are all but those of
  `frequent.txt`; in a phrase of frequent words, all but function words, which its first
  paragraph lists; in one of these, all. Each phrase counts once a document.
- Harmless phrase lost: a `stay` phrase of which any word is hidden at any place.
- Clean sentence: four words or more, no `go` phrase and no name of `people`. The end of
  a line ends it, unless a long line goes on in lower case. Intact: no word is hidden.
- Absent: the share of a document's words that a constraint of `absent` hides as the
  whole policy: the mean by kind, and how many of these pairs are above 3 %. The kind is
  the author's, or else what sdrag parses. `--quick` leaves these pairs out.

`scripted:exact` is the model of the suite `rcqa` that marks the `go` phrases only.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.readability.documents import (
    HERE,
    Place,
    Rules,
    clean_sentences,
    find_places,
    read,
    secrets_of,
)
from benchmarks.suites.scripted.exact import ExactModel
from benchmarks.suites.scripted.witness_words import Protected
from sdrag import Constraint, explain
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.enforceable import not_understood
from sdrag.policy import Policy

MOST_OF_ABSENT = 0.03
_READ = ("id", "text", "examples", "sensitivity", "keep")
"""What the release reads of a rule."""
FUNCTION_WORDS, OTHER_FREQUENT = (
    frozenset(part.split())
    for part in (HERE / "frequent.txt").read_text(encoding="utf-8").split("\n\n", 1)
)


class Word(NamedTuple):
    """A word of a document: any or all of its characters may be hidden."""

    place: Place
    rarity: int
    touched: bool
    gone: bool


def is_refused(rule: Mapping[str, Any]) -> bool:
    """Say whether a wrapper without a model refuses the constraint."""
    read = {name: rule[name] for name in _READ if name in rule}
    return bool(not_understood(Policy.read({"constraints": [read]})))


def release(
    document: Mapping[str, Any], policy: Rules, sensitivity: str | None, llm: str | None
) -> tuple[str | None, list[Word]]:
    """Return what leaves of a document, and which of its words are hidden."""
    text = document["text"]
    go = {entry["constraint"]: entry["phrases"] for entry in document["go"]}
    knows = {
        rule["text"]: [text[a:b] for a, b in find_places(text, *go.get(rule["id"], ()))]
        for rule in policy
    }
    kept = [rule for rule in policy if llm or not is_refused(rule)]
    source = {
        "constraints": [
            {name: rule[name] for name in _READ if name in rule} for rule in kept
        ],
        "disclosure": {"sensitivity": sensitivity} if sensitivity else {},
    }
    model = ExactModel([Protected(knows, text)]) if llm else None
    explained = explain(text, source, complete=model)
    hidden = [explained.released is None] * len(text)
    for span in (part.span for part in explained.spans):
        hidden[span.start : span.end] = [True] * (span.end - span.start)
    words = []
    for match in re.finditer(r"\w+", text):
        word, part = match.group().lower(), hidden[match.start() : match.end()]
        rarity = 0 if word in FUNCTION_WORDS else 1 if word in OTHER_FREQUENT else 2
        words.append(Word(match.span(), rarity, any(part), all(part)))
    return explained.released, words


def measure(document: Any, policy: Rules, *how: str | None) -> dict[str, Any]:
    """Measure one document; `how` is the sensitivity and the model."""
    text, (_, words) = document["text"], release(document, policy, *how)
    clean, secrets = clean_sentences(document), secrets_of(document)

    def within(place: Place) -> list[Word]:
        return [w for w in words if place[0] <= w.place[0] < place[1]]

    def standing(phrase: str) -> Iterator[str]:
        for parts in map(within, find_places(text, phrase)):
            rarest = max(word.rarity for word in parts)
            for word in parts:
                if word.rarity == rarest and not word.gone:
                    yield text[slice(*word.place)]

    def is_touched(*places: Place) -> bool:
        return any(word.touched for place in places for word in within(place))

    return {
        "secrets": len(secrets),
        "left": [f"{p} ({', '.join(w)})" for p in secrets if (w := [*standing(p)])],
        "harmless": len(document["stay"]),
        "lost": [p for p in document["stay"] if is_touched(*find_places(text, p))],
        "clean": len(clean),
        "broken": [" ".join(text[a:b].split()) for a, b in clean if is_touched((a, b))],
        "hidden": share_hidden(words),
        "absent": [
            {
                "constraint": rule["id"],
                "kind": rule.get("kind") or parse(Constraint("c", rule["text"])).kind,
                "share": share_hidden(release(document, [rule], *how)[1]),
            }
            for rule in policy
            if rule["id"] in document["absent"] and (how[1] or not is_refused(rule))
        ],
    }


def share_hidden(words: Sequence[Word]) -> float:
    """Return the share of words of which something is hidden."""
    return sum(word.touched for word in words) / max(1, len(words))


def add_up(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of several documents together, as [part, whole]."""
    pairs = {"left": "secrets", "lost": "harmless", "broken": "clean"}
    shares = defaultdict(list)
    for entry in (entry for row in rows for entry in row["absent"]):
        shares[entry["kind"]].append(entry["share"])
    return {
        f"{whole}_{part}": [
            sum(len(r[part]) for r in rows),
            sum(r[whole] for r in rows),
        ]
        for part, whole in pairs.items()
    } | {
        "hidden": round(sum(row["hidden"] for row in rows) / len(rows), 3),
        "absent": {
            kind: {
                "mean": round(sum(of) / len(of), 4),
                "above": [sum(share > MOST_OF_ABSENT for share in of), len(of)],
            }
            for kind, of in sorted(shares.items())
        },
    }


def main() -> None:
    """Print the figures of a half."""
    parser = argparse.ArgumentParser(prog="measure", description=__doc__)
    parser.add_argument("--part", default="development")
    parser.add_argument("--sensitivity", help="the package's default when missing")
    parser.add_argument("--llm", choices=["scripted:exact"])
    for flag in ("--json", "--each", "--quick"):
        parser.add_argument(flag, action="store_true")
    chosen = parser.parse_args()
    how = (chosen.sensitivity, chosen.llm)
    quick = {"absent": []} if chosen.quick else {}
    rows = [
        {"document": f"{name}/{document['id']}"}
        | measure(document | quick, policy, *how)
        for name, policy, document in read(HERE / chosen.part)
    ]
    for row in rows if chosen.each and not chosen.json else ():
        print(f"{row['document']}, {row['hidden']:.2f} hidden")
        for key in ("left", "lost", "broken"):
            for phrase in row[key]:
                print(f"  {key}: {phrase}")
    figures = {"part": chosen.part, "sensitivity": how[0], "llm": how[1]}
    figures |= add_up(rows)
    if chosen.each and chosen.json:
        figures["each"] = rows
    print(json.dumps(figures, indent=None if chosen.json else 1))


if __name__ == "__main__":
    main()
