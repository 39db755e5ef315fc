"""What workers do, without Ray: the same as one process, however it is divided."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sdrag.cli.app import app
from sdrag.detectors.local import LocalDetector
from sdrag.distributed import RayOptions, RayPlacement, masking
from sdrag.distributed.binding import _binding, _engine, _local, _Replaying
from sdrag.distributed.workers import _answered, _opened, _ready
from sdrag.effects.steps import run
from sdrag.errors import HostError, UsageError
from sdrag.linkage import mask_corpus as mask_here
from sdrag.pipeline import bind
from sdrag.policy import Policy
from sdrag.vocabulary import Passage
from tests.distributed.corpora import KEY, corpus

RULES = {"constraints": [{"text": "Hide telephone numbers", "always": True}]}


def through_pickle(data: Any) -> Any:
    return pickle.loads(pickle.dumps(data))  # noqa: S301 -- made on this very line


@pytest.fixture
def pickled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have parcels worked on here, through the pickles that Ray would carry."""

    def carried(make: Any, common: Any, parcels: Any, count: int, _: Any) -> Any:
        made, given = through_pickle((make, tuple(common)))
        work = made(*given)
        sent = list(map(through_pickle, parcels))
        assert len(sent) == count
        return (through_pickle(work(parcel)) for parcel in sent)

    monkeypatch.setattr(masking, "placed", carried)


def said(masked: Any) -> Any:
    rows = [(d.id, d.text, dict(d.metadata), d.document_id) for d in masked.documents]
    return rows, masked.decisions, masked.plan.masked.tolist()


def test_masking_through_parcels_is_masking(pickled: None) -> None:
    """What workers are sent suffices for the same masked documents."""
    documents = corpus()
    placement = RayPlacement(RayOptions(blocks=3))
    section = masking.read_settings(None)
    rows = list(placement.detected([d.text for d in documents], LocalDetector()))
    found = list(placement.looked_again(documents, rows, masking.weights_of(section)))
    steps = masking.mask_found(documents, found, section, KEY, placement=placement)
    there = run(steps, masking.local_runner())
    here = mask_here(documents, None, LocalDetector(), key=KEY)
    assert said(here) == said(there)


def test_a_worker_tells_the_type_of_an_error_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message of an error may quote a text, so it stays where it is."""
    monkeypatch.setitem(_ready, "common", _failing)
    with pytest.raises(HostError, match="failed with ValueError") as caught:
        _opened(_answered("common", [], pickle.dumps(["canary text"])))
    assert "canary" not in repr(caught.value)
    assert caught.value.__cause__ is None


def _failing(text: str) -> None:
    raise ValueError(text)


def test_what_a_worker_found_is_written_as_if_found_here(tmp_path: Path) -> None:
    """Replaying asks the local engine for nothing, and the state is the same."""
    rules = Policy.read(RULES)
    chunks = [
        Passage(f"c{n}", f"Call 0171 555{n:04d} at noon.", {"source": f"d{n // 2}"})
        for n in range(8)
    ]
    recording = _binding(rules, KEY)(masking.plain_passages(chunks))
    assert recording
    replaying = _Replaying.of(_engine(rules, tmp_path / "a.sqlite"), KEY)
    replaying.locator.locator = _Refusing(replaying.locator.identity)
    told: list[int] = []
    done = replaying.bound(lambda: chunks, [False], iter([recording]), told.append)
    assert told == [len(chunks)]
    alone = run(bind(chunks, _engine(rules, tmp_path / "b.sqlite")), _local())
    assert done == alone


class _Refusing:
    def __init__(self, identity: str) -> None:
        self.identity = identity

    def locate(self, *_: Any) -> Any:
        raise AssertionError


@pytest.mark.parametrize("name", ["workers", "blocks", "memory"])
def test_a_number_below_one_is_refused(name: str) -> None:
    """An option says which number is wrong."""
    with pytest.raises(UsageError, match=name):
        RayOptions(**{name: 0})


def test_a_model_is_not_asked_from_workers(tmp_path: Path) -> None:
    """With a model, the engine is refused before anything is read."""
    given = ["mask", str(tmp_path), str(tmp_path / "o"), "--engine", "ray"]
    result = CliRunner().invoke(app, [*given, "--llm", "langchain:openai:x"])
    assert isinstance(result.exception, UsageError)
