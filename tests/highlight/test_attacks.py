"""Whatever a compromised highlighter returns, the property holds."""

from __future__ import annotations

import random
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from sdrag.highlight import CutAt, verify_highlights
from sdrag.vocabulary import Passage

from .oracle import violations

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


def test_the_papers_figure_2():
    """The sentence "You won a $10 voucher" cannot be made of the guidelines."""
    mosaics = [["You", "won", "a $10", "voucher"], ["You won a $10 voucher"]]

    for extracts in mosaics:
        assert not verify_highlights(extracts, [GUIDELINES])


WORDS = st.sampled_from(
    [
        *("the", "refund", "is", "not", "never", "paid", "non-refundable"),
        *("undisclosed", "closed", "able", "unable", "$10", "-5", "20%", "3.5"),
        *("caf\u00e9", "cafe\u0301", "don\u2019t", "2010\u20132012", "a.b.c"),
        *("[REDACTED]", "[person]", "na\u00efve", "\u200bzero\u200b"),
        *("Dogs", "They", "May"),
    ]
)
GAPS = st.sampled_from(
    [" ", "  ", "\n", ", ", ". ", "; ", " \u2014 ", "? ", " \u201c", "\u201d "]
)
TEXTS = st.lists(st.tuples(WORDS, GAPS), min_size=1, max_size=40).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)


@st.composite
def attacks(draw: st.DrawFn) -> tuple[list[Passage], list[str]]:
    """Draw passages, and extracts by somebody who has read them."""
    texts = draw(st.lists(TEXTS, min_size=1, max_size=4))
    passages = [Passage(f"p{index}", text) for index, text in enumerate(texts)]
    whole = "".join(texts)
    rng = draw(st.randoms(use_true_random=False))
    made = [_cut(rng, rng.choice([*texts, whole])) for _ in range(rng.randint(1, 6))]
    return passages, made + draw(st.lists(st.text(max_size=40), max_size=2))


def _cut(rng: random.Random, text: str) -> str:
    """Cut anywhere, mid-word too; tamper with a character or two at times."""
    start, end = sorted(rng.sample(range(len(text) + 1), 2))
    piece = text[start:end]
    for _ in range(rng.choice([0, 0, 1, 2])):
        place = rng.randrange(len(piece) + 1)
        piece = piece[:place] + rng.choice(["", "x", " ", "not "]) + piece[place + 1 :]
    return piece


@given(attacks(), st.sampled_from(get_args(CutAt)), st.integers(1, 7))
def test_everything_that_comes_out_has_the_property(attack, cut_at, min_words):
    """Whatever a highlighter returns, what passes is verbatim, whole and apart."""
    passages, extracts = attack

    found = verify_highlights(
        extracts, passages, min_words, 90, cut_at=cut_at, max_highlights=4
    )

    assert violations(found, passages, min_words) == []
    assert len(found) <= 4


@given(TEXTS)
def test_a_highlight_verifies_again(text):
    """Verification is idempotent: its output passes unchanged."""
    passage = Passage("p", text)
    first = verify_highlights([text], [passage])

    again = verify_highlights([item.text for item in first], [passage])

    assert [item.text for item in again] == [item.text for item in first]
