"""What a host configures is imported from `sdrag`."""

from __future__ import annotations

import sys

import sdrag
from sdrag import errors


def test_every_public_name_is_the_one_of_its_module():
    """`sdrag.Policy` is `sdrag.policy.Policy`, so `isinstance` agrees."""
    for name in sdrag.__all__:
        value = getattr(sdrag, name)
        assert value.__name__ == name
        assert value is getattr(sys.modules[value.__module__], name)


def test_every_error_is_a_public_name():
    """Whoever can catch an error can import it from `sdrag`."""
    assert {n for n in vars(errors) if n.endswith("Error")} <= set(sdrag.__all__)
