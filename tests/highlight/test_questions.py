"""Section 9 of the paper: several questions, a yes or a no, diverging guesses."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sdrag.effects.callers import iterate_sync
from sdrag.effects.steps import run
from sdrag.highlight.answering import answer, split_questions
from sdrag.highlight.exchange import Inquiry, Settings
from sdrag.highlight.streaming import stream
from sdrag.policy import HighlightSection
from sdrag.vocabulary import Passage

from ..support.scripted import Scripted
from .test_answering import host_of

OPENS = "The museum opens at ten on weekdays."
COSTS = "A ticket costs twelve euros."
TOURS = "Guided tours start at noon."
PASSAGES = (Passage("p1", f"{OPENS} {COSTS}"), Passage("p2", TOURS))
DECLINE = HighlightSection().decline_text
OPENING, PRICE = "When does the museum open?", "What does a ticket cost?"


def highlight(question, context):
    """Highlight what the first word of the table leads to that the question holds."""
    answers = {"open": OPENS, "cost": COSTS, "tour": TOURS}
    found = [text for word, text in answers.items() if word in question.text]
    return found[:1]


def ask(question, model=None, embed=None, **rules):
    """Answer; return the answer, and the prompts as the model reads them."""
    section = HighlightSection.model_validate(rules)
    held = Settings(highlight, section, has_model=model is not None)
    runner = Scripted(complete=model, embed=embed)
    result = run(answer(Inquiry(question, PASSAGES), held), runner)
    return result, [
        "\n".join(message.content.text for message in item.messages)
        for effect in runner.effects
        for item in effect.items
        if not isinstance(item, str)
    ]


@pytest.mark.parametrize(
    "parts",
    [
        [OPENING, PRICE],
        ["I am a student. When does it open?", PRICE],
        [OPENING, "What does a ticket cost? I am a student."],
        ["When does it open", "what does a ticket cost?"],
        ["When does it open", "how much is a ticket?"],
        ["What is the fee", "is it refundable?"],
        ["When was the hall built", "who built it?"],
        ["\u00bfCu\u00e1ndo abre?", "\u00bfCu\u00e1nto cuesta?"],
        ["Wann \u00f6ffnet es?", "Was kostet eine Karte?"],
        ["Is it open? ", "Really?", "And on Sundays?"],
    ],
)
def test_a_message_is_split_at_its_questions(parts):
    """Marks part them, and an *and* before a question of its own."""
    joint = " and " if parts[0][-1].isalpha() else " "
    message = joint.join(part.strip() for part in parts)

    assert split_questions(message, 3) == tuple(part.strip() for part in parts)
    assert len(split_questions(message, 2)) == 2


@pytest.mark.parametrize(
    "message",
    [
        "",
        "?",
        "Opening hours",
        OPENING,
        "When and where does it open?",
        "When does it open and close?",
        "What is the difference between what I pay and what I get?",
        "Do you know how old he is and where he lives?",
        "Is the museum open on Mondays and Tuesdays?",
        "Which rooms are warm and quiet?",
    ],
)
def test_one_question_stays_whole(message):
    """An *and* within it parts nothing."""
    assert split_questions(message, 8) == (message,)


@pytest.mark.parametrize(
    ("question", "most", "text", "reason"),
    [
        (f"{OPENING} {PRICE}", 1, OPENS, ""),
        (f"{OPENING} {PRICE}", 2, f"{OPENS}\n{COSTS}", ""),
        (f"{PRICE} {OPENING}", 2, f"{COSTS}\n{OPENS}", ""),
        (f"{OPENING} {OPENING}", 2, OPENS, ""),
        (f"{OPENING} {PRICE} When is the tour?", 8, f"{OPENS}\n{COSTS}\n{TOURS}", ""),
        (f"{OPENING} Who is king?", 2, f"{OPENS}\n{DECLINE}", "nothing-highlighted"),
        ("Who is king? Who is queen?", 2, DECLINE, "nothing-highlighted"),
    ],
)
def test_several_questions_are_answered_in_their_order(question, most, text, reason):
    """Each by itself, up to as many as the policy says; a stream says the same."""
    result, _ = ask(question, max_questions=most)
    held = Settings(highlight, HighlightSection(max_questions=most))
    host = host_of(Scripted(), lambda _: [])
    pieces = list(iterate_sync(stream(Inquiry(question, PASSAGES), held, host)))

    assert (result.text, result.reason) == (text, reason)
    assert result.ending.declined is (text == DECLINE)
    assert pieces == [result.highlights, text, result.ending]


@pytest.mark.parametrize(
    ("reply", "tag"),
    [
        ({"is_yes_no": True, "says_yes": True}, "the answer is yes"),
        ({"is_yes_no": True, "says_yes": False}, "the answer is no"),
        ({"is_yes_no": False, "says_yes": True}, None),
        ({"is_yes_no": "Say hi", "says_yes": "Say hi"}, None),
        ({"is_yes_no": True}, None),
        ("Say hi", None),
        (ConnectionError("down"), None),
    ],
)
def test_a_summarizer_is_told_a_yes_or_a_no(reply, tag):
    """And nothing else of the question; unless the policy wants it, nobody is asked."""

    def model(prompt):
        if prompt.name == "highlight.summarize":
            return json.dumps({"answer": "Yes."})
        if isinstance(reply, Exception):
            raise reply
        return json.dumps(reply)

    result, (asked, told) = ask("Does it open at ten?", model, yes_no=True)
    _, (plain,) = ask("Does it open at ten?", model)

    assert (result.text, result.reason) == ("Yes.", "")
    assert OPENS in asked
    assert TOURS not in asked
    assert "Say hi" not in told
    assert tag in told if tag else told == plain


@pytest.mark.parametrize(
    ("guesses", "is_like"),
    [
        (["When does it open?"], True),
        (["Who works there?", "When does it open?"], True),
        (["Who works there?"], False),
        ([], False),
        (["Who works there?"] * 3 + ["When does it open?"], False),
    ],
)
def test_guesses_that_diverge_from_the_question_decline(guesses, is_like):
    """Three are read; without the setting none is asked for."""

    def model(prompt):
        return json.dumps({"guessed_questions": guesses, "answer": "At ten."})

    def embed(texts):
        return [np.eye(2, dtype=np.float32)[int("open" in text)] for text in texts]

    result, (asked,) = ask(OPENING, model, embed, min_similarity=0.5)
    plain, (unasked,) = ask(OPENING, model)
    broken, _ = ask(OPENING, model, None, min_similarity=0.5)

    assert result.reason == ("" if is_like else "question-diverges")
    assert broken.reason == "question-diverges"
    assert plain.text == "At ten."
    assert "guess" in asked
    assert "guess" not in unasked
