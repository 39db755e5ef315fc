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
        "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=",
        "sha256-n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=",
    ],
    Technical.TIMESTAMP: [
        "2024-05-03",
        "2024-05-03T10:11:12Z",
        "2024-05-03T10:11:12.123456+02:00",
        "2024-05-03 10:11",
        "20240503T101112Z",
        "2024/05/03",
        "03.05.2024",
        "05/03/2024, 10:11 PM",
        "2024-W18-5",
        "2024-124",
        "Fri, 03 May 2024 10:11:12 GMT",
        "3 May 2024",
    ],
    Technical.URL: [
        "https://example.org",
        "https://example.org/docs/annual-report-2024.pdf",
        "https://example.org/docs?id=12&page=3#section-2",
        f"https://example.org/docs/{UUID}",
        "https://en.wikipedia.org/wiki/Data_protection",
        "http://localhost:8000/index.html",
        "s3://bucket/corpus/2024/03/file-12.pdf",
        "file:///srv/data/docs/handbook.pdf",
        "https://example.org/docs%2Fhandbook.pdf",
    ],
    Technical.PATH: [
        "handbook.pdf",
        "/srv/data/corpus/chunk_0001.txt",
        "/srv/corpora/acme/handbook.pdf",
        "./data/index.json",
        "../docs/index.md#L12",
        "~/docs/notes.txt",
        "docs/page-12",
        "C:\\data\\docs\\report_2024.docx",
        "C:\\temp\\reports\\index.docx",
    ],
    Technical.ID: [
        "chunk-12",
        "doc_0034#7",
        "node-abc123",
        "file-7",
        "chunk_0034_part_2",
        "507f1f77bcf86cd799439011",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "chunk_id",
        "uuid",
    ],
    Technical.CODE: ["XK-44713", "INV-2024-0034"],
}
PROSE = [
    "",
    "12",
    "4470123",
    "Annual report",
    "handbook",
    "and/or",
    "24/7",
    "12/B",
    "AK-47",
    "20mg",
    "chunk-20mg",
    "dose-20-mg",
    "EUR88500",
    "88500-dollars.pdf",
    "Karlsson.pdf",
    "/srv/data/meyers/file.txt",
    "/srv/London/file.txt",
    "AnnLee7",
    "annlee7",
    "meyers-12",
    "https://meyers.example.org/docs",
    "https://example.org/docs?user=ann",
    "https://example.org/grey-van",
    "/data/Ann%20Lee.pdf",
    "/data/\u0410nn.pdf",
    "chunk-\uff11\uff12",
    "butler/countess",
    "/butler/countess/quay/van.pdf",
    "DerZeugeIstDerNachbar7",
    base64.b64encode(b"Ann Lee was the witness").decode(),
    b"The witness is A".hex(),
    str(uuid.UUID(bytes=b"The witness is A")),
    "https://example.org/a b",
    "https://example.org/" + 1000 * "docs/",
]
SENTENCES = [
    "Ann Lee was the witness",
    "The witness was the neighbour",
    "Meyers told the police",
    "Butler killed countess",
    "The patient suffers from diabetes",
    "Meyers is ill",
    "Karlsson stole 500 dollars in 1984",
    "Grey van left quay",
    "Witness lives at 12 Harbour Street",
    "He resigned",
    "Der Zeuge ist der Nachbar",
    "Le temoin habite ici",
    "Doctor gave morphine",
    "Patient takes 20 mg morphine",
    "Jonathan Meyers",
    "Anna Karlsson",
]
DRESSES = {
    "path": lambda words: f"/{'/'.join(words)}/",
    "path of a file": lambda words: f"/srv/data/{'/'.join(words)}.pdf",
    "relative path": lambda words: f"{'/'.join(words)}.txt",
    "path of Windows": lambda words: "C:\\data\\" + "\\".join(words),
    "file": lambda words: f"{'_'.join(words)}.pdf",
    "file in camel case": lambda words: f"{''.join(map(str.title, words))}.pdf",
    "file without marks": lambda words: f"{''.join(words).lower()}.pdf",
    "slug": lambda words: f"https://example.org/{'-'.join(words)}",
    "URL": lambda words: f"https://example.org/{'/'.join(words)}",
    "query": lambda words: f"https://example.org/?q={'+'.join(words)}",
    "queries": lambda words: f"https://example.org/?{'&'.join(words)}",
    "encoded query": lambda words: f"https://example.org/?q={'%20'.join(words)}",
    "host": lambda words: f"https://{'.'.join(words)}.example.org/docs",
    "id": lambda words: f"doc-{'-'.join(words)}-12",
    "id of capitals": lambda words: f"CHUNK-{'-'.join(words).upper()}-12",
    "id without marks": lambda words: f"chunk-{''.join(words).lower()}-12",
    "id in camel case": lambda words: f"{''.join(map(str.title, words))}7",
    "id with dots": lambda words: f"12.{'.'.join(words)}",
    "labelled id": lambda words: f"id:{'-'.join(words)}-7",
    "digest": lambda words: f"sha256-{''.join(map(str.title, words)):A<42}1=",
}
ASKS = [
    ("Hide all codes and identifiers", {Technical.UUID, Technical.HASH, Technical.ID}),
    ("Hide chunk numbers and ids", {Technical.UUID, Technical.HASH, Technical.ID}),
    ("Hide all dates and times", {Technical.TIMESTAMP}),
    ("Hide when it happened", {Technical.TIMESTAMP}),
    ("Hide links and web sites", {Technical.URL}),
    ("Hide file paths", {Technical.PATH}),
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


@pytest.mark.parametrize("value", PROSE, ids=range(len(PROSE)))
def test_what_is_in_doubt_is_prose(value):
    """Names, quantities, sentences, encoded text, other scripts, bare numbers."""
    assert technical(value) is None


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_no_sentence_becomes_technical_by_its_dress(sentence, dress):
    """A path, a URL or an id whose parts are words of a sentence is prose."""
    assert technical(DRESSES[dress](sentence.split())) is None


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
    known = set(Technical) - {Technical.CODE}

    whole = {
        kind for kind in known if asked(KINDS[kind][0], kind, parsed) is Extent.WHOLE
    }

    assert whole == kinds


@pytest.mark.parametrize(
    ("text", "value", "much"),
    [
        ("Remove identifying information", "chunk-12", Extent.PARTS),
        ("Nothing may be disclosed", UUID, Extent.PARTS),
        ("Hide all dates", "/srv/data/2024/file.txt", Extent.PARTS),
        ("Hide all dates", "/srv/data/file.txt", Extent.NOTHING),
        ("Hide bank account numbers", "https://example.org/44718812", Extent.PARTS),
        ("Hide bank account numbers", "https://example.org/4471", Extent.NOTHING),
        ("Hide bank account numbers", "507f1f77bcf86cd799439011", Extent.NOTHING),
        ("Hide bank account numbers", "XK-44713", Extent.PARTS),
        ("Hide home addresses", "XK-44713", Extent.PARTS),
        ("Hide how the suspect fled", "XK-44713", Extent.PARTS),
        ("Hide email addresses", "XK-44713", Extent.NOTHING),
        ("Remove the names of witnesses", "XK-44713", Extent.NOTHING),
        ("Hide social security numbers", "/srv/data/078-05-1120.txt", Extent.PARTS),
        ("Hide phone numbers", "https://example.org/+46700555123/docs", Extent.WHOLE),
        ("Hide phone numbers", "https://example.org/docs?tel=555123", Extent.WHOLE),
        ("Hide phone numbers", "/srv/data/0700-555-12-34/file.txt", Extent.WHOLE),
        ("Hide phone numbers", "chunk-212-555-0123", Extent.WHOLE),
        ("Hide phone numbers", "chunk-2125550123", Extent.WHOLE),
        ("Hide phone numbers", "XK-07005551234", Extent.WHOLE),
        ("Hide phone numbers", "chunk_00000012", Extent.NOTHING),
        ("Hide phone numbers", "/srv/data/2024/05/03/file.txt", Extent.NOTHING),
        ("Hide phone numbers", "/srv/data/20240503101112.txt", Extent.NOTHING),
        ("Hide phone numbers", UUID, Extent.NOTHING),
        ("Hide phone numbers", "507f1f77bcf86cd799439011", Extent.NOTHING),
        ("Hide email addresses", "https://example.org/ab%40example.org", Extent.WHOLE),
        ("Hide email addresses", "/srv/data/ab@example.org/file.txt", Extent.WHOLE),
        ("Hide GPS positions", "https://example.org/59.3293,18.0686", Extent.WHOLE),
        ("Hide chunk numbers", "chunk-12", Extent.WHOLE),
        ("Hide chunk numbers", "node-abc123", Extent.NOTHING),
        ("Hide the ages of witnesses", "1984-05-03", Extent.PARTS),
    ],
)
def test_what_a_value_may_hold_is_looked_for_in_it(text, value, much):
    """A short code may be a number plate, and a path may hold a date."""
    kind = technical(value)

    assert kind is not None
    assert asked(value, kind, parse(Constraint("c", text))) is much
