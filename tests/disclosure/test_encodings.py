"""What is known of a document is known however it is encoded or disguised."""

from __future__ import annotations

import base64
import re

from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.framework import local_embeddings
from sdrag.pipeline import Engine, Request, disclose
from sdrag.vocabulary import Passage
from tests.support.spellings import (
    ADDRESSES_ONLY,
    DISGUISES,
    ENCODINGS,
    NAMES_ONLY,
    PLACES,
    Spelling,
)

from ..support.tables import each_row

PERFORMER = PortRunner(Ports(embed=local_embeddings()))

VALUES = {
    "name": (
        "Remove names of witnesses",
        "The witness Delia Meyers saw it.",
        "Delia Meyers",
    ),
    "e-mail": (
        "Hide email addresses",
        "Write to d.meyers@corp.com.",
        "d.meyers@corp.com",
    ),
    "date of birth": (
        "Remove dates of birth",
        "She was born on 1984-05-03.",
        "1984-05-03",
    ),
    "code": ("Remove account numbers", "Her account is DE-4471-9920.", "DE-4471-9920"),
}
SPELLINGS: dict[str, dict[str, Spelling]] = {
    "name": ENCODINGS | DISGUISES | NAMES_ONLY,
    "e-mail": ENCODINGS | DISGUISES | ADDRESSES_ONLY,
    "date of birth": ENCODINGS | DISGUISES,
    "code": ENCODINGS | DISGUISES,
}


EVERYWHERE = (
    "one entity",
    "percent",
    "base64",
    "base64 of a sentence",
    "hex",
    "escapes",
    "letters apart",
    "split over two lines",
    "Cyrillic letters",
    "capitals",
)

# Every spelling in prose, and some of them wherever a value may stand.
CASES = [
    (kind, spelling, place)
    for kind, own in SPELLINGS.items()
    for spelling in own
    for place in (PLACES if spelling in EVERYWHERE else ("prose",))
]


def _released(constraint: str, plain: str, texts: list[str]) -> list[str]:
    """Return what is left of texts of one document, in which one says it plainly."""
    passages = [
        Passage(f"chunk-{number}", text, document_id="file")
        for number, text in enumerate([plain, *texts])
    ]
    policy = {"constraints": [constraint]}
    seen = run(disclose(tuple(passages), Request(""), Engine(policy)), PERFORMER)
    assert len(seen.passages) == len(passages)
    return [passage.text for passage in seen.passages[1:]]


def _text(kind: str, spelling: str, place: str) -> str:
    return PLACES[place].format(SPELLINGS[kind][spelling](VALUES[kind][2]))


@each_row("kind", VALUES)
def test_a_known_value_goes_however_it_is_spelt(kind: str) -> None:
    """In prose in every spelling, and in some of them wherever a value may stand."""
    constraint, plain, value = VALUES[kind]
    cases = [case for case in CASES if case[0] == kind]

    left = _released(constraint, plain, [_text(*case) for case in cases])

    wrong = [
        (spelling, place)
        for (_, spelling, place), text in zip(cases, left, strict=True)
        if SPELLINGS[kind][spelling](value) in text
        or "[" not in text
        or (place == "prose" and not text.endswith(" again, as the file says."))
    ]
    assert not wrong


DATES = """
dob=19840503; 1984.05.03; 3/5/84; 5/3/1984; 03-05-1984; 03.05.84; May 3rd, 1984
May 03, 1984; 3rd of May 1984; 1984 May 3; 03-MAY-1984; 1984-05-03T10:00:00Z
id 19840503-2291
"""


def test_a_known_date_goes_in_whatever_order_it_is_written() -> None:
    """Numbers, names of months and ordinals."""
    forms = re.split("; |\n", DATES.strip())
    plain = "The witness, born on 3 May 1984, saw it."
    texts = [f"The card says {form} below." for form in forms]

    left = _released("Remove dates of birth", plain, texts)

    shown = {"1984", "84", "19840503", "May"}
    assert not [text for text in left if shown & set(re.findall(r"\w+", text))]


@each_row(
    "known, form",
    [
        ("+44 20 7946 0958", "020 7946 0958"),
        ("+44 20 7946 0958", "0044 20 7946 0958"),
        ("+44 20 7946 0958", "(0)20-7946-0958"),
        ("+1 212-555-0134", "212.555.0134"),
        ("020 7946 0958", "+44 20 7946 0958"),
        ("020 7946 0958", "207946 0958"),
    ],
)
def test_a_known_number_goes_with_and_without_its_country(
    known: str, form: str
) -> None:
    (left,) = _released(
        "Hide telephone numbers", f"Call {known} today.", [f"ref {form}, as said."]
    )
    assert not any(part in left for part in ("7946", "0958", "555", "0134"))


def test_what_nobody_said_plainly_goes_as_well() -> None:
    encoded = base64.b64encode(b"Please write to d.meyers@corp.com today.").decode()
    (left,) = _released("Hide email addresses", "Nothing.", [f"Note: {encoded}"])
    assert left.startswith("Note: [")


def test_a_value_that_is_known_encoded_alone_goes_where_it_stands_plainly() -> None:
    encoded = base64.b64encode(b"The witness was Delia Meyers.").decode()
    (left,) = _released(
        "Remove names of witnesses", f"Note: {encoded}", ["meyers signed, and left."]
    )
    assert left == "[person] signed, and left."


@each_row(
    "text",
    [
        "It is U.S. v. X, 12 F. 3d 9, and AT&T's form W-2 at 10:30, a.k.a. that, p. 3.",
        "Set x=41 and y=2 in config_b2, then run c3po --fast && echo done",
        "550e8400-e29b-41d4-a716-446655440000 and d41d8cd98f00b204e9800998ecf8427e",
        "1, 2, 3, 4 and 72 85 90 110 104 were marks; 12 of 17 passed <b>well</b>.",
    ],
)
def test_what_only_looks_encoded_stays(text: str) -> None:
    (left,) = _released(
        "Remove names of witnesses", "The witness Delia Meyers saw it.", [text]
    )
    assert left == text
