"""All that is built by a rule of some register: one finder for scan's list."""

from __future__ import annotations

from collections.abc import Iterator

from sdrag.detectors.local.anchors import anchors
from sdrag.detectors.local.bank_accounts import bank_accounts
from sdrag.detectors.local.everyday_names import everyday_names
from sdrag.detectors.local.foreign_dates import foreign_dates
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.grouped import grouped
from sdrag.detectors.local.machine_addresses import network
from sdrag.detectors.local.nationals import nationals
from sdrag.detectors.local.phones import phones
from sdrag.detectors.local.plates import plates
from sdrag.detectors.local.postcodes import postcodes
from sdrag.detectors.local.timestamps import timestamps
from sdrag.detectors.local.wallets import wallets
from sdrag.detectors.local.words import Tokens

__all__ = ["schemes"]


def schemes(tokens: Tokens) -> Iterator[Found]:
    """Yield identifiers, addresses of machines, moments and everyday names."""
    text = tokens.text
    places = anchors(tokens)
    yield from everyday_names(tokens)
    yield from network(tokens, places)
    yield from bank_accounts(tokens, places)
    if tokens.numbers:
        yield from phones(tokens)
        yield from wallets(tokens)
        yield from grouped(text, places)
        yield from nationals(tokens)
        yield from plates(tokens, places)
        yield from postcodes(tokens, places)
        yield from timestamps(text, places)
        yield from foreign_dates(tokens)
