"""
What a policy does, in plain words for its author.

An effect is made of what the constraint was parsed into, by the rules that the local
engine follows: types that its words name are hidden wherever they are, types of a
subject beside its words, and what must be understood where the networks agree.
`sdrag.studio.authoring.trial` tries it on sentences. A sentence that is proposed for a
refused one was parsed.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import OSA

from sdrag.detectors.local.number_kinds import number_kinds
from sdrag.detectors.local.tables import common_words
from sdrag.disclosure.constraint_parser import (
    PATTERN,
    ParsedConstraint,
    Topic,
    parse,
)
from sdrag.disclosure.constraint_parser.wording import (
    is_english,
    plain_text,
    refusal,
    subject_of,
)
from sdrag.disclosure.constraint_parser.words import (
    concept_rows,
    is_misspelt,
    is_word,
    number_words,
    word_set,
)
from sdrag.disclosure.enforceable import (
    find_less,
    offer,
    why_not,
    why_not_enforced,
    why_not_found,
)
from sdrag.policy import Policy, nearest_attribute
from sdrag.vocabulary import Constraint, Keep, Mention

_METHODS = {
    "rephrase": "has a model say it without what it finds",
    "withhold": "withholds a passage in which it finds something",
}
_WHOLE = {
    "everything": "hides every text that it holds for",
    "only": "says what may be shown, and not what must be hidden",
}
_IDENTIFYING = (
    "hides whatever may tell who somebody is: names, dates, ages, places, jobs,"
    " relations, health, contacts, numbers and the like"
)
_SURE = 0.5
_PLAIN = 300
"""So many of the most frequent English words tell an author nothing."""
_SHOWN = 3
"""So many words stand for all that tell a topic."""
_FOR_SOME = re.compile(r"\b(?:only (?:for|to|by)|stays? between)\b", re.IGNORECASE)
_WORD_NUMBER = re.compile(r"^Word (\d+)")
_UNDERSTOOD = "Remove names of people"


@dataclass(frozen=True, slots=True)
class KindOfMention:
    """Types that an author knows under one name, and sentences with and without one."""

    types: frozenset[str]
    name: str
    phrases: Sequence[str]
    beside: Sequence[str] = ()


@lru_cache(maxsize=1)
def kinds_of_mentions() -> tuple[KindOfMention, ...]:
    """Return the kinds of mentions, and sentences to try, of `kinds.toml`."""
    rows = (row | {"types": frozenset(row["types"])} for row in _table()["kind"])
    return tuple(KindOfMention(**row) for row in rows)


def kind_of(mention: Mention) -> str:
    """Return what an author calls a mention; nothing of one that is hardly any."""
    return _name_of(mention.type) if mention.confidence >= _SURE else ""


@lru_cache
def _name_of(kind: str) -> str:
    return next(names_of({kind}), "")


@lru_cache(maxsize=1)
def telling_sentences() -> tuple[str, ...]:
    """Return sentences of subjects, to try, of `kinds.toml`."""
    return tuple(_table()["sentences"])


def _table() -> dict[str, Any]:
    text = files(__package__).joinpath("kinds.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


class Description(NamedTuple):
    """What a constraint does, a thought an entry."""

    effects: Sequence[str]
    limits: Sequence[str]
    warnings: Sequence[str]


def describe(
    parsed: ParsedConstraint, policy: Policy, *, has_model: bool
) -> Description:
    """Describe what a constraint hides, or why it is refused; it is quoted."""
    rule = parsed.constraint
    entry = policy.entries.get(rule.id)
    keeps = tuple(keep.keep() for keep in entry.keep) if entry else ()
    limits = limits_of(replace(rule, keep=keeps))
    if reason := why_not(parsed, policy):
        outcome = "REFUSED: nothing runs with this sentence until it is understood."
        if has_model:
            outcome = "The model decides."
        elif policy.when_not_understood == "withhold":
            outcome = "NOT UNDERSTOOD: without a model, all it holds for is withheld."
        near = [*dict.fromkeys((reword(parsed), *offer(parsed)))][:_SHOWN]
        advice = f"Would be understood, for instance: {_quote(near, 'or')}"
        if parsed.status == "needs_model":
            reason = parsed.reason
        if why_not_found(parsed, policy):
            advice = "Take one of them out of the list, or delete the sentence."
        if parsed.kind == "only":
            advice = (
                "Delete it: what no other sentence hides stays. Words that one hides"
                " stay with a `keep` under it, and all of it for a role with `unless`."
            )
        return Description(
            (), limits, (outcome, _quote_counted(reason, parsed), advice)
        )
    warnings = [*warnings_of(parsed)]
    if off := find_less(parsed, policy):
        warnings.append(f"less is found: {_join(off)} are off (recognisers_off)")
    if _FOR_SOME.search(rule.text) and not rule.unless:
        warnings.append(
            "hidden from everybody: whoever may read it has a role, as in"
            " `unless: {roles: [clerk]}`"
        )
    if parsed.reason:
        warnings.append(f"to be checked: {_quote_counted(parsed.reason, parsed)}")
    return Description(effects_of(parsed), limits, warnings)


def effects_of(parsed: ParsedConstraint) -> list[str]:
    """Say what a constraint hides, a thought an entry."""
    patterns = parsed.constraint.patterns if PATTERN in parsed.types else ()
    if parsed.kind in _WHOLE:
        return [_WHOLE[parsed.kind]]
    if parsed.identifying:
        return [_IDENTIFYING]
    if parsed.kind == "named":
        sentences = "every sentence with " if parsed.about_names else ""
        return [f"hides {sentences}{_quote(parsed.names)}, in every form"]
    everywhere = list(names_of(parsed.everywhere))
    effects = [f"{_join(everywhere)}, wherever they are"] if everywhere else []
    for name, number in Counter(each.name for each in patterns).items():
        which = f"one of the {number} patterns" if number > 1 else "the pattern"
        effects.append(f"what {which} {_quote([name])} matches")
    if parsed.kinds:
        effects.append(f"{_join(_kinds_of(parsed))}, by their labels and forms")
    effects += (_effect_of(topic, everywhere) for topic in parsed.topics)
    if parsed.statement:
        effects.append(f"what says that “{parsed.statement.strip(' .')}”")
    elif parsed.kind == "meaning" and not any(topic.cues for topic in parsed.topics):
        effects.append("what is close to the sentence in its meaning")
    return [f"hides {effect}" for effect in dict.fromkeys(effects) if effect]


def _kinds_of(parsed: ParsedConstraint) -> Iterator[str]:
    """Yield what an author calls the kinds of numbers that a constraint asks for."""
    table = number_kinds()
    return (table[name].called for name in sorted(parsed.kinds))


def _effect_of(topic: Topic, everywhere: Collection[str]) -> str:
    """Say what is hidden for a topic; nothing where that is hidden everywhere."""
    if topic.name == "quoted":
        return f"sentences with {_quote(sorted(topic.cues))}"
    beside = _join(name for name in names_of(topic.types) if name not in everywhere)
    words = _quote(telling_words(topic), "or")
    if topic.cues:
        also = f", also {beside} there" if beside else ""
        return f"what tells of “{topic.name}”{f' ({words})' if words else ''}{also}"
    return f"{beside} only near words such as {words}" if beside and words else ""


def names_of(types: Collection[str]) -> Iterator[str]:
    """Yield what an author calls types."""
    for kind in kinds_of_mentions():
        if not kind.types.isdisjoint(types):
            yield kind.name


def telling_words(topic: Topic) -> list[str]:
    """Return a few words that tell a topic: those of its table, or common ones."""
    words: Iterable[str] = dict(concept_rows()).get(topic.name, {}).get("found", ())
    if not topic.cues:
        ranks = common_words()
        hints = (word for word in topic.hints if ranks.get(word, _PLAIN) >= _PLAIN)
        words = sorted(hints, key=lambda word: (ranks.get(word, len(ranks)), word))
    chosen: list[str] = []
    for word in words:
        bare = word.removesuffix("*")
        known = all(map(is_word, bare.split()))
        if known and not any(bare[:4] == other[:4] for other in chosen):
            chosen.append(bare)
    return chosen[:_SHOWN]


def warnings_of(parsed: ParsedConstraint) -> Iterator[str]:
    """Yield where the effect of a constraint is wider or narrower than its words."""
    if parsed.identifying:
        return
    asked = [*names_of(parsed.everywhere - parsed.implied)]
    asked += _kinds_of(parsed)
    implied = [name for name in names_of(parsed.implied) if name not in asked]
    if asked and parsed.unheard:
        words = _quote(dict.fromkeys(parsed.unheard), "or")
        yield f"wider than its words: {_join(asked)} go, whether of {words} or not"
    if implied:
        words = _quote(topic.name for topic in parsed.topics if topic.cues)
        yield f"wider than its words: {_join(implied)} go, whether of {words} or not"


def limits_of(rule: Constraint) -> tuple[str, ...]:
    """Return how a constraint is enforced, where, and for whom it does not hold."""
    limits = [_METHODS[rule.method]] if rule.method in _METHODS else []
    for key, values in rule.where.items():
        missing = "" if rule.where_missing == "skip" else ", or where that is missing"
        limits.append(f"only where {key} is {_join(map(str, values), 'or')}{missing}")
    limits += (f"not for {_readers(attributes)}" for attributes in rule.unless)
    if rule.instead:
        limits.append(
            f"says values as {_join(rule.instead, 'or')} where it can, which may still"
            " tell of whom a text speaks where few are alike"
        )
    if rule.always:
        limits.append("for every text, whatever is asked")
    if rule.sensitivity:
        limits.append(f"with sensitivity {rule.sensitivity}")
    return (*limits, *(f"lets stay {keep_in_words(keep)}" for keep in rule.keep))


def keep_in_words(keep: Keep) -> str:
    """Say what a keep lets stay."""
    if keep.words:
        said, more = _quote(keep.words[:_SHOWN]), len(keep.words) - _SHOWN
        return f"{said} and {more} more" if more > 0 else said
    if keep.pattern:
        return f"what matches {keep.pattern}"
    name = _join(names_of({keep.type})) or keep.type
    near = _quote(keep.unless_near, "or")
    return f"{name} that are not near {near}" if near else name


def settings_of(policy: Policy) -> Iterator[str]:
    """Yield what the rest of a policy does, and what its author should know."""
    yield f"guards: {', '.join(policy.guards) or 'none'}"
    if not policy.metadata.keys:
        yield "metadata: every key stays behind (metadata.allow is empty)"
    if policy.metadata.verbatim:
        keys = ", ".join(policy.metadata.verbatim)
        yield f"metadata: no constraint reads {keys} (metadata.verbatim)"
    yield from _audiences_of(policy)
    if policy.disclosure.top_k is not None:
        yield (
            "warning: with top_k the question decides which constraints are applied,"
            " so what one question hides another may show"
        )
    if policy.disclosure.influence != "none" and any(
        parse(rule).people for rule in policy.rules
    ):
        yield (
            "warning: who asks for a name finds the passages with it, the name cut,"
            " and so learns of whom they speak; with `disclosure.influence: none` no"
            " name finds anything"
        )


def _audiences_of(policy: Policy) -> Iterator[str]:
    """Yield what readers whom a sentence exempts are not shown all the same."""
    rules = policy.rules if any(rule.unless for rule in policy.rules) else ()
    asked = {rule.id: parse(rule).worded for rule in rules}
    for rule, attributes in ((r, each) for r in rules for each in r.unless):
        for key in attributes:
            if near := nearest_attribute(key):
                yield (
                    f"warning: {rule.id} exempts by `{key}`, which is no more than an"
                    f" attribute that your application gives; did you mean `{near}`?"
                )
        held = [r for r in rules if r.id != rule.id and attributes not in r.unless]
        others = [r.id for r in held if asked[r.id] & asked[rule.id]]
        if others:
            both = asked[rule.id].intersection(*(asked[name] for name in others[:1]))
            yield (
                f"warning: {_readers(attributes)} is exempt from {rule.id} and is"
                f" still shown a placeholder for {_join(names_of(both))}, which"
                f" {_join(others)} {'hide' if others[1:] else 'hides'} too"
            )


def _readers(attributes: Mapping[str, Collection[Any]]) -> str:
    """Say whom attributes exempt."""
    who = (f"{key}: {_join(map(str, v), 'or')}" for key, v in attributes.items())
    return f"whoever has {_join(who)}"


def _quote_counted(reason: str, parsed: ParsedConstraint) -> str:
    """Return a reason of the parser with the word quoted that it counts to."""
    words = number_words(plain_text(parsed.constraint.text))
    return _WORD_NUMBER.sub(
        lambda match: f"“{words.get(int(match[1]), match[0])}”", reason
    )


def reword(parsed: ParsedConstraint) -> str:
    """Return a sentence that is understood where a constraint is not."""
    if parsed.status == "understood" and why_not_enforced(parsed):
        return offer(parsed)[0]
    texts = (*_rewordings(parsed), _UNDERSTOOD)
    rules = (replace(parsed.constraint, text=text) for text in texts)
    known = (p for p in map(parse, rules) if p.status == "understood")
    return next(p.constraint.text for p in known if not why_not_enforced(p))


def _rewordings(parsed: ParsedConstraint) -> Iterator[str]:
    """Yield a constraint in other words, the nearest first."""
    text = plain_text(parsed.constraint.text)
    words = number_words(text)
    misspelt = [word for word in words.values() if is_misspelt(word)]
    typed = bool(parsed.worded)
    if parsed.kind == "only" or not is_english(text, misspelt):
        return
    corrected = text
    for word in misspelt:
        corrected = corrected.replace(word, _nearest(word))
    yield corrected
    if refusal(text, typed=typed):
        return
    for name in parsed.names:
        yield text.replace(name, f'"{name}"')
    subject = subject_of(text)
    yield f"Hide {subject[:1].lower()}{subject[1:]}"


def _nearest(word: str) -> str:
    """Return the word that constraints are made of, or else English uses, nearest."""
    for known in (sorted(word_set("crucial")), list(common_words())):
        near = process.extract(
            word.lower(), known, scorer=OSA.distance, score_cutoff=2, limit=None
        )
        if near:
            return min(near, key=lambda row: (row[1], -len(row[0])))[0]
    return word


def _quote(words: Iterable[str], link: str = "and") -> str:
    return _join((f"“{word}”" for word in words), link)


def _join(parts: Iterable[str], link: str = "and") -> str:
    """Return a list as it is said: "a, b and c"."""
    *first, last = [*parts] or [""]
    return f"{', '.join(first)} {link} {last}" if first else last
