"""Canaries in all that a guarded tool writes, and in threads that principals share."""

from __future__ import annotations

import pytest

from .canaries import leaked
from .matrix import CHANNELS, settled
from .subject import THREAD_ROWS, TOOL_ROWS

CELLS = [
    pytest.param(channel, mode, id=f"{channel.framework}-{channel.name}-{mode}")
    for channel in CHANNELS
    for mode in channel.watch
]


@pytest.mark.parametrize(("channel", "mode"), CELLS)
def test_a_channel_is_sealed_or_said_to_be_open(channel, mode):
    """A canary is seen in an open one, or the table would say less than is true."""
    seen = settled(channel.watch[mode]())

    assert bool(leaked(seen)) == bool(channel.open_since)
    assert channel.shows in str(seen)


def test_every_channel_has_a_row():
    assert {channel.name for channel in CHANNELS} == {*TOOL_ROWS, *THREAD_ROWS}
