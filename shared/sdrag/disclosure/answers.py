"""
Reading what a model says need not go.

Only an explicit no counts, so a reply is read strictly where it could free something:
whatever is not the id of a constraint that the question asked about frees nothing, and
a question that is answered in any other way, or not at all, has no answer. Of several
answers to one question only what all of them free is freed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from sdrag.disclosure.verdicts import MAX_REPLY, json_values, mended_values

__all__ = ["read_answers"]

_BRACKETS = "[]() \"'"


def read_answers(
    reply: str, asked: Mapping[str, Collection[str]]
) -> Mapping[str, frozenset[str]]:
    """
    Return what each question with a readable answer frees.

    Args:
        reply: The model's words.
        asked: The ids of the constraints that each question asked about, by its id.
    """
    if len(reply) > MAX_REPLY:
        return {}
    questions = {name.lower(): name for name in asked}
    freed: dict[str, frozenset[str]] = {}
    unreadable: set[str] = set()
    pairs = list(_pairs(json_values(reply))) or _pairs(mended_values(reply))
    for question, given in pairs:
        name = questions.get(_question(question))
        if name is None:
            continue
        names = _names(given, asked[name])
        if names is None:
            unreadable.add(name)
            continue
        freed[name] = freed.get(name, names) & names
    return {name: own for name, own in freed.items() if name not in unreadable}


def _pairs(values: Iterable[object]) -> Iterator[tuple[object, object]]:
    """Yield every question and what stands under its "no"."""
    for value in values:
        listed = value.get("answers") if isinstance(value, dict) else value
        if not isinstance(listed, list):
            listed = [value]
        for one in listed:
            if isinstance(one, dict) and "question" in one:
                yield one["question"], one.get("no")


def _question(given: object) -> str:
    """Return the id that is meant: `q1`, `[Q1]` and 1 are the same."""
    said = str(given).strip(_BRACKETS).lower()
    return f"q{said}" if said.isdecimal() else said


def _names(given: object, asked: Collection[str]) -> frozenset[str] | None:
    """Return the constraints that an answer names; none of an answer that is none."""
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list):
        return None
    known: dict[str, list[str]] = {}
    for name in asked:
        known.setdefault(name.lower(), []).append(name)
    names = set()
    for one in listed:
        if not isinstance(one, str):
            return None
        said = one.strip(_BRACKETS)
        meant = [said] if said in asked else known.get(said.lower(), [])
        if len(meant) == 1:
            names.add(meant[0])
    return frozenset(names)
