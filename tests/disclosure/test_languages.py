"""A passage in a language that no rule reads is withheld; English never is for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.suites.scripted.exact import ExactModel
from sdrag.detectors.language import find_language
from sdrag.effects.steps import run
from sdrag.framework import Model
from sdrag.pipeline import Engine, Request, disclose
from sdrag.vocabulary import Passage

from ..support.scripted import Scripted
from ..support.tables import each_row

ROOT = Path(__file__).parents[2]

FOREIGN = {
    "ar": "كان محمد علي وسارة حسن في المستشفى يوم الاثنين الماضي.",
    "zh": "王小明和李娜上个月没有付房租，房东已经写信给他们。",
    "ja": "山田さんは先月退職しました。給料は三十万円でした。",
    "ru": "Иван Петров болеет астмой и не выходит на работу с мая.",
    "el": "Ο Γιώργος Παπαδόπουλος χρωστάει τρία ενοίκια στον ιδιοκτήτη.",
    "he": "דוד כהן ושרה לוי גרים ברחוב הרצל בתל אביב מאז השנה שעברה.",
    "hi": "राजेश कुमार को मधुमेह है और वह दवा लेता है।",
    "de": "Die Patientin Frau Lund leidet seit Jahren an Asthma und kann kaum gehen.",
    "fr": "Madame Lefèvre souffre d'une dépression depuis son divorce l'an dernier.",
    "es": "El señor García debe tres meses de alquiler y no contesta las cartas.",
    "it": "La signora Rossi ha perso il lavoro a marzo e non paga più il mutuo.",
    "nl": "De heer Jansen betaalt zijn huur te laat en heeft ruzie met de buren.",
    "pl": "Pan Kowalski nie zapłacił czynszu za maj i mieszka teraz u siostry.",
    "sv": "Fru Lindqvist har varit sjukskriven sedan i våras och vill inte komma.",
}
ENGLISH = (
    "The boiler at Müllerstraße 14 was mended by Jürgen Weiß and Søren Kjær.",
    "Dr. Nguyễn Thị Hương met Siobhán Ó Dálaigh and Łukasz Wójcik in Kraków.",
    "Surname: Yamamoto\nFirst name: Haruki\nTown: Leeds",
    "2024-05-03T10:11:08 ERROR [pool-2] com.acme.svc - conn reset id=1ef8 uid=44",
    "def rotate(key: str) -> str:\n    return base64.b64encode(key.encode()).decode()",
    '{"tabId": 771204518, "usr": "tmori", "lang": "de", "ok": true}',
    "svc auth ctx rpc eof fd 12 req 3f2b8c1e-9a47-4d0e-8f11-2c9be1a7d455",
    "kubelet cni veth bridge mtu 1450 pod 3f2b8c1e-9a47-4d0e-8f11-2c9be1a7d455",
    "RIGHT ATRIUM: Moderate RA elongation. MITRAL VALVE: Normal. CXR clear, WCC 15.2.",
    'She said "Guten Morgen, wie geht es Ihnen" and left the room at once.',
    "Pt c/o SOB x 4/7, hx T2DM, AF. Rx apixaban bd, metformin. TTO, f/u 6/52.",
    "qty;art;eur\n12;bolt;3,50\n7;nut;1,20",
    "lol omg u gotta c this haha its sooo gud",
    "The word \u043f\u0440\u0438\u0432\u0435\u0442 means hello in Russian.",
)
NAMES = {"constraints": ["Remove names of people"]}
MAILS = {"constraints": ["Hide e-mail addresses"]}


def release(text, policy, reply=None, metadata=None):
    engine = Engine(policy, llm=Model(str, "m") if reply else None)
    runner = Scripted(complete=reply) if reply else Scripted()
    passages = [Passage("p", text, metadata or {}, document_id="d")]
    return run(disclose(passages, Request("q"), engine), runner)


@each_row("language", FOREIGN)
def test_another_language_is_withheld_with_its_reason(language):
    """Alone and with two lines of English around it."""
    uuid = "3f2b8c1e-9a47-4d0e-8f11-2c9be1a7d455"
    for text in (
        FOREIGN[language],
        f"{FOREIGN[language]} {uuid}",
        f"Note:\n{FOREIGN[language] * 2}\nBest wishes",
    ):
        released = release(text, NAMES)

        assert find_language(text) == language
        assert released.passages == ()
        assert [decision.reason for decision in released.decisions] == [
            "other-language"
        ]


@each_row("text", ENGLISH)
def test_english_is_never_taken_for_another_language(text):
    """Whatever names, codes and abbreviations it holds."""
    assert find_language(text) == "en"
    assert len(release(text, MAILS).passages) == 1


def test_structured_identifiers_are_found_in_every_language():
    """So a policy that asks for nothing else withholds no passage."""
    for text in FOREIGN.values():
        (passage,) = release(f"{text} a.lund@example.org", MAILS).passages

        assert "example" not in passage.text


@pytest.mark.parametrize(("other", "count"), [("de", 1), ("fr", 0)])
def test_a_policy_can_expect_other_languages(other, count):
    released = release(FOREIGN["de"], {**NAMES, "languages": ["en", other]})

    assert len(released.passages) == count


def test_metadata_in_another_language_is_left_out():
    policy = {**NAMES, "metadata": {"allow": ["title", "place"]}}
    metadata = {"title": FOREIGN["ru"], "place": "ward"}

    (passage,) = release("It rained.", policy, metadata=metadata).passages

    assert "title" not in passage.metadata
    assert passage.metadata["place"] == "ward"


def test_a_model_reads_every_language():
    """What it quotes goes, and the rest stays."""
    model = ExactModel({NAMES["constraints"][0]: ["Frau Lund"]})

    (passage,) = release(FOREIGN["de"], NAMES, model).passages

    assert "Lund" not in passage.text
    assert "Asthma und kann kaum gehen" in passage.text
