"""The load that is put on the example's service, for a second or two."""

from __future__ import annotations

import pytest

from benchmarks.service_load import bound, measured, options

SHORT = "--seconds 1.5 --clients 8 --documents 2 --swap 0.4 --cancel 0.3"
SCRIPTED = "tests.service.scripted_app"
FRAMEWORKS = [
    pytest.param("--framework langchain --workers 2", id="langchain"),
    pytest.param("--framework llamaindex --slots 4", id="llamaindex"),
]


def bound_by_nobody(*_):
    """What answers needs no state."""


@pytest.mark.parametrize("more", ["--workers 2", "--slots 4"])
def test_what_protects_is_found_to(more, capsys):
    """No leak, no mix, no error, no slot lost; counts are those of all processes."""
    given = options(f"{SHORT} {more}".split())

    assert measured(given, f"{SCRIPTED}:create", bound_by_nobody) == []
    shown = capsys.readouterr().out
    assert ("503: " in shown) is ("--slots" in more)
    assert "in the answer: " in shown
    assert "afterwards: 0 slots taken" in shown


def test_what_leaks_is_found_to():
    """Each answer holds canaries by which a leak is seen."""
    found = measured(
        options(SHORT.split()), f"{SCRIPTED}:create_leaking", bound_by_nobody
    )

    assert found == ["Something leaked, or could not be checked."]


@pytest.mark.slow
@pytest.mark.parametrize("more", FRAMEWORKS)
def test_each_framework_stands_the_load(more, capsys):
    """With a store, a model's server and the policy's own state."""
    given = options(f"{SHORT} {more}".split())

    app = f"rag_service.on_{given.framework}:create"
    assert measured(given, app, bound) == []
    assert "0 calls of the model running" in capsys.readouterr().out
