"""Answering effects in tests: each handler is the world's side of one effect."""

from __future__ import annotations

import pytest

from sdrag.errors import HostError
from sdrag.steps import Failure, Reply, run


class World:
    """A performer whose answers are functions; a missing one fails the effect."""

    def __init__(self, **handlers):
        self.handlers = handlers
        self.effects = []

    def perform(self, effect):
        self.effects.append(effect)
        name = type(effect).__name__.lower()
        if name == "compute" and name not in self.handlers:
            return [_computed(effect.function, item) for item in effect.items]
        if name not in self.handlers:
            raise HostError(f"nobody answers {name}")
        answers = [self.handlers[name](effect, item) for item in effect.items]
        return [one if isinstance(one, Failure) else Reply(one) for one in answers]


def _computed(function, item):
    return Reply(function(item))


@pytest.fixture
def ask():
    """Drive steps against a world made of handlers by effect name."""

    def drive(steps, **handlers):
        return run(steps, World(**handlers))

    return drive
