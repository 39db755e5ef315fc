"""Canaries in every passage, and a look into every place that data can leave by."""

from __future__ import annotations

import asyncio
import inspect

import pytest

import langchain_sdrag
import llamaindex_sdrag
from sdrag.errors import HostError

from ..support.faces import RETRIEVERS, Scenario
from .canaries import IDENTITY, QUERY, RAW, SETTINGS, leaked
from .subjects import SUBJECTS
from .surfaces import inspected, told, watching_langchain, watching_llamaindex

CELLS = [
    pytest.param(subject, mode, id=f"{subject.framework}-{subject.name}-{mode}")
    for subject in SUBJECTS
    for mode in subject.modes
]


def observe(subject, mode, folder):
    """Use a class in a mode with every surface open; return what was seen where."""
    if subject.framework == "langchain":
        with watching_langchain(folder) as (handler, seen):
            built = subject.build(folder)
            config = {"callbacks": [handler]}
            released = _settled(subject.modes[mode](built, config))
    else:
        with watching_llamaindex(folder) as seen:
            built = subject.build(folder)
            released = _settled(subject.modes[mode](built, {}))
    if subject.releases:
        name = "`astream_events`" if mode == "astream_events" else "what is released"
        seen[name] = [released]
    return seen | inspected(subject.wrapper(built))


def _settled(value):
    if inspect.isawaitable(value):

        async def waiting():
            return await value

        return asyncio.run(waiting())
    return value


@pytest.mark.parametrize(("subject", "mode"), CELLS)
def test_no_canary_is_seen_anywhere(subject, mode, tmp_path):
    """Every surface is sealed, but for those that the host fills before it calls us."""
    seen = observe(subject, mode, tmp_path)

    found = {surface: leaked(values) for surface, values in seen.items()}
    found["files"] -= {IDENTITY}  # the sidecar finds bindings by the host's own ids
    expected = {name for name in found if name in subject.host_first}
    assert {name for name, names in found.items() if names} == expected


@pytest.mark.parametrize("face", RETRIEVERS, ids=lambda face: face.__name__)
def test_what_an_error_drags_along_holds_no_canary(face):
    """Neither its text, nor the chain behind it, nor the locals of our frames."""
    with pytest.raises(HostError) as caught:
        face(Scenario("host", policy=SETTINGS, query=QUERY, fault=ValueError(RAW)))

    assert not leaked(told(caught.value))


def test_every_public_class_is_in_the_matrix():
    """A class that is added without being watched fails here."""
    watched = {(subject.framework, subject.name) for subject in SUBJECTS}
    public = {("langchain", name) for name in langchain_sdrag.__all__} | {
        ("llamaindex", name) for name in llamaindex_sdrag.__all__
    }

    assert watched == public
