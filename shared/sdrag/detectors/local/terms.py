"""Words in lower case that say something of a person: trades, kin, faith, illness."""

from __future__ import annotations

from collections.abc import Iterator

from sdrag.detectors.local.found import Found
from sdrag.detectors.local.lexicon import listed
from sdrag.detectors.local.runs import is_common
from sdrag.detectors.local.tables import common_words
from sdrag.detectors.local.tokens import Tokens

__all__ = ["terms"]


def _table(**classes: str) -> dict[str, str]:
    return {word: type_ for type_, words in classes.items() for word in words.split()}


_TERMS = _table(
    JOB_TITLE="""
        accountant actor actress advocate agent analyst architect artist assistant
        attorney auditor baker banker barber barrister bookkeeper builder butcher
        caretaker carpenter cashier chauffeur chef chemist cleaner clerk coach
        conductor consultant cook councillor courier dancer dentist developer
        dietitian director diver doctor driver economist editor electrician engineer
        farmer firefighter fireman fireman fisherman gardener guard hairdresser
        housekeeper inspector interpreter janitor jeweller journalist judge lawyer
        lecturer librarian lifeguard locksmith magistrate manager mason mechanic
        midwife miner minister muhtar musician notary nurse officer optician painter
        paramedic pawnbroker pharmacist photographer physician physiotherapist
        pianist pilot plumber policeman policewoman porter postman priest principal
        prosecutor psychiatrist psychologist publisher receptionist registrar
        reporter researcher sailor salesman salesperson schoolteacher scientist
        secretary shepherd shopkeeper solicitor surgeon surveyor tailor teacher
        technician therapist trader translator treasurer tutor typist undertaker vet
        veterinarian waiter waitress warden welder writer administrator editor
        practitioner conscript soldier student watchman operator dancer worker owner
        proprietor professor trader landowner shareholder labourer
        """,
    RELATION="""
        married divorced widowed widow widower husband wife hubby spouse fiance
        fiancee partner mother father mum mom dad parents son sons daughter
        daughters brother brothers sister sisters aunt uncle cousin cousins nephew
        niece grandson granddaughter grandmother grandfather grandparents
        grandchildren stepfather stepmother stepson divorce marriage twins kids
        children
        """,
    CONDITION="""
        cancer tumour tumor diabetes asthma epilepsy depression anxiety dementia
        hepatitis tuberculosis pneumonia stroke leukaemia leukemia anaemia anemia
        arthritis schizophrenia psychosis bipolar autism hiv aids hypertension
        migraine fracture disability disabled pregnant pregnancy abortion
        miscarriage obesity allergy allergies insomnia ptsd infection sepsis
        endocarditis dizziness illness
        """,
    RELIGION="""
        muslim christian jewish catholic protestant orthodox hindu sikh buddhist
        atheist islam christianity judaism
        """,
)


_ARTICLES = frozenset(("a", "an", "as", "former", "retired", "of", "by"))
_BLOCKED = listed("""
        the and or to in on at for from with that who which was were is are had has
        have his her their its this
        """)
_FAMILY = frozenset(
    ("married", "divorced", "widowed", "divorce", "pregnant", "disabled")
)
_OFFICIAL = listed("""
        judge judges prosecutor prosecutors agent agents minister ministers
        magistrate magistrates inspector inspectors officer officers secretary
        registrar
        """)
_REACH = 3
_SHORT = 4
_EVERYDAY = 500


def terms(tokens: Tokens) -> Iterator[Found]:
    """Yield the terms; what is common to many people has a low confidence."""
    common = common_words()
    for index, word in enumerate(tokens.words):
        if common.get(word, _EVERYDAY) < _EVERYDAY and word not in _TERMS:
            continue
        type_ = _TERMS.get(word) or _TERMS.get(word.lower())
        if type_ is None and word.endswith("s"):
            type_ = _TERMS.get(word[:-1])
        if type_ == "JOB_TITLE":
            yield _job(tokens, index)
        elif type_ is None:
            if word.islower() and len(word) > _SHORT and _foreign(word):
                yield Found(
                    tokens.starts[index], tokens.ends[index], "TERM", 0.5, "unknown"
                )
        else:
            sure = word.lower() in _FAMILY or type_ in {"CONDITION", "RELIGION"}
            yield Found(
                tokens.starts[index],
                tokens.ends[index],
                type_,
                0.55 if sure else 0.4,
                "term",
            )


def _foreign(word: str) -> bool:
    """Say whether English has no such word, nor one it is formed from."""
    if is_common(word):
        return False
    stems = (word[:-1], word[:-2], word[:-3], word[:-3] + "e", word[:-3] + "y")
    return not any(stem in common_words() for stem in (*stems, word[2:], word[3:]))


def _job(tokens: Tokens, index: int) -> Found:
    """Take the words along that qualify a trade: a primary school teacher."""
    words = tokens.words
    first = index
    for place in range(index - 1, max(-1, index - 2 - _REACH), -1):
        if tokens.gap(place + 1) not in (" ", "-"):
            break
        if words[place] in _ARTICLES:
            sure = words[index].lower() not in _OFFICIAL
            return Found(
                tokens.starts[first],
                tokens.ends[index],
                "JOB_TITLE",
                0.6 if sure else 0.45,
                "term",
            )
        if words[place] in _BLOCKED:
            break
        first = place
    return Found(
        tokens.starts[index],
        tokens.ends[index],
        "JOB_TITLE",
        0.5 if words[index].lower() not in _OFFICIAL else 0.4,
        "term",
    )
