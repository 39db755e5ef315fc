"""
Reading what a model says must go, and what it says need not.

A constraint whose verdict is missing or cannot be read has none; an explicit empty
verdict is a verdict. Of what need not go, only an explicit no counts: of several
answers to one question, only what all of them free is freed. A reply that names a
question or a constraint that it was not asked about answers something else, such as the
example of the prompt: it counts for nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from sdrag.effects.replies import read_json

MAX_REPLY = 200_000
"""Characters of a reply that are read; more is no list of spans but an attack."""

MAX_SPANS = 2_000
"""Spans of a reply; each that is not in the text costs a fuzzy search."""

_AROUND = " \t[]()\"'`:"


def read_verdicts(reply: str, ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the spans given for each constraint that has a readable verdict."""
    lists = _read_lists(reply, "verdicts", "constraint", "spans", ids)
    spans = {name: [*chain(*listed)] for name, listed in lists.items()}
    if sum(map(len, spans.values())) > MAX_SPANS:  # repeats count, too
        return {}
    return {name: tuple(dict.fromkeys(quoted)) for name, quoted in spans.items()}


def read_answers(
    reply: str, questions: Mapping[str, Collection[str]]
) -> Mapping[str, frozenset[str]]:
    """
    Return what each question with a readable answer frees.

    `questions` holds the ids of the constraints that each asks about, by its own.
    """
    freed: dict[str, frozenset[str]] = {}
    lists = _read_lists(reply, "answers", "question", "no", questions)
    for question, listed in lists.items():
        no = [
            {_meant(id_, questions[question], "constraint") for id_ in ids}
            for ids in listed
        ]
        if any(None in names for names in no):
            return {}
        freed[question] = frozenset(filter(None, set.intersection(*no)))
    return freed


def _read_lists(
    reply: str, name: str, key: str, listed: str, ids: Collection[str]
) -> Mapping[str, Sequence[Sequence[str]]]:
    """Return what each entry lists, by its id; nothing if an id was not asked about."""
    lists: dict[str, list[Sequence[str]]] = {}
    unreadable: set[str] = set()
    for value, entry in _entries(reply, name, key, listed):
        id_, texts = _meant(value, ids, key), _texts(entry)
        if id_ is None:
            return {}
        if texts is None:
            unreadable.add(id_)
        else:
            lists.setdefault(id_, []).append(texts)
    return {id_: texts for id_, texts in lists.items() if id_ not in unreadable}


def _entries(
    reply: str, name: str, key: str, listed: str
) -> Iterator[tuple[object, object]]:
    """Yield the id of each entry of a reply, and what it lists; all drafts count."""
    if len(reply) > MAX_REPLY:
        return
    for value in read_json(reply):
        held = value.get(name, value) if isinstance(value, dict) else value
        if isinstance(held, dict) and key not in held:  # keyed by id
            yield from held.items()
            continue
        for entry in held if isinstance(held, list) else [held]:
            if isinstance(entry, dict) and key in entry:
                yield entry[key], entry.get(listed)


def _meant(value: object, ids: Collection[str], noun: str) -> str | None:
    """Return the id that is meant: `a`, `[A]` and `constraint a` are the same."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    name = str(value)
    if name in ids:
        return name
    name = name.strip(_AROUND)
    first, _, rest = name.partition(" ")
    if rest and first.casefold() == noun:
        name = rest.strip(_AROUND)
    like = [known for known in ids if known.casefold() == name.casefold()]
    return name if name in ids else like[0] if len(like) == 1 else None


def _texts(listed: object) -> Sequence[str] | None:
    """Return what is listed; `None` of what is no list of texts."""
    items = [listed] if isinstance(listed, str) else listed
    if not isinstance(items, list):
        return None
    items = [item.get("text") if isinstance(item, dict) else item for item in items]
    texts = [item for item in items if isinstance(item, str) and item.strip()]
    return texts if len(texts) == len(items) else None
