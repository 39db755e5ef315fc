"""
Names of accounts, and the names of people inside them.

An address's local part, a handle, the folder of a user, a slug and a file's name are
parted into words, which are looked up in the lists of names; the whole part is taken.
What stands for one person alone (a local part, a handle, a folder under `users`) is a
person's with a single name, or an initial and a surname run together. Elsewhere a given
name and a surname must be side by side, and one of them no everyday word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from sdrag.detectors.local import tables
from sdrag.detectors.local.tables import cased, is_common, listed, word_set
from sdrag.detectors.local.tokens import Candidate, Tokens

# Behind a mark, with a mark between its letters, or in humps.
_PART = re.compile(
    r"(?<![\w.+%'-])(?:(?<=[@#/\\~=:])[^\W_]|[^\W\d_]+(?:[._-]+(?=\w)|(?<=[a-z])(?=[A-Z])))"
    r"(?:[\w.+%'-]{0,126}\w)?"
)
_LOCAL = re.compile(r"[^\W_][\w.+%'-]{0,63}$")
_WORDS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])")
_EXTENSION = re.compile(r"\.[A-Za-z]\w{0,4}$")
_INITIAL = 4
"""A surname behind a glued initial has at least so many letters."""
_LEAST = 3
_SHORTEST = 2
_ORDINARY = 300
"""So many of the most frequent English words are no account."""
_LONGEST = 40
_ROLES = word_set("role_accounts")
_FOLDERS = "|".join(sorted(word_set("folders_of_people")))
_OWNER = re.compile(
    rf"(?:(?:^|[/\\])(?i:{_FOLDERS})[/\\]@?|(?<!\w)~|[/\\]@|[#?&](?:u|user|author|owner)="
    r"|(?i:github|gitlab|bitbucket|twitter|facebook|instagram|x)\.(?:com|org)[/:])$"
)
_REACH = 24


def find_embedded_names(text: str) -> Iterator[Candidate]:
    """Yield parts of addresses, handles, paths, links and slugs that name somebody."""
    for match in _PART.finditer(text):
        start, end = match.span()
        handle = (
            text[start - 1 : start] == "@" and not text[start - 2 : start - 1].isalnum()
        )
        alone = handle or _OWNER.search(text, max(0, start - _REACH), start)
        if _names_somebody(match.group(), alone=bool(alone)):
            yield Candidate(start, end, "PERSON", 0.7, "inside")
    for at in (match.start() for match in re.finditer("@", text)):
        local = _LOCAL.search(text, max(0, at - 64), at)
        if local and _names_somebody(local.group(), alone=True):
            yield Candidate(*local.span(), "PERSON", 0.7, "inside")


def _names_somebody(value: str, *, alone: bool) -> bool:
    """
    Return True if the words of a value are somebody's name.

    Args:
        value: A local part, a handle, a slug, a file.
        alone: It stands for one person, so that a single name is enough.
    """
    words = _WORDS.findall(_EXTENSION.sub("", value))
    for word, other in pairwise(words):
        if not (is_common(word) and is_common(other)) and (
            (_is_given(word) and _is_family(other))
            or (_is_given(other) and _is_family(word))
        ):
            return True
    together = any(_are_run_together(word, everyday=False) for word in words)
    return together or (alone and _is_owner(words))


def _are_run_together(word: str, *, everyday: bool) -> bool:
    """Return True if a word is a given name and a surname: jonathanmeyers."""
    if not 2 * _LEAST < len(word) < _LONGEST or is_common(word):
        return False
    return any(
        _is_given(word[:cut]) and _is_family(word[cut:])
        for cut in range(_LEAST, len(word) - _LEAST + 1)
        if everyday or not (is_common(word[:cut]) and is_common(word[cut:]))
    )


def _is_owner(words: list[str]) -> bool:
    """Return True if words name somebody where an account's owner is named."""
    letters = [word for word in words if len(word) > 1]
    if all(word.lower() in _ROLES for word in letters):
        return False
    if any(_is_given(word) or _is_family(word) for word in letters):
        return len(letters) < _LEAST or not all(map(is_common, letters))
    return any(
        (len(word) > _INITIAL and (_is_family(word[1:]) or _is_family(word[:-1])))
        or (len(word) > _LEAST and _is_given(word[:-1]))
        or _are_run_together(word, everyday=True)
        for word in letters
        if not is_common(word)
    )


def _is_given(word: str) -> bool:
    return len(word) >= _LEAST and word.capitalize() in tables.first_names()


def _is_family(word: str) -> bool:
    return len(word) >= _LEAST and word.capitalize() in tables.surnames()


_VALUE = r"(?P<value>[^\W_][\w.+-]{0,62}(?<![.+-])\$?)(?![\w@])"
_CUED = re.compile(
    rf"(?<![\w.-])(?:(?i:{'|'.join(sorted(word_set('account_cues')))})(?: ?(?i:name"
    rf"|id)\b)?"
    r"(?: (?:as|by|for|is|was|named|called)\b){0,2}|(?i:logged|signed|session|password"
    r"|publickey)(?: (?:in|on|opened|closed)\b)? (?:as|for|by)(?: (?:invalid"
    r"|user)\b){0,2})"
    rf"(?: ?[:=])?(?:[\"']? ?(?<![A-Za-z])(?P<quote>['\"])| |(?<=[:=])){_VALUE}"
)
_IN_FOLDER = re.compile(rf"[/\\](?i:home|users)[/\\]{_VALUE}")
_SHELL = re.compile(
    rf"(?<![\w.-])(?:(?:ssh|scp|sftp|rsync) (?:-\w+ )?(?=[\w.-]+@)|sudo: +|su(?: -)? "
    rf"|chown "
    rf"|uid=\d+\(|[A-Z][A-Z0-9-]{{1,14}}\\){_VALUE.replace('@', '')}"
)
_ACTING = re.compile(
    r"(?<!\w)(?P<quote>['\"]?)(?P<value>[^\W_][\w.+-]{0,62})"
    r"(?: ?\[[^\]\n]{1,12}\])?(?P=quote)"
    r" (?:(?:has|was|is) )?(?=(?:logged|signed|locked) (?:in|out|on|off)\b)"
)
_TELLING = cased(
    (
        *word_set("account_cues"),
        *listed("logged signed session password publickey"),
        *listed("ssh scp sftp rsync su sudo chown locked home users"),
    )
)
_NO_ACCOUNT = word_set("no_accounts")
_PARTS = "|".join(sorted(word_set("account_parts")))
_PRIVILEGED = re.compile(
    rf"(?<![\w.@/-])(?!(?:co|vice|ex)-)(?:(?:{_PARTS})_(?P<owner>[a-z][\w.-]{{0,30}}\w)"
    rf"|(?P<of>[a-z][a-z0-9._]{{1,30}})[_-](?:{_PARTS}))(?![\w@/-])"
)


def find_account_names(text: str, tokens: Tokens) -> Iterator[Candidate]:
    """Yield names of accounts, by parts of them or words of logs and shells."""
    for match in _PRIVILEGED.finditer(text):
        # A system-admin is a role, and svc_backup an account.
        if match["owner"] or match["of"] not in tables.common_words():
            yield Candidate(*match.span(), "USERNAME", 0.8, "account")
    if _TELLING.isdisjoint(tokens.where) and "\\" not in text:
        return
    for pattern in (_CUED, _IN_FOLDER, _SHELL, _ACTING):
        for match in pattern.finditer(text):
            sure = (
                pattern is _IN_FOLDER or re.search("[\"'=:]", match.group()) is not None
            )
            yield from _account(text, *match.span("value"), sure=sure)


def _account(text: str, start: int, end: int, *, sure: bool) -> Iterator[Candidate]:
    """Yield what a sign or a quotation mark tells, or what is no word of prose."""
    value = text[start:end]
    rank = tables.common_words().get(value.lower(), _ORDINARY)
    if rank < _ORDINARY:
        return
    known = is_common(value) or value in tables.first_names()
    if len(value) < _SHORTEST or not any(map(str.isalpha, value)):
        return
    if value.lower() in _NO_ACCOUNT:
        return
    if sure or not known:
        yield Candidate(start, end, "USERNAME", 0.8, "account")
        if _names_somebody(value, alone=True):
            yield Candidate(start, end, "PERSON", 0.7, "inside")
