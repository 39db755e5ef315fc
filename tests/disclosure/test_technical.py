"""Which values are technical, and that no prose becomes one by its dress."""

from __future__ import annotations

import base64
import hashlib
import random
import uuid

import pytest

from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.technical import Technical, technical
from sdrag.disclosure.technical_findings import Extent, asked
from sdrag.vocabulary import Constraint

UUID = "7f9c24e8-3b12-4c55-9f2e-1d0f6a7b8c9d"
KINDS = {
    Technical.UUID: [
        UUID,
        UUID.upper(),
        f"urn:uuid:{UUID}",
        f"{{{UUID}}}",
        "00000000-0000-0000-0000-000000000000",
    ],
    Technical.HASH: [
        "d41d8cd98f00b204e9800998ecf8427e",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
    Technical.TIMESTAMP: [
        "2024-05-03",
        "2024-05-03T10:11:12Z",
        "2024-05-03T10:11:12.123456+02:00",
        "2024-05-03 10:11",
    ],
}
READ = [
    "",
    "12",
    "4470123",
    "Annual report",
    "handbook",
    "20240503",
    "03.05.2024",
    "2024-13-45",
    "Fri, 03 May 2024 10:11:12 GMT",
    "2024-05-03 Ann",
    "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=",
    "507f1f77bcf86cd799439011",
    "41111111-1111-1111-1111-111111111111",
    "07005551234007005551234007005551",
    "https://example.org/docs/annual-report-2024.pdf",
    "https://example.org/docs?user=ann",
    "s3://bucket/corpus/2024/03/file-12.pdf",
    "/srv/data/corpus/chunk_0001.txt",
    "handbook.pdf",
    "Karlsson.pdf",
    "chunk-12",
    "meyers-12",
    "AnnLee7",
    "INV-2024-0034",
    base64.b64encode(b"Ann Lee was the witness").decode(),
    b"The witness is A".hex(),
    str(uuid.UUID(bytes=b"The witness is A")),
    "\uff12024-05-03",
]
ASKS = [
    ("Hide all codes and identifiers", {Technical.UUID, Technical.HASH}),
    ("Hide chunk numbers and ids", {Technical.UUID, Technical.HASH}),
    ("Hide all dates and times", {Technical.TIMESTAMP}),
    ("Hide when it happened", {Technical.TIMESTAMP}),
    ("Hide links and web sites", set()),
    ("Hide email addresses", set()),
    ("Hide phone numbers", set()),
    ("Remove the names of witnesses", set()),
    ("Hide nationalities", set()),
    ("Hide bank account numbers", set()),
    ("Hide where the witness lives", set()),
    ("Hide how the safe was opened", set()),
]


@pytest.mark.parametrize(
    ("value", "kind"),
    [(value, kind) for kind, values in KINDS.items() for value in values],
)
def test_a_technical_value_is_known_by_its_form(value, kind):
    """Each of a kind."""
    assert technical(value) is kind


@pytest.mark.parametrize("value", READ, ids=range(len(READ)))
def test_every_other_value_is_read(value):
    """Names, numbers, URLs, paths, ids, what decodes to text, other digits."""
    assert technical(value) is None


def test_random_values_are_technical():
    """No digest or UUID is prose because letters in it happen to be a word."""
    draw = random.Random(7)
    raw = [draw.randbytes(32) for _ in range(300)]

    assert {technical(str(uuid.UUID(bytes=one[:16]))) for one in raw} == {
        Technical.UUID
    }
    assert {technical(hashlib.sha256(one).hexdigest()) for one in raw} == {
        Technical.HASH
    }


@pytest.mark.parametrize(("text", "kinds"), ASKS)
def test_a_value_goes_whole_where_a_constraint_asks_for_its_kind(text, kinds):
    """And only there."""
    parsed = parse(Constraint("c", text))

    assert {kind for kind in Technical if asked(kind, parsed) is Extent.WHOLE} == kinds


@pytest.mark.parametrize(
    ("text", "kind", "much"),
    [
        ("Remove identifying information", Technical.UUID, Extent.PARTS),
        ("Nothing may be disclosed", Technical.UUID, Extent.PARTS),
        ("Hide the ages of witnesses", Technical.TIMESTAMP, Extent.PARTS),
        ("Hide the ages of witnesses", Technical.HASH, Extent.NOTHING),
        ("Hide phone numbers", Technical.UUID, Extent.NOTHING),
    ],
)
def test_a_constraint_on_anything_takes_what_is_found_in_a_value(text, kind, much):
    """One on identifying details too, and one on ages of a date."""
    assert asked(kind, parse(Constraint("c", text))) is much
