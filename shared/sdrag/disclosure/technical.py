"""
Technical values: identifiers, hashes, timestamps, URLs, paths and ids of chunks.

Their characters mean nothing by themselves, and a host compares them whole. So a value
is technical only where its form says so and no words of a language are in it. Words
that machines write are in `technical_words.toml`. Of other words a path or URL may hold
two, each by itself between two slashes, and an id none. A name, a word that sentences
are made of, a verb in -ed or -ing, a word that no list knows, a number with a unit or a
slug of two words makes the value prose. So does what decodes to anything but a
technical value.

Every pattern is bounded or possessive, so a value is checked in linear time.
"""

from __future__ import annotations

import re
import tomllib
from enum import Enum
from importlib.resources import files
from itertools import pairwise

from sdrag.detectors.local.tables import common_words, first_names, places, surnames
from sdrag.text.decoding import decode
from sdrag.text.decoding.encodings import from_base64, from_hex, is_text

__all__ = ["TECHNICAL_WORDS", "Technical", "is_coded", "technical", "words_of"]


class Technical(Enum):
    """What kind of technical value a value is."""

    UUID = "uuid"
    HASH = "hash"
    TIMESTAMP = "timestamp"
    URL = "url"
    PATH = "path"
    ID = "id"
    CODE = "code"


_WORDS = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(
        (files("sdrag.disclosure") / "technical_words.toml").read_text(encoding="utf-8")
    ).items()
}
TECHNICAL_WORDS = _WORDS["machine"]
ID_WORDS = TECHNICAL_WORDS - _WORDS["not_in_ids"]
KEY_WORDS, SENTENCE_WORDS = _WORDS["keys"], _WORDS["sentences"]
EXTENSIONS = _WORDS["extensions"]

_LONGEST = 2048
_LONGEST_ID = 128

_UUID = re.compile(
    r"(?:urn:uuid:)?\{?(?P<run>[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\}?",
    re.IGNORECASE,
)
_ALGORITHM = (
    r"(?:(?:md5|sha-?(?:1|224|256|384|512)|blake2[bs]|blake3|xxh\d{1,3})[:=-])?"
)
_HEX_DIGEST = re.compile(rf"{_ALGORITHM}(?P<run>[0-9a-f]{{32,128}}|[0-9A-F]{{32,128}})")
_HEX_LENGTHS = frozenset({32, 40, 48, 56, 64, 96, 128})
_BASE64_DIGEST = re.compile(rf"{_ALGORITHM}(?P<run>[A-Za-z0-9+/_-]{{22,86}})={{0,2}}")
_BASE64_LENGTHS = frozenset({22, 27, 38, 43, 64, 86})
"""Of 16, 20, 28, 32, 48 and 64 bytes, without their padding."""

_YEAR, _MONTH, _DAY = (
    "(?:19|20)[0-9]{2}",
    "(?:0[1-9]|1[0-2])",
    "(?:0[1-9]|[12]\\d|3[01])",
)
_TIME = r"(?:[01]\d|2[0-4]):?[0-5]\d(?::?[0-6]\d(?:[.,]\d{1,9})?)?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?"
_NAMED_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_NAMED_DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_TIMESTAMP = re.compile(
    rf"{_YEAR}(?P<mark>[-/.]?){_MONTH}(?P=mark){_DAY}(?:[T _]{_TIME}{_ZONE})?"
    rf"|(?:{_DAY}[./]{_MONTH}|{_MONTH}/{_DAY})[./]{_YEAR}(?:,? {_TIME}(?: ?[AP]M)?)?"
    rf"|{_YEAR}-(?:W[0-5]\d(?:-[1-7])?|[0-3]\d{{2}})"
    rf"|(?:{_NAMED_DAY}, )?\d{{1,2}} {_NAMED_MONTH} {_YEAR}(?: {_TIME}{_ZONE})?"
    rf"|{_NAMED_DAY} {_NAMED_MONTH} [ \d]\d {_TIME} {_YEAR}"
)

_URL = re.compile(
    r"(?:https?|s?ftps?|wss?|s3a?|gs|gcs|abfss?|wasbs?|az|adl|hdfs|dbfs|file|git|ssh)"
    r"://(?P<rest>[\w.~:/?#\[\]@!$&'()*+,;=%{}|-]+)"
)
_PATH = re.compile(
    r"(?P<root>(?:[A-Za-z]:|~|\.{1,2})?[/\\]+)?[\w.~@#$%+=:,()\[\]{}&!/\\-]+"
)
_EXTENSION = re.compile(r"\.(?P<extension>[A-Za-z0-9]{1,7})(?=[?#:][^/\\]{0,200}$|$)")
_ID = re.compile(r"[A-Za-z0-9]+(?:(?:[-_.:#~|+=]|::|--|__)[A-Za-z0-9]+)*")

_SEGMENTS = re.compile(r"[/\\?&=#:@;,!$|()\[\]{}']+")
_TOKEN = re.compile(r"[A-Za-z0-9]+")
_RUN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_VERB = re.compile(r"[a-z]{2,}(?:ed|ing)")


_MOST_WORDS = 2
_MOST_WORDS_IN_SEGMENT = 1
_SHORT = 3
"""A run of so few letters that no list knows may be in a code."""
_HEX_TOKEN = re.compile(r"(?=\D*\d)(?=\d*\D)(?:[0-9a-f]{7,}|[0-9A-F]{7,})")
_RANDOM = 11
_LOWER = 1
_CHANGES, _CHANGES_OF_CAPITALS = 0.4, 0.25
"""In random letters and digits at least so many differ in kind from the one before."""
_LEAST_DIGITS, _LEAST_LENGTH = 3, 6
_UNITS = (
    "mg|mcg|ug|ml|cl|kg|g|lbs?|oz|km|cm|mm|mi|ft|iu|k|bn|usd|eur|gbp|chf|jpy|cny|inr|sek"
    "|nok|dkk|pln|cad|aud|euros?|dollars?|pounds?|percent|pct|yo|yrs?|days?|hrs?|mins?"
)
_MEASURE = re.compile(rf"\d+(?:{_UNITS})|(?:{_UNITS})\d+", re.IGNORECASE)
_UNIT = re.compile(_UNITS, re.IGNORECASE)
_IN_YEAR = re.compile(_YEAR)


def technical(value: str) -> Technical | None:
    """Return what kind of technical value a value is, or `None` for prose."""
    kind = _form(value)
    if kind is None or kind in {Technical.UUID, Technical.HASH, Technical.TIMESTAMP}:
        return kind
    decoded = decode(value.replace("\\", "/"))  # of a path, and no escapes
    if decoded.before is not None and _form(decoded.text) is None:
        return None
    return kind


def words_of(value: str) -> list[str]:
    """Return the runs of letters in a value, parted at capitals, in lower case."""
    return [run.lower() for run in _RUN.findall(value)]


def _form(value: str) -> Technical | None:
    if not value.isascii() or not 0 < len(value) <= _LONGEST:
        return None
    for kind, is_of_kind in _FORMS:
        if is_of_kind(value):
            return kind
    return None


def _is_uuid(value: str) -> bool:
    found = _UUID.fullmatch(value)
    return found is not None and not is_text(from_hex(found["run"]))


def _is_timestamp(value: str) -> bool:
    return _TIMESTAMP.fullmatch(value) is not None


def _is_hash(value: str) -> bool:
    if found := _HEX_DIGEST.fullmatch(value):
        run = found["run"]
        mixed = not run.isdigit() and not run.isalpha()
        return len(run) in _HEX_LENGTHS and mixed and not is_text(from_hex(run))
    found = _BASE64_DIGEST.fullmatch(value)
    return (
        found is not None
        and len(found["run"]) in _BASE64_LENGTHS
        and _is_random(found["run"])
        and not is_text(from_base64(found["run"]))
    )


def _is_url(value: str) -> bool:
    found = _URL.fullmatch(value)
    if found is None:
        return False
    host, *rest = re.split(r"(?=[/?#])", found["rest"], maxsplit=1)
    # The country at the end of a host is no word: "it", "in", "us".
    host = re.sub(r"\.[a-z]{2,3}(?=:\d+$|$)", "", host)
    return _has_few_words("".join((host, *rest)))


def _is_path(value: str) -> bool:
    found = _PATH.fullmatch(value)
    if found is None or not any(map(str.isalpha, value)):
        return False
    if ends := _EXTENSION.search(value):
        if ends["extension"].lower() not in EXTENSIONS:
            return False
        return _has_few_words(value[: ends.start()] + value[ends.end() :])
    if "/" not in value and "\\" not in value:
        return False
    most = _MOST_WORDS if found["root"] else 0
    return _has_machine_words(value) and _has_few_words(value, most)


def _has_machine_words(value: str) -> bool:
    return not TECHNICAL_WORDS.isdisjoint(words_of(value))


def _is_machine_id(value: str) -> bool:
    if not _is_id(value):
        return False
    tokens = _TOKEN.findall(value)
    return not ID_WORDS.isdisjoint(words_of(value)) or any(map(is_coded, tokens))


def _is_code(value: str) -> bool:
    """Say whether a value is a code that no machine's word makes one."""
    digits = sum(map(str.isdigit, value))
    length = sum(map(str.isalnum, value))
    return (
        _is_id(value)
        and digits >= _LEAST_DIGITS
        and length >= _LEAST_LENGTH
        and digits < length
    )


def _is_id(value: str) -> bool:
    if len(value) > _LONGEST_ID or _ID.fullmatch(value) is None:
        return False
    if not any(map(str.isdigit, value)) and KEY_WORDS.isdisjoint(words_of(value)):
        return False
    return _words(value, ID_WORDS) == 0


_FORMS = (
    (Technical.UUID, _is_uuid),
    (Technical.TIMESTAMP, _is_timestamp),
    (Technical.HASH, _is_hash),
    (Technical.URL, _is_url),
    (Technical.PATH, _is_path),
    (Technical.ID, _is_machine_id),
    (Technical.CODE, _is_code),
)


def _has_few_words(value: str, most: int = _MOST_WORDS) -> bool:
    """Say whether the parts of a path or a URL are no sentence, nor all of them."""
    total = 0
    for segment in _SEGMENTS.split(_PERCENT.sub("-", value)):
        if _UUID.fullmatch(segment):
            continue
        words = _words(segment, TECHNICAL_WORDS)
        if words is None or words > _MOST_WORDS_IN_SEGMENT:
            return False
        total += words
    return total <= most


def _words(segment: str, machine_words: frozenset[str]) -> int | None:
    """
    Count the words of a language in a segment; `None` where it is prose.

    A word with a number other than a year next to it is prose too: `dollars-88500`.

    Args:
        segment: An id, or what is between two slashes.
        machine_words: Words that do not count.
    """
    total = 0
    numbered = united = False
    for token in _TOKEN.findall(segment):
        coded = is_coded(token)
        if not coded and _MEASURE.fullmatch(token):
            return None
        united |= _UNIT.fullmatch(token) is not None
        numbered |= not coded and token.isdigit() and not _IN_YEAR.fullmatch(token)
        for run in _RUN.findall(token):
            if coded and len(run) <= _SHORT:
                continue
            word = run.lower()
            if word in machine_words:
                continue
            if _is_telling(run):
                return None
            if word in common_words():
                total += len(word) > 1
            elif len(word) > _SHORT and not coded:
                return None
    return None if numbered and (total or united) else total


def _is_telling(run: str) -> bool:
    """Say whether a word is a name, or one of those that sentences are made of."""
    word = run.lower()
    if len(word) == 1:
        return False
    if word in SENTENCE_WORDS:
        return True
    if len(word) > 2 or run.istitle():
        name = word.capitalize()
        if name in surnames() or name in first_names() or name in places():
            return True
    return _VERB.fullmatch(word) is not None and word in common_words()


def is_coded(token: str) -> bool:
    """Say whether a token is of hexadecimal or of random digits and letters."""
    return _HEX_TOKEN.fullmatch(token) is not None or _is_random(token)


def _is_random(token: str) -> bool:
    """Say whether a token has the ups and downs of random letters and digits."""
    if len(token) < _RANDOM or not any(map(str.isdigit, token)):
        return False
    kinds = [_kind_of(character) for character in token]
    changes = sum(one != other for one, other in pairwise(kinds))
    if changes < len(token) * (_CHANGES if _LOWER in kinds else _CHANGES_OF_CAPITALS):
        return False
    said = [run for run in _RUN.findall(token) if len(run) >= _SHORT]
    in_words = sum(len(run) for run in said if run[1:].islower())
    if 3 * in_words > 2 * sum(map(str.isalpha, token)):
        return False
    known = [run for run in said if run.lower() in common_words() or _is_telling(run)]
    if any(len(run) > _SHORT + 1 for run in known):
        return False
    return 3 * sum(map(len, known)) < len(token)


def _kind_of(character: str) -> int:
    return 0 if character.isdigit() else _LOWER if character.islower() else 2
