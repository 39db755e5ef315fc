"""Words for peoples and what belongs to them; facts, so lists."""

from __future__ import annotations

from collections.abc import Iterator

from sdrag.detectors.local import tables
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.lexicon import listed
from sdrag.detectors.local.words import Tokens

__all__ = ["NATIONALITIES", "peoples"]

# What the derived list lacks, because the word is a name or an English word too.
_MORE = listed("""
        Afghan African Alevi Arab Arabic Catholic Christian Communist Croat Dane
        Democrat French German Irish Ivorian Jew Jewish Kosovar Kyrgyz Malagasy
        Montenegrin Orthodox Pole Polish Protestant Republican Roma Scot Serb Shia
        Sikh Socialist Sunni Welsh
        """)
NATIONALITIES = (
    tables.peoples() | _MORE | {f"{name}s" for name in tables.peoples() | _MORE}
)
_STATE = listed("""
        law legal authorities citizens citizenship court courts state
        border capital government police Government Constitution Code Criminal Civil
        Penal Law Act Parliament Convention Commission Court Courts Union Ministry
        """)
_BELONGS = listed(
    "origin descent extraction ethnicity minority national nationals citizen citizens"
)


def peoples(tokens: Tokens) -> Iterator[Found]:
    """Yield words for peoples; what names a state's own affairs is less sure."""
    words = tokens.words
    for index in tokens.places(NATIONALITIES & tokens.where.keys()):
        after = words[index + 1] if index + 1 < len(words) else ""
        joined = index + 1 < len(words) and tokens.gap(index + 1) == " "
        affairs = joined and after in _STATE
        last = index + 1 if joined and after in _BELONGS else index
        yield Found(
            tokens.starts[index],
            tokens.ends[last],
            "NATIONALITY",
            0.5 if affairs else 0.6,
            "list",
        )
