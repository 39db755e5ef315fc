"""A name goes in every form in which people write it, and no everyday word with it."""

from __future__ import annotations

from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.framework import local_embeddings
from sdrag.pipeline import Engine, Request, disclose
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Passage

from ..support.tables import each_row

PERFORMER = PortRunner(Ports(embed=local_embeddings()))


def _released(constraint: str, *passages: Passage) -> str:
    """Return all that leaves of some passages: texts, ids and metadata."""
    policy = {"constraints": [constraint], "metadata": {"allow": ["author"]}}
    seen = run(disclose(passages, Request(""), Engine(policy)), PERFORMER)
    return "\n".join(
        f"{passage.id} {passage.text} {passage.metadata.get('author', '')}"
        for passage in seen.passages
    )


# Given name, surname and, where it is written otherwise too, the other spelling.
NAMES = {
    "English": ("Theresa", "Whitcombe"),
    "English, a word": ("Anna", "White"),
    "German": ("Jürgen", "Müller"),
    "French": ("Élodie", "Lefèvre"),
    "Spanish": ("Lucía", "Ibáñez"),
    "Italian": ("Giulia", "Bianchi"),
    "Polish": ("Łukasz", "Wójcik"),
    "Turkish": ("Ayşe", "Yıldız"),
    "Chinese": ("Wei", "Zhang"),
    "Vietnamese": ("Minh", "Nguyễn"),
    "Russian": ("Olga", "Sorokina"),
    "Arabic": ("Layla", "Haddad"),
}
CONTEXTS = {
    "title": "Judge {first} {last} took the envelope.",
    "surname under a title": "Then Dr. {last} took it.",
    "surname alone": "Later {last} signed, and the clerk left.",
    "at the start": "{last} signed it.",
    "capitals": "{FIRST} {LAST} TOOK THE ENVELOPE.",
    "surname in capitals": "STATEMENT BY {LAST} OF TODAY",
    "lower case": "{first_lower} {last_lower} took the envelope",
    "surname in lower case": "then {last_lower} took the envelope",
    "possessive": "It was {last}'s envelope.",
    "typographic possessive": "It was {last}\u2019s envelope.",
    "reversed": "Present: {last}, {first}.",
    "initial": "Signed by {initial}. {last} today.",
    "e-mail": "Write to {plain_first}.{plain_last}@example.org today.",
    "e-mail without a point": "Write to {plain_last}@example.org today.",
    "e-mail run together": "Write to {plain_first}{plain_last}@example.org today.",
    "id": "See the file {plain_last}_{plain_first}_2291 for more.",
    "hashtag": "Posted under #{plain_first_cap}{plain_last_cap} at noon.",
    "patient": "Patient: Mayor {first} {last}",
    "hyphen": "The {last}-led group met.",
    "no-break space": "It was {first}\u00a0{last} again.",
    "invisible": "It was {first} {split} again.",
}


def _forms(first: str, last: str) -> dict[str, str]:
    plain_first, plain_last = fold_text(first), fold_text(last)
    return {
        "first": first,
        "last": last,
        "FIRST": first.upper(),
        "LAST": last.upper(),
        "first_lower": first.lower(),
        "last_lower": last.lower(),
        "initial": first[0],
        "plain_first": plain_first,
        "plain_last": plain_last,
        "plain_first_cap": plain_first.capitalize(),
        "plain_last_cap": plain_last.capitalize(),
        "split": f"{last[:2]}\u200b{last[2:]}",
    }


@each_row("language", NAMES)
def test_a_named_person_goes_in_every_context(language) -> None:
    """Nothing of the name is left, in text, id and metadata, in whatever form."""
    first, last = NAMES[language]
    forms = _forms(first, last)
    passages = [
        Passage(
            f"{fold_text(f'{first}-{last}')}-{number}",
            text.format_map(forms),
            {"author": f"{first} {last}"},
        )
        for number, text in enumerate(CONTEXTS.values())
    ]

    left = _released(f'Do not mention "{first} {last}"', *passages).split("\n")

    assert len(left) == len(CONTEXTS)
    named = [seen for seen in left if fold_text(last) in fold_text(seen)]
    assert not named
    assert all("[" in seen for seen in left)


@each_row(
    "text, left",
    [
        ("Ruth Calder came. Calder left.", "[name] came. [name] left."),
        ("R. Calder and CALDER, RUTH", "[name] and [name]"),
        ("Ruth \u200b Calder", "[name]"),
        ("_Calder_ and Calder's", "[name] and [name]'s"),
        ("私はCalderです", "私は[name]です"),
        ("Ruth-Calder and RuthCalder", "[name] and [name]"),
        ("Caldera stays", "Caldera stays"),
    ],
)
def test_a_form_goes_whole_and_nothing_else(text, left) -> None:
    """Given name, initial and surname together, and no part of another word."""
    rule = 'Do not mention "Ruth Calder"'

    assert _released(rule, Passage("p", text)).strip() == f"p {left}"


# Of the commonest of the United States census of 2010 (public domain).
SURNAMES = """
    Smith Williams Jones Miller Rodriguez Lopez Taylor Moore Lee White Young Allen King
    Wright Nguyen Hill Green Baker Hall Carter
""".split()  # noqa: SIM905 -- a list of names is read as one


def test_a_surname_goes_once_the_document_has_told_whose_it_is() -> None:
    """Also where it is an everyday word, opens a sentence, or stands in capitals."""
    left = {
        name: _released(
            "Remove names of witnesses",
            *(
                Passage(f"{n}", text, document_id="d")
                for n, text in enumerate(
                    (
                        f"The witness, Helena {name}, came at nine.",
                        f"{name} saw the van. Later {name} left.",
                        f"STATEMENT OF {name.upper()}",
                        f"It was {name}'s van, said {name}.",
                    )
                )
            ),
        )
        for name in SURNAMES
    }

    assert not [name for name, text in left.items() if name.lower() in text.lower()]


INITIALS = [
    ("Ms Oona Farrell", "a cup of tea", "A CUP OF TEA AND A BUN"),
    ("Mr Ivan Sorel", "it is late", "IS IT LATE TODAY"),
    ("Dr Ada Mason", "I am here", "I AM HERE FOR GOOD"),
    ("Ms Ilse Tamm", "it rained", "IT RAINED ALL DAY"),
    ("Mr Noel Odum", "no tea", "NO TEA AND NO BUN"),
    ("Mr Thomas Henry Evans", "the tea", "THE TEA AND THE BUN"),
    ("Ms Anna Lena Lund", "all of it", "ALL OF IT"),
]


@each_row("name, lower, shouted", INITIALS)
def test_initials_take_no_everyday_word_along(name, lower, shouted) -> None:
    """Neither in the document that introduces the person nor in another."""
    passages = [
        Passage("1", f"It was {name} who came. She had {lower}.", document_id="d"),
        Passage("2", shouted, document_id="d"),
        Passage("3", f"{lower} for two, then {lower}", document_id="e"),
    ]

    left = _released("Remove names of witnesses", *passages)

    assert lower in left
    assert shouted in left
    assert left.count(lower) == 3


@each_row(
    "name, text, form, shown",
    [
        ("Ms Oona Farrell", "Later O.F. signed a cup of tea away.", "O.F.", False),
        ("Ms Oona Farrell", "Later O. F. signed a cup of tea away.", "O. F.", False),
        ("Ms Oona Farrell", "Later OF signed a cup of tea away.", "OF", True),
        ("Mr Kwabena Frimpong", "Later KF signed a cup of tea away.", "KF", False),
    ],
)
def test_initials_go_as_initials(name, text, form, shown) -> None:
    """In their own case and punctuation, and never as an everyday word."""
    passage = Passage("1", f"It was {name} who came. {text}")

    left = _released("Remove names of witnesses", passage)

    assert (form in left) is shown
    assert "cup of tea" in left


def test_a_short_surname_goes_in_its_own_case() -> None:
    """Two letters are a name by their capital."""
    left = _released(
        "Do not mention Wei Li", Passage("1", "Then Li left. LI came back.")
    )

    assert "Li" not in left
    assert "LI" not in left
