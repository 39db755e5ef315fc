"""
Corpora made without a model: columns for scale, clusters with text for measuring.

`zipf_corpus` draws ten mentions a document from ten entities a document by Zipf's law.
`generate_clusters` fills sentences with the attributes of a person, in the thesis's
schema and shares of risk (section 5.2), under the surface forms that real documents
mix: orders of names, formats of dates, punctuation of numbers. Both are fixed by their
seed.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from sdrag.linkage.entity_schema import WEIGHTS
from sdrag.linkage.incidence import Incidence

__all__ = ["RISK_SPLIT", "generate_clusters", "zipf_corpus"]

RISK_SPLIT = {"HIGH": 0.4, "MEDIUM": 0.4, "LOW": 0.2}
"""How often each risk is drawn, section 5.2."""

_MENTIONS = 10
_EXPONENT = 1.05
_FORMATS = ("medical_record", "claim_form", "provider_report", "insurance_memo")
_MONTHS = "January February March April May June July August September October".split
_GIVEN = "Aline Boris Carmen Dmitri Esra Farid Greta Hugo Ines Jonas Katrin Luca Mira"
_FAMILY = """Abendroth Baptiste Castellan Drozd Eriksen Farkas Gallo Haddad Ivanov
Juhasz Kovacs Lindahl Moreau Nakamura Ostrowski Pereira Quist Rasmussen Sandoval
Takacs Urbina Verhoeven Wojcik Xanthos Yilmaz Zeller"""
_TOWNS = "Ashmere Birchholm Calder Dunwick Ellsworth Fairholt Greyford Hartwell"
_CONDITIONS = (
    "sarcoidosis|achalasia|myasthenia gravis|cystinuria|acromegaly|narcolepsy|porphyria"
    "|scleroderma|aplastic anaemia|trigeminal neuralgia|amyloidosis|haemochromatosis"
)
_TREATMENTS = (
    "plasma exchange|balloon dilatation|thymectomy|infliximab infusions|phlebotomy"
    "|octreotide injections|a spinal cord stimulator|hydroxychloroquine|a feeding tube"
)
_COURSES = "early|late-onset|familial|relapsing|severe|mild|seronegative|treated"
_DOSES = "every other week|in low dose|in high dose|at home|on the ward|for a year"
_TRADES = "glass blower|organ builder|falconer|bell founder|snake keeper|puppet maker"
_DEEDS = (
    "crossed the lake in a bathtub|won the county quiz twice|survived lightning"
    "|restored the old windmill alone|raised an orphaned otter|walked to the coast"
)
_FILLER = (
    "The form was complete and was registered on the day of receipt.",
    "The next review is planned for the end of the quarter.",
    "Copies were sent to the regional office and to the archive.",
    "No further documents are needed at this stage of the procedure.",
    "The member was told about the right to appeal within four weeks.",
    "Costs are settled according to the schedule in force.",
    "Questions may be directed to the service desk on weekdays.",
)
_GENERAL = (
    "From {month} the desk in {town} opens at {hour} and closes at four. Members are "
    "asked to bring their card and the last letter they were sent. A summary of the "
    "changes hangs in the hall, and large print can be had on request at the counter. "
    "Staff will help with the new form, which replaces {count} older ones."
)


def zipf_corpus(documents: int, seed: int = 0) -> Incidence:
    """
    Draw a corpus.

    Ten mentions a document, by Zipf's law with exponent 1.05 over ten entities for
    each document; relevance uniform from 0.3 to 1, weights drawn from Table 4.1.

    Args:
        documents: How many.
        seed: Fixes the draw.
    """
    draw = np.random.default_rng(seed)
    size = documents * _MENTIONS
    share = np.cumsum(1.0 / np.arange(1, size + 1) ** _EXPONENT)
    entity = np.searchsorted(share / share[-1], draw.random(size))
    relevance = draw.uniform(0.3, 1.0, size)
    weight = draw.choice(np.array(list(WEIGHTS.values())), size)
    used, number = np.unique(entity, return_inverse=True)
    return Incidence.from_columns(
        [str(number) for number in range(documents)],
        [f"{number:09}" for number in range(len(used))],
        np.repeat(np.arange(documents), _MENTIONS),
        number,
        relevance,
        weight[used],
    )


def generate_clusters(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """
    Make clusters in the schema of Listing B.1, with entities and linked pairs.

    Args:
        count: How many.
        seed: Fixes every draw.
    """
    draw = random.Random(seed)
    risks = list(RISK_SPLIT)
    return [
        _Writer(
            draw, f"cluster_{number}", draw.choices(risks, list(RISK_SPLIT.values()))[0]
        ).cluster()
        for number in range(count)
    ]


class _Writer:
    """Writes one cluster."""

    def __init__(self, draw: random.Random, name: str, risk: str) -> None:
        self._draw, self._name, self._risk = draw, name, risk
        self._town = draw.choice(_TOWNS.split())
        self._person = self._attributes()

    def cluster(self) -> dict[str, Any]:
        """Return the cluster as plain data."""
        count = self._draw.choice((4, 5, 6))
        about = count - 1 if self._risk != "LOW" else 2
        documents, held = [], []
        for number in range(about):
            text, entities, kinds = self._document(number)
            documents.append(self._packed(number, text, entities))
            held.append(kinds)
        documents.extend(
            self._packed(number, self._notice(), []) for number in range(about, count)
        )
        pairs = [
            [documents[one]["id"], documents[two]["id"]]
            for one in range(about)
            for two in range(one + 1, about)
            if (held[one] & held[two]) - {"LOCATION", "DEMOGRAPHIC"}
        ]
        meta = {
            "category": "cluster",
            "cluster_id": self._name,
            "cluster_risk": self._risk,
            "content_summary": f"A {self._risk} risk person in {self._town}",
            "person": {"entities": self._listed(documents)},
            "questions": self._questions(documents, about),
            "linked_pairs": pairs if self._risk != "LOW" else [],
        }
        return {"documents": documents, "metadata": meta}

    def _attributes(self) -> dict[str, tuple[str, ...]]:
        """Draw a person: type to the forms under which it is written."""
        draw = self._draw
        given, family = draw.choice(_GIVEN.split()), draw.choice(_FAMILY.split())
        doctor = draw.choice(_FAMILY.split())
        day, month, year = (
            draw.randint(13, 28),
            draw.randint(1, 10),
            draw.randint(2018, 2024),
        )
        digits = str(draw.randint(100_000_000, 999_999_999))
        person = {
            "MEDICAL_CONDITION": (_joined(draw, _COURSES, _CONDITIONS),),
            "TREATMENT": (_joined(draw, _TREATMENTS, _DOSES),),
            "EVENT_DATE": _dates(day, month, year),
            "LOCATION": (self._town,),
        }
        if self._risk == "LOW":
            return person
        groups = (digits[:3], digits[3:6], digits[6:])
        person["PATIENT_ID"] = ("-".join(groups), " ".join(groups), digits)
        trade, deed = draw.choice(_TRADES.split("|")), draw.choice(_DEEDS.split("|"))
        person["UNIQUE_FACT"] = (f"a {trade} of {self._town} who {deed}",)
        if self._risk == "HIGH":
            person["NAME"] = (f"{given} {family}", f"{family}, {given[0]}.")
            person["PROVIDER"] = (f"Dr. {given[0]}. {doctor}", f"Dr {doctor}")
        return person

    def _document(self, number: int) -> tuple[str, list[list[Any]], set[str]]:
        """Write a document about the person with some of the attributes."""
        share = {"HIGH": 0.75, "MEDIUM": 0.55, "LOW": 0.4}[self._risk]
        names = [name for name in self._person if self._draw.random() < share]
        names = names or ["MEDICAL_CONDITION"]
        sentences, entities = [], []
        for name in names:
            form = self._draw.choice(self._person[name])
            relevance = round(self._draw.uniform(0.5, 1.0), 2)
            sentences.append(_SENTENCES[name].format(form))
            entities.append([form, "", name, relevance])
        filler = self._draw.sample(_FILLER, len(_FILLER))
        while len(" ".join(sentences).split()) < 45:
            sentences.append(filler.pop())
        return f"Note {number + 1}. " + " ".join(sentences), entities, set(names)

    def _notice(self) -> str:
        return _GENERAL.format(
            month=self._draw.choice(_MONTHS()),
            town=self._town,
            hour=self._draw.choice(("seven", "eight", "nine")),
            count=self._draw.choice(("two", "three", "four")),
        )

    def _packed(
        self, number: int, text: str, entities: list[list[Any]]
    ) -> dict[str, Any]:
        kind = self._draw.choice(_FORMATS) if entities else "policy_document"
        return {
            "id": f"{self._name}_doc{number}",
            "content": text,
            "metadata": {"format": kind},
            "entities": entities,
        }

    def _listed(self, documents: list[dict[str, Any]]) -> list[list[str]]:
        """Return each attribute that is in a document, under its first form."""
        seen: dict[str, str] = {}
        for document in documents:
            for form, _, type_, _ in document["entities"]:
                seen.setdefault(type_, form)
        return [[form, type_] for type_, form in seen.items()]

    def _questions(self, documents: list[dict[str, Any]], about: int) -> list[Any]:
        """Ask one question of each source and type."""
        one, two = documents[0], documents[1]
        last = documents[-1]
        first_form, second_form = one["entities"][0][0], two["entities"][0][0]
        hour = next(
            w for w in last["content"].split() if w in {"seven", "eight", "nine"}
        )
        return [
            _question("What stands in note 1?", first_form, [one], "specific"),
            _question(
                "What stands in notes 1 and 2?",
                f"{first_form}; {second_form}",
                [one, two],
                "specific",
            ),
            _question(f"When does {self._town} open?", f"at {hour}", [last], "general"),
            _question(
                f"When does {self._town} open and close, and which note is first?",
                f"{hour} and four; note 1",
                [last, documents[min(about, 1) - 1]],
                "general",
            ),
        ]


_SENTENCES = {
    "NAME": "The member is {}.",
    "PATIENT_ID": "The record bears the number {}.",
    "MEDICAL_CONDITION": "The diagnosis of {} is confirmed.",
    "TREATMENT": "The plan has approved {} for the coming year.",
    "EVENT_DATE": "The visit took place on {}.",
    "LOCATION": "The file is kept in {}.",
    "UNIQUE_FACT": "The neighbours know the member as {}.",
    "PROVIDER": "The letter is signed by {}.",
}


def _dates(day: int, month: int, year: int) -> tuple[str, ...]:
    """Return a date as it is written in three places."""
    return (
        f"{day} {_MONTHS()[month - 1]} {year}",
        f"{day:02}/{month:02}/{year}",
        f"{year}-{month:02}-{day:02}",
    )


def _joined(draw: random.Random, first: str, second: str) -> str:
    """Return one of the first words before one of the second."""
    return f"{draw.choice(first.split('|'))} {draw.choice(second.split('|'))}"


def _question(
    text: str, answer: str, sources: list[dict[str, Any]], type_: str
) -> dict[str, Any]:
    ids = [source["id"] for source in sources]
    return {"q": text, "a": answer, "sources": ids, "type": type_}
