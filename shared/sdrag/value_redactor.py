"""
Redacting values that a tool writes: updates, events, items of a store, questions.

All texts of one value are read together, as parts of one document, so that a name that
is found in one of them is known in the others. A text without metadata is given all
that any constraint's `where` could ask for: every constraint holds for it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from types import MappingProxyType
from typing import Any

from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.pipeline import Disclosure, Request, disclose
from sdrag.policy import metadata_of_any
from sdrag.privacy.audit import AuditEvent
from sdrag.text.values import Rebuild, Recurse, rewrite_value, texts_in
from sdrag.vocabulary import Confidential, Passage, Principal

__all__ = ["NOTHING", "ValueRedactor"]

NOTHING = "Nothing was found that may be disclosed."
"""Replaces a text that may not be disclosed."""
Done = Mapping[int, Any]
_NONE: Done = MappingProxyType({})
_KEY = secrets.token_bytes(32)
_WHOLE = "value"


@dataclass(frozen=True, slots=True, repr=False)
class ValueRedactor(Confidential):
    """
    Redacts values for one principal under one policy.

    Args:
        engine: What enforces the policy.
        rebuild: Rebuilds the objects of the framework.
        principal: On whose behalf.
        question: Ranks constraints, and goes nowhere else.
        announce: Called with the audit event of every value.
        tool: The name of the tool that wrote the values, for warnings.
    """

    engine: Engine
    rebuild: Rebuild
    principal: Principal | None
    question: str = ""
    announce: Callable[[AuditEvent], None] = lambda _: None
    tool: str | None = None

    def redact(self, value: Any, done: Done = _NONE) -> Any:
        """
        Return a copy of a value that holds what may be disclosed.

        Args:
            value: What a tool wrote; it is not changed.
            done: What was made of objects in the value already, by `id`.

        Raises:
            SdragError: Nothing of it may be disclosed; the error holds no text.
        """
        rebuild = self._rebuilding(done)
        passages = self._passages(value, rebuild)
        return _rewritten(value, passages, self.disclose(passages), rebuild)

    async def aredact(self, value: Any, done: Done = _NONE) -> Any:
        """Return the copy without blocking the event loop; as `redact`."""
        rebuild = self._rebuilding(done)
        passages = self._passages(value, rebuild)
        return _rewritten(value, passages, await self.adisclose(passages), rebuild)

    def disclose(self, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Return what may be disclosed of passages that a tool retrieved."""
        disclosure, event = self.engine.run(self._steps(passages))
        self.announce(event)
        return disclosure.passages

    async def adisclose(self, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Return it without blocking the event loop."""
        disclosure, event = await self.engine.arun(self._steps(passages))
        self.announce(event)
        return disclosure.passages

    def _steps(self, passages: Sequence[Passage]) -> Steps[Disclosure]:
        request = Request(self.question, self.principal)
        disclosure = yield from disclose(passages, request, self.engine)
        return replace(disclosure, tool=self.tool)

    def _passages(self, value: Any, rebuild: Rebuild) -> list[Passage]:
        """Make one passage of all texts of a value, and one of each."""
        texts = texts_in(value, rebuild)
        if not texts:
            return []
        whole = "\n".join(texts)
        digest = blake2b(whole.encode("utf-8", "surrogatepass"), key=_KEY)
        metadata = metadata_of_any(self.engine.policy)
        ids = [_WHOLE, *(f"{_WHOLE}-{index}" for index in range(len(texts)))]
        return [
            Passage(name, text, metadata, document_id=digest.hexdigest())
            for name, text in zip(ids, (whole, *texts), strict=True)
        ]

    def _rebuilding(self, done: Done) -> Rebuild:
        def rebuild(value: Any, recurse: Recurse) -> Any:
            if id(value) in done:
                return done[id(value)]
            return self.rebuild(value, recurse)

        return rebuild


def _rewritten(
    value: Any,
    passages: Sequence[Passage],
    released: Sequence[Passage],
    rebuild: Rebuild,
) -> Any:
    """Build the copy; nothing is released where the texts together are not."""
    by_id = {passage.id: passage.text for passage in released}
    texts = {passage.text: by_id.get(passage.id) for passage in passages[1:]}
    if _WHOLE not in by_id:
        texts = {}
    return rewrite_value(value, texts.get, withheld=NOTHING, rebuild=rebuild)
