"""A wholly compromised highlighter."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from sdrag.highlight import verify_highlights
from sdrag.vocabulary import Passage

from .oracle import violations

DATA = Path(os.environ.get("SDRAG_DATA", Path(__file__).parents[3] / "shared" / "data"))
GUIDELINES = Passage(
    "reimbursement",
    "You may submit a request for reimbursement if the expense falls within the "
    "approved categories outlined in Appendix D. Once the claim is verified and "
    "approved, it is recorded as a completed transaction and marked as \u201cwon\u201d "
    "in the internal tracking system. A confirmation email will be sent to the "
    "claimant within three (3) business days. If the reimbursement includes a $10 "
    "threshold adjustment, the system will automatically generate a voucher code for "
    "accounting "
    "purposes. This voucher is non-transferable and must be used within the same "
    "fiscal quarter.",
)


def injections() -> list[str]:
    folder = DATA / "bipia"
    if not folder.is_dir():
        pytest.skip(f"no BIPIA in {DATA}")
    return [
        text
        for name in ("text_attack_train.json", "code_attack_train.json")
        for texts in json.loads((folder / name).read_text(encoding="utf-8")).values()
        for text in texts
    ]


def test_the_papers_figure_2() -> None:
    """The sentence "You won a $10 voucher" cannot be made of the guidelines."""
    mosaics = [["You", "won", "a $10", "voucher"], ["You won a $10 voucher"]]

    for extracts in mosaics:
        assert not verify_highlights(extracts, [GUIDELINES])


def test_injections_are_not_in_the_passages() -> None:
    """No injection of BIPIA gets in, whole, by lines or behind a true quotation."""
    for attack in injections():
        wrapped = f"{GUIDELINES.text[:120]} {attack}"
        extracts = [attack, *attack.splitlines(), wrapped]

        found = verify_highlights(extracts, [GUIDELINES])

        assert violations(found, [GUIDELINES]) == []
        assert not any(attack in item.text for item in found)


def test_mosaics_cuts_and_tampered_copies() -> None:
    """Whatever is made of a passage's own words, only its own slices come out."""
    rng = random.Random(5)
    words = GUIDELINES.text.split()
    for _ in range(200):
        mosaic = rng.sample(words, 8)
        start = rng.randrange(len(GUIDELINES.text) - 120)
        cut = GUIDELINES.text[start : start + rng.randrange(20, 120)]
        place = rng.randrange(len(cut))
        tampered = (
            f"{cut[:place]}{rng.choice(['not ', 'x', '$1', ''])}{cut[place + 1 :]}"
        )

        found = verify_highlights(
            [" ".join(mosaic), *mosaic, cut, tampered], [GUIDELINES]
        )

        assert violations(found, [GUIDELINES]) == []
