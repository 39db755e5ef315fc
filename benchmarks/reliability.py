"""
Measure how often a finding of the trained networks is right, by its confidence.

    python -m benchmarks.reliability [--data FOLDER] [--fit]

Every article is read for all of its constraints, in chunks of 1,000 characters. A
finding is right if a witness word of its constraint is in it. An article lists the
telling words of a secret and not all of it, so this is the least that is right. `--fit`
prints the share by the networks' own score instead of by what is shown, in steps that
never fall (isotonic regression): `sdrag.explanation.explanations` holds those of the
development articles.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from sklearn.isotonic import IsotonicRegression

from sdrag.effects.steps import replied
from sdrag.explanation.explanations import share_right
from sdrag.pipeline import Engine
from sdrag.studio.documents import chunks_of
from sdrag.studio.evaluation.articles import read_articles
from sdrag.studio.evaluation.measures import witness_spans
from sdrag.vocabulary import Constraint, Passage

HERE = Path(__file__).parent / "articles"


def findings(folder: Path) -> Iterator[tuple[str, float, bool]]:
    """Yield who found something, the score, and whether it was right."""
    engine = Engine({"allow_empty": True})
    for article in read_articles(folder):
        rules = [Constraint(name, name) for name in article.witnesses]
        document = Passage(article.name, article.text, document_id=article.name)
        chunks = chunks_of(document)
        outcomes, _ = engine.run(engine.disclosure.locator.locate(chunks, rules))
        for chunk, outcome in zip(chunks, outcomes, strict=True):
            for finding in replied(outcome):
                words = article.witnesses[finding.constraint_id]
                places = witness_spans(chunk.text, words)
                right = any(place.overlaps(finding.span) for place in places)
                yield finding.reason, finding.confidence, right


def main() -> None:
    """Print a line for each tenth."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=HERE / "development")
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args()
    rows = [
        (score if given.fit else shown, right)
        for by, score, right in findings(given.data)
        if (shown := share_right(by, score)) is not None
    ]
    tenths: defaultdict[int, list[tuple[float, bool]]] = defaultdict(list)
    for number, right in rows:
        tenths[min(9, int(10 * number))].append((number, right))
    shares = {tenth: share([r for _, r in pairs]) for tenth, pairs in tenths.items()}
    if given.fit:
        order = sorted(shares)
        weights = [len(tenths[tenth]) for tenth in order]
        observed = [shares[tenth] for tenth in order]
        fitted = IsotonicRegression().fit(order, observed, weights).predict(order)
        shares = dict(zip(order, map(float, fitted), strict=True))
    table = [
        {
            "from": tenth / 10,
            "findings": len(pairs),
            "shown" if not given.fit else "score": share([n for n, _ in pairs]),
            "right": round(shares[tenth], 2),
        }
        for tenth, pairs in sorted(tenths.items())
    ]
    for row in table:
        print(", ".join(f"{name} {value}" for name, value in row.items()))


def share(values: list[float] | list[bool]) -> float:
    """Return the mean of values."""
    return round(sum(values) / len(values), 2)


if __name__ == "__main__":
    main()
