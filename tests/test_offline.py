"""The suite cannot reach a network, and would say so."""

from __future__ import annotations

import os
import socket

import pytest


@pytest.mark.filterwarnings("ignore:A test tried to use")
@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("2001:db8::1", 80)])
def test_sockets_to_other_machines_are_refused(address):
    """A connection to anything but loopback is an error of the test."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family) as opened, pytest.raises(RuntimeError):
        opened.connect(address)


def test_names_are_not_resolved():
    """Looking up a host is already leaving the machine."""
    with pytest.raises(RuntimeError):
        socket.create_connection(("example.org", 80))


def test_loopback_is_open():
    """A test's own server can be talked to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()


def test_hubs_are_told_to_stay_offline():
    """Model hubs read the environment before they download."""
    assert os.environ["HF_HUB_OFFLINE"] == "1"
