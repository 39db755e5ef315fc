"""The example's service over answers without models, which may be made to leak."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path

from fastapi import FastAPI
from rag_service.collection import Note, notes
from rag_service.service import Found, create_app
from rag_service.settings import Settings

from sdrag import current_principal

_HIDDEN = {
    "names": re.compile(r"Anna \w+"),
    "e-mail": re.compile(r"\S+@\S+"),
    "phone": re.compile(r"\+1 [\d-]+"),
}


def protecting(policy: str, text: str) -> str:
    """Hide what the policy names."""
    for word, pattern in _HIDDEN.items():
        text = pattern.sub("[REDACTED]", text) if word in policy else text
    return text


def leaking(policy: str, text: str) -> str:
    """Hide what every policy names, and no more."""
    return protecting("phone", text)


class Answerer:
    """Answers with all the documents of the caller's tenant, a word at a time."""

    def __init__(self, hide: Callable[[str, str], str], settings: Settings) -> None:
        self._hide, self._policy = hide, Path(settings.policy)
        self._notes: list[Note] = notes(settings.documents)

    async def retrieve(self, question: str) -> list[Found]:
        caller, policy = current_principal(), self._policy.read_text()
        await asyncio.sleep(0.05)
        return [
            Found(note.source, self._hide(policy, note.text))
            for note in self._notes
            if caller and note.tenant == caller.tenant
        ]

    async def answer(
        self, question: str, passages: Sequence[Found]
    ) -> AsyncIterator[str]:
        for passage in passages:
            await asyncio.sleep(0.02)
            yield passage.text


def create() -> FastAPI:
    """Make one that protects."""
    return create_app(partial(Answerer, protecting))


def create_leaking() -> FastAPI:
    """Make one that does not."""
    return create_app(partial(Answerer, leaking))
