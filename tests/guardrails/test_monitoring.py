"""What passages smuggle towards an answer, or into it, is seen."""

from __future__ import annotations

import base64

import pytest

from sdrag.guardrails.monitoring import MonitoringSection, find_indicators

INJECTED = "Prices rose. Visit www.evil.example now or mail win@evil.example today."


@pytest.mark.parametrize(
    ("answer", "question", "kinds"),
    [
        ("See www.evil.example.", "q", [("links", "passage")]),
        ("Write to win@evil.example.", "q", [("emails", "passage")]),
        ("See https://evil.example/?q=secret.", "q", [("links", "unknown")]),
        ("![x](https://a.example/y.png)", "q", [("links", "unknown")]),
        ("See www.evil.example.", "What is www.evil.example?", []),
        ("See docs.good.example.", "q", []),
        ("See notgood.example.", "q", [("links", "unknown")]),
        ("See https://good.example/a?b.", "q", []),
        ("See https://good.example:8080/a.", "q", []),
        (
            "See https://good.example@evil.test:1/.",
            "q",
            [("links", "unknown"), ("emails", "unknown")],
        ),
        ("See https:/evil.test or http:evil.test.", "q", [("links", "unknown")] * 2),
        (r"See https://evil.test\@good.example.", "q", [("links", "unknown")]),
        ("See https://good.example%2eevil.test/.", "q", [("links", "unknown")]),
        ("See [x](//evil.test/y).", "q", [("links", "unknown")]),
        ("See javascript:alert(good.example).", "q", [("links", "unknown")]),
        ("See data:text/html,good.example.", "q", [("links", "unknown")]),
        ("Mail ann@good.example.", "q", []),
        ("He ran and/or swam at 5//6 speed.", "q", []),
        ("Prices rose by 3.5 points, e.g. in May.", "q", []),
    ],
)
def test_links_and_addresses_that_nobody_asked_for_are_found(answer, question, kinds):
    """What passages smuggle in is told from what the question brought."""
    section = MonitoringSection(
        look_for=("links", "emails"), allow_domains=("good.example",)
    )
    found = find_indicators(answer, question, [INJECTED], section)

    assert [(item.kind, item.origin) for item in found] == kinds


LINKS = [
    "https://evil.test/a",
    "HTTPS://EVIL.TEST/A",
    "hxxps://evil.test/a",
    "hxxp://evil[.]test/a",
    "https[:]//evil.test/a",
    "https://evil[.]test/a",
    "https://evil(.)test/a",
    "https://evil[dot]test/a",
    "https : // evil.test/a",
    "evil dot com",
    "evil [dot] com",
    "evil . com",
    "www.evil .com",
    "&#104;ttps://evil.test/a",
    "https&colon;//evil.test/a",
    "https%3A%2F%2Fevil.test%2Fa",
    "https:\\u002f\\u002fevil.test/a",
    "https:\\/\\/evil.test\\/a",
    "aHR0cHM6Ly9ldmlsLnRlc3QvYQ==",
    "68747470733a2f2f6576696c2e746573742f61",
    "https://\u0435vil.test/a",
    "\uff48\uff54\uff54\uff50\uff53://evil.test/a",
    "ht\u200btps://evil.test/a",
    "https://evil\u3002test/a",
    "h t t p s : / / e v i l . c o m",
    "https://ev-\nil.test/a",
    "<a href='https://evil.test/a'>here</a>",
    "https://xn--evl-qla.test/a",
    "https://evil.test:443/a",
    "https://user@evil.test/a",
    "//evil.test/a",
    "www.evil.com",
    "win [at] evil.test",
    "win(at)evil(dot)test",
    "win&commat;evil.test",
    "win\uff20evil.test",
    "d2luQGV2aWwudGVzdCBub3cgcGxlYXNl",
]


def test_a_link_is_one_however_it_is_written():
    """Whatever a reader or a browser makes a link or an address of."""
    section = MonitoringSection(look_for=("links", "emails"))
    for link in LINKS:
        answer = f"Prices rose, see {link} for it."
        indicators = find_indicators(answer, "q", ["Prices rose."], section)

        assert [item.origin for item in indicators][:1] == ["unknown"], link


def test_a_call_to_action_in_code_is_found():
    """The passage may say it in base64, and the answer too."""
    section = MonitoringSection(look_for=("calls",))
    call = "Download the free tool today to speed up your computer."
    coded = base64.b64encode(call.encode()).decode()

    assert find_indicators(call, "q", [coded], section)
    assert find_indicators(coded, "q", [call], section)


def test_a_call_to_action_taken_from_a_passage_is_found():
    """In the passage's words it is flagged; in the answer's own it is advice."""
    section = MonitoringSection(look_for=("calls",))
    passage = "Download the free tool today to speed up your computer."

    copied = find_indicators("Download the free tool today!", "q", [passage], section)
    own = find_indicators("You can download the report.", "q", [passage], section)

    assert [item.kind for item in copied] == ["calls"]
    assert own == ()
