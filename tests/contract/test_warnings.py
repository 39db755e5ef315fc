"""Nobody is left guessing: what hides passages unmeant is warned of, once a wrapper."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

import sdrag.embeddings
from sdrag.disclosure.local import LocalLocator
from sdrag.effects.limits import Limits
from sdrag.errors import MissingExtraError
from sdrag.privacy.reasons import REASONS
from sdrag.vocabulary import Passage

from ..support.doubles import failing, garbled, hanging, verdicts
from ..support.faces import (
    BUILDERS,
    Scenario,
    aask,
    ask,
    langchain_retriever,
    llamaindex_postprocessor,
)
from ..support.frameworks import BOTH, SYNC_AND_ASYNC, LangChain

QUAY = "On the quay the witness Anna Karlsson saw two men unload crates at dawn."
CREW = "The crew of the boat slept."
TWO = (Passage("p1", QUAY, score=0.9), Passage("p2", CREW, score=0.8))
NAMES = {"id": "names", "text": "Remove the names of witnesses", "always": True}
ONLY = {"id": "only", "text": "Only the verdict may be disclosed", "always": True}
POLICY = {"constraints": [NAMES]}
MEANT = {"constraints": [ONLY]}
RANKED = {
    "constraints": ["Remove the names of witnesses", "Hide dates"],
    "disclosure": {"top_k": 1},
}
WITHHOLDING = {"constraints": [{**NAMES, "method": "withhold"}]}
NOBODY = Scenario("nobody", TWO, {**POLICY, "access": {}})
LATE = Limits(seconds=0.1)


def missing(*args: Any) -> Any:
    raise MissingExtraError("The packaged MiniLM", "local")


def broken(*args: Any) -> Any:
    raise RuntimeError(QUAY)


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Return what was warned of on the logger `sdrag`."""
    caplog.set_level(logging.DEBUG, "sdrag")

    def messages() -> list[str]:
        return [
            record.getMessage()
            for record in caplog.records
            if record.name == "sdrag" and record.levelno == logging.WARNING
        ]

    return messages


CAUSES = {
    "failed-missingextra": (Scenario("no MiniLM", TWO, RANKED), "sdrag[local]"),
    "model-failed": (Scenario("failing", TWO, MEANT, reply=failing), "provider"),
    "no-verdict": (Scenario("garbled", TWO, MEANT, reply=garbled), "stronger model"),
    "model-timeout": (
        Scenario("hanging", TWO, MEANT, reply=hanging, limits=LATE),
        "timeout_seconds",
    ),
    "no-principal": (NOBODY, "with acting_as(principal): ..."),
    "detector-failed": (Scenario("broken detector", TWO, POLICY), "detector"),
    "withheld-by-constraint": (Scenario("all", TWO[:1], WITHHOLDING), "by names"),
    "below-floor": (
        Scenario("off topic", TWO, {"relevance": {"min_score": 0.95}}),
        "relevance.min_score",
    ),
}


@pytest.mark.parametrize("build", [langchain_retriever, llamaindex_postprocessor])
@pytest.mark.parametrize("code", CAUSES)
def test_a_cause_is_warned_of_once(build, code, warned, monkeypatch):
    """With what happened and what mends it, in no word of a passage."""
    if code == "failed-missingextra":
        monkeypatch.setattr(sdrag.embeddings, "embed_texts", missing)
    if code == "detector-failed":
        monkeypatch.setattr(LocalLocator, "locate", broken)
    scenario, mend = CAUSES[code]
    wrapper = build(scenario)

    assert not ask(wrapper, scenario)
    assert not ask(wrapper, scenario)

    (message,) = warned()
    assert code in message
    assert mend in message
    assert REASONS[code].happened in message
    assert "Anna" not in message
    assert "crew" not in message


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario("healthy", TWO, POLICY),
        Scenario("model", TWO, POLICY, reply=verdicts(names=["Anna Karlsson"])),
        Scenario("one of two", TWO, WITHHOLDING),
        Scenario("nothing found", (), POLICY),
        Scenario("nothing asked", TWO, {"metadata": {"allow": ["source"]}}),
    ],
    ids=lambda scenario: scenario.name,
)
def test_what_is_meant_is_not_warned_of(scenario, warned):
    """Neither a redaction nor a passage withheld among others is a fault."""
    ask(langchain_retriever(scenario), scenario)

    assert warned() == []


@pytest.mark.parametrize("build", BUILDERS)
def test_every_wrapper_warns_for_itself(build, warned):
    """Sync or async; what one has warned of is news to the other."""
    first, second = build(NOBODY), build(NOBODY)
    ask(first, NOBODY)
    asyncio.run(aask(first, NOBODY))
    asyncio.run(aask(second, NOBODY))

    assert len(warned()) == 2


def bind(framework: Any, policy: Any, *batches: Any, is_async: bool = False) -> None:
    """Bind chunks by one binder; each batch is a list of the metadata of its chunks."""
    binder = framework.package.ConstraintBinder(
        policy, None, embeddings=framework.embeddings
    )
    for batch in batches:
        chunks = [framework.document(f"p{n}", QUAY, **d) for n, d in enumerate(batch)]
        framework.transform(binder, chunks, is_async=is_async)


def limited(key: str, **more: Any) -> dict[str, Any]:
    entry = {"id": "doses", "text": "Hide doses", "where": {key: ["x"]}, **more}
    return {"constraints": [entry]}


@BOTH
@SYNC_AND_ASYNC
def test_a_binder_warns_of_a_key_that_no_chunk_carries(framework, is_async, warned):
    """It is named with its constraint, and what becomes of it; once a binder."""
    batches = [{"department": "x"}, {}], [{"department": "y"}]
    bind(framework, limited("departmnt"), *batches, is_async=is_async)

    (message,) = warned()
    assert "constraint doses" in message
    assert "'departmnt'" in message
    assert "the constraint holds" in message
    assert "Anna" not in message


def test_what_a_binder_says_of_keys_and_documents(warned):
    """Nothing where a chunk carries the key; no word that may be somebody's name."""
    framework = LangChain()
    for batch in ([{"department": "y"}, {}], [{}, {"department": None}], []):
        bind(framework, limited("department"), batch)
    assert warned() == []

    bind(framework, limited("ward", where_missing="skip"), [{}])
    bind(framework, limited("patient Anna Karlsson"), [{}])
    bind(framework, POLICY, [{"source": None}, {"source": None}], [{"source": None}])

    skipped, unnamed, undocumented = warned()
    assert "the constraint does not hold" in skipped
    assert "constraint doses" in unnamed
    assert "2 of 2 chunks name no document" in undocumented
    assert "Anna" not in f"{skipped} {unnamed} {undocumented}"
