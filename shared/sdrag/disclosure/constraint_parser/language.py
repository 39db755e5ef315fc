"""
The language a constraint is written in, by its little words.

Only words that English does not use are listed, each under the languages that use it
most. Other scripts tell their language, or at least that it is not English.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from sdrag.detectors.local.lexicon import listed
from sdrag.text.folding import fold_text

__all__ = ["UNKNOWN", "language_of"]

UNKNOWN = "und"
"""The code of a language that is not known here."""

_LITTLE_WORDS = {
    "de": """der das und nicht von dem den des ein eine einer einen eines mit fur auf im
        zu zur zum dass werden wird durfen darf mussen muss soll sollen alle aller aus
        bei uber keine kein keinen nur sind ist oder wer wie warum welche sie ihre ihrer
        namen angaben daten nichts niemand bitte vom""",
    "fr": """le les des du et ne pas aux dans sur pour par que qui est sont ou une un
        doit doivent tout tous toute toutes leur leurs son sa ses ce cette ces pourquoi
        comment jamais aucun aucune rien noms nom dont etre avec sans elle""",
    "es": """el los las del y que con por para una unos unas se su sus es son no debe
        deben cualquier todos todas todo nunca ningun ninguna nada como quien cuando
        donde nombres nombre datos ser sin al lo""",
    "it": """il lo gli dei degli delle della dello di che non con per sono una uno
        devono deve tutti tutte tutto nessun nessuna nulla niente nomi nome dati essere
        nel nella come perche chi dove del dal""",
    "pt": """os dos das da do em nao que com por para uma um sao ser deve devem todos
        todas tudo nenhum nenhuma nada nomes nome dados como quem onde seus suas ao pelo
        pela""",
    "nl": """het een van en niet voor met op te zijn worden wordt mogen mag moeten moet
        alle geen namen gegevens wie hoe waarom welke uit bij aan deze dit nooit niets
        verwijder""",
    "pl": """nie w z na i do sie ze oraz lub jest sa dla wszystkie wszelkie nalezy
        nazwiska imiona dane kto jak dlaczego gdzie od przez swiadkow ujawniac""",
    "sv": """och inte av som det ett att med ska skall maste far alla inga namn
        uppgifter den hur varfor vem deras ej""",
    "da": """og ikke af som det et at med skal ma alle ingen navne oplysninger hvordan
        hvorfor hvem deres fra til ved""",
    "cs": """nesmi byt ktere jsou jejich svedku jmena vsechny udaje ani jako kdo""",
    "fi": """ja ei saa on kaikki nimet tiedot eika ole poista todistajien miksi kuka""",
    "tr": """ve bir bu icin ile isimleri adlari tum butun gizle degil nasil neden""",
    "ro": """si nu cu din pentru numele datele toate care este sunt martorilor sa""",
    "hu": """az es nem hogy minden neveket egy vagy nevek adatok""",
    "id": """dan yang tidak untuk dari nama semua jangan boleh atau""",
}
_SHARED = listed(
    """no as on me in an so at do den war was die man sa ma i es sin con par pour
    son come dove care din met van fur is to be all elle sans em het mit hem ska"""
)
"""English uses these, too, or has them in names and abbreviations."""
_ENGLISH = listed(
    """the of and to in is are not be or any all do must may who whom what which how
    why when where that this these it its for from with by on an as at no nor never
    nothing nobody none should shall can has have was were been their his her they
    them about out remove hide redact withhold mask keep names reveal disclose
    mention conceal omit leave delete suppress protect every each only anyone
    anything whatever everything people"""
)
_SCRIPTS = (
    *(("CYRILLIC", "ru"), ("GREEK", "el"), ("ARABIC", "ar"), ("HEBREW", "he")),
    *(("HIRAGANA", "ja"), ("KATAKANA", "ja"), ("HANGUL", "ko"), ("CJK", "zh")),
    *(("DEVANAGARI", "hi"), ("THAI", "th")),
)
_HALF = 2


@lru_cache(maxsize=1)
def _languages() -> dict[str, tuple[str, ...]]:
    """Return the languages of each little word that is not English."""
    by_word: dict[str, tuple[str, ...]] = {}
    for code, words in _LITTLE_WORDS.items():
        for word in set(words.split()) - _SHARED:
            by_word[word] = (*by_word.get(word, ()), code)
    return by_word


def language_of(text: str, unknown: Sequence[str]) -> str:
    """
    Return the ISO 639-1 code of a text's language.

    Args:
        text: In plain characters.
        unknown: Its words that are in no dictionary.
    """
    written = _script(text)
    if written:
        return written
    words = re.findall(r"[^\W\d_]+", fold_text(text))
    count = Counter(code for w in words for code in _languages().get(w, ()))
    foreign = sum(word in _languages() for word in words)
    english = sum(word in _ENGLISH for word in words)
    if foreign > english:
        return count.most_common(1)[0][0]
    if len(unknown) * _HALF > len(words) and not english:
        return UNKNOWN
    return "en"


def _script(text: str) -> str:
    """Return the language of the script most letters are in; empty for Latin."""
    letters = [c for c in text if c.isalpha() and not c.isascii()]
    names = [unicodedata.name(letter, "") for letter in letters]
    others = [name for name in names if not name.startswith("LATIN")]
    if len(others) * _HALF <= sum(c.isalpha() for c in text):
        return ""
    for script, code in _SCRIPTS:
        if any(name.startswith(script) for name in others):
            return code
    return UNKNOWN
