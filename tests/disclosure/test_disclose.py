"""A model that fails, hangs or talks leads to a withheld passage, never a raw one."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from sdrag.calls import Limits, Port
from sdrag.disclosure import DisclosureSetup, MemoryBindings, disclose
from sdrag.performing import PortPerformer, Ports
from sdrag.policy import Policy
from sdrag.steps import Reply, arun, run
from sdrag.testing import canary, toy_vectors
from sdrag.vocabulary import Finding, Passage, Span

SECRET, PUBLIC = canary("secret"), canary("public")
PASSAGE = Passage("p", f"{PUBLIC} saw {SECRET} there.", {"title": SECRET}, 0.7)
POLICY = {
    "constraints": ["Conceal what the witness saw"],
    "metadata": {"allow": ["title"]},
}


class Blind:
    """A locator that sees nothing."""

    def locate(self, passages, constraints):
        yield from ()
        return [Reply(()) for _ in passages]


class Seeing(Blind):
    """A locator that sees the secret."""

    def locate(self, passages, constraints):
        yield from ()
        return [
            Reply(
                tuple(
                    Finding(
                        Span(p.text.index(SECRET), p.text.index(SECRET) + len(SECRET)),
                        c.id,
                    )
                    for c in constraints
                    if SECRET in p.text
                )
            )
            for p in passages
        ]


class Broken(Blind):
    def locate(self, passages, constraints):
        yield from ()
        raise ValueError(SECRET)


class Forgetful(Blind):
    def locate(self, passages, constraints):
        yield from ()
        return []


def said(*spans):
    return json.dumps({"verdicts": [{"constraint": "c1", "spans": list(spans)}]})


def asked(model, locator, face, passages=(PASSAGE,)):
    setup = DisclosureSetup(
        Policy.read(POLICY), MemoryBindings(), locator, has_model=model is not None
    )
    ports = Ports(
        complete=Port(model) if model else None,
        embed=Port(lambda effect: toy_vectors(effect.items)),
    )
    steps = disclose(list(passages), "what?", None, setup)
    performer = PortPerformer(ports, Limits(seconds=0.3))
    return (
        run(steps, performer) if face == "sync" else asyncio.run(arun(steps, performer))
    )


def failing(_):
    raise ConnectionError(SECRET)


@pytest.fixture(params=["sync", "async"])
def face(request):
    return request.param


@pytest.mark.parametrize(
    ("model", "locator"),
    [
        pytest.param(failing, Blind(), id="failing"),
        pytest.param(lambda _: str(time.sleep(0.6)), Blind(), id="hanging"),
        pytest.param(
            lambda _: f"I see {SECRET}, nothing to hide!", Blind(), id="talkative"
        ),
        pytest.param(lambda _: '{"verdicts": []}', Blind(), id="missing verdict"),
        pytest.param(
            lambda _: said("elsewhere entirely"), Blind(), id="span not in text"
        ),
        pytest.param(lambda _: None, Blind(), id="no text"),
        pytest.param(None, Broken(), id="broken locator"),
        pytest.param(None, Forgetful(), id="locator that loses a text"),
        pytest.param(lambda _: said(), Broken(), id="broken locator beside a model"),
    ],
)
def test_doubt_withholds(model, locator, face):
    """Whatever goes wrong, the passage does not leave, and no reason quotes it."""
    disclosed = asked(model, locator, face)

    assert [r.passage for r in disclosed.redactions] == [None]
    assert disclosed.decisions[0].action == "withheld"
    assert disclosed.decisions[0].reason
    assert SECRET not in repr(disclosed)


@pytest.mark.parametrize(
    ("model", "locator"),
    [
        pytest.param(lambda _: said(SECRET), Blind(), id="model"),
        pytest.param(None, Seeing(), id="local"),
        pytest.param(lambda _: said(), Seeing(), id="talked into nothing to redact"),
    ],
)
def test_either_finding_is_enough(model, locator, face):
    """Model and local findings are united; text and metadata are cut, no more."""
    (redaction,) = asked(model, locator, face).redactions

    assert redaction.passage.text == f"{PUBLIC} saw [REDACTED] there."
    assert SECRET not in str(dict(redaction.passage.metadata))
    assert (redaction.passage.id, redaction.passage.score) == ("p", 0.7)
    assert PASSAGE.metadata["title"] == SECRET


def test_an_explicit_empty_verdict_is_honoured(face):
    """Where nothing local speaks against it, a model may say that nothing has to go."""
    (redaction,) = asked(lambda _: said(), Blind(), face).redactions

    assert redaction.passage.text == PASSAGE.text
