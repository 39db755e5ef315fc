"""
What every wrapper of either framework shares: its arguments, its reload, no pickles.

A wrapper makes an `Engine` of its arguments. A request takes one engine at its start,
so a policy that is read again holds for the requests that begin afterwards.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from hmac import compare_digest
from pathlib import Path
from typing import Any, TypeVar

from sdrag.effects.prompts import Label
from sdrag.effects.steps import Steps
from sdrag.engine import Engine, strip_text
from sdrag.errors import (
    HostError,
    SdragError,
    UsageError,
    cut_off,
)
from sdrag.guardrails.answer_work import Draft
from sdrag.guardrails.evidence import RELEASE_STAMP, evidence, import_evidence
from sdrag.guardrails.grounding.check import find_unsupported
from sdrag.guardrails.notices import sources
from sdrag.highlight.exchange import Highlighter, Inquiry, Settings
from sdrag.highlight.highlighters import highlighter_named
from sdrag.policy import Policy, PolicySource
from sdrag.privacy.operator_warnings import tell_of_reload
from sdrag.requirements import check_local_highlighter
from sdrag.vocabulary import Highlight, Passage

__all__ = [
    "NOTHING_RELEASED",
    "ReloadableWrapper",
    "Unpickled",
    "asked_of",
    "highlighter_of",
    "seal_stream",
    "settings_of",
    "tool_error",
    "tool_question",
]

T = TypeVar("T")
NOTHING_RELEASED = "Nothing was found that may be disclosed."
"""What an agent reads in place of a text that may not be disclosed."""


class Unpickled:
    """A wrapper that refuses to be pickled: its policy is confidential."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise UsageError(
            f"A {type(self).__name__} holds a confidential policy, and is not pickled.",
            hint="Build it where it is used.",
        )


class ReloadableWrapper(Unpickled):
    """A wrapper that reads the file of its policy again."""

    _engine: Engine
    _path: Path | None

    def _follow(self, engine: Engine, source: PolicySource | None) -> None:
        """Obey an engine, and know the file that the policy comes from, if any."""
        self._engine = engine
        self._path = None
        if isinstance(source, (str, Path)):
            self._path = Path(source).absolute()

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._engine.policy

    @property
    def policy_hash(self) -> str:
        """Sixteen digits that change with anything the policy in force says."""
        return self._engine.policy_hash

    def reload(self) -> None:
        """
        Read the policy's file again; requests that begin from now on are under it.

        Raises:
            PolicyError: The file cannot be read; the last policy stays in force.
            UsageError: The policy comes from no file, or asks for a model that was not
                passed; the last policy stays in force.
        """
        if self._path is None:
            raise UsageError(
                "This policy was not read from a file.",
                hint="Give the wrapper the path of one.",
            )
        before, self._engine = (
            self._engine,
            self._engine.replace(policy=Policy.read(self._path)),
        )
        tell_of_reload(
            before.policy.rules,
            self.policy.rules,
            old_hash=before.policy_hash,
            new_hash=self.policy_hash,
        )

    def in_force(self) -> Engine:
        """Return the engine of a request that begins now, from its start to its end."""
        return self._engine

    def __repr__(self) -> str:
        return f"{type(self).__name__}(policy_hash={self.policy_hash!r})"

    __str__ = __repr__


async def seal_stream(pieces: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """
    Yield what is streamed.

    Raises:
        SdragError: It failed; the error holds no text.
    """
    async with aclosing(pieces):
        while True:
            fault: SdragError | None = None
            try:
                piece = await anext(pieces)
            except StopAsyncIteration:
                return
            except Exception as error:  # noqa: BLE001 -- none leaves with text
                fault = strip_text(error)
            if fault is not None:
                raise cut_off(fault)
            yield piece


def highlighter_of(engine: Engine, given: Highlighter | str | None) -> Highlighter:
    """
    Return the highlighter that a wrapper was given, or named.

    `engine`: where it has a model, the default is `structured`, else `local`.

    Raises:
        UsageError: The highlighter needs a model and there is none.
        MissingExtraError: The local one needs the extra `local`.
    """
    has_model = engine.llm is not None
    chosen = given or ("structured" if has_model else "local")
    if chosen == "local":
        check_local_highlighter()
    if isinstance(chosen, str):
        if chosen != "local" and not has_model:
            raise UsageError(f"The highlighter {chosen!r} needs `llm=`.")
        return highlighter_named(chosen)
    return chosen


def settings_of(engine: Engine, highlighter: Highlighter) -> Settings:
    """Return how the questions of an engine are answered."""
    policy, placeholders = engine.policy, engine.disclosure.placeholders

    def ground(
        question: str, summary: str, highlights: Sequence[Highlight]
    ) -> Steps[str]:
        passages = tuple(Passage(each.passage_id, each.text) for each in highlights)
        draft = Draft(question, summary, passages)
        return find_unsupported(draft, policy, placeholders)

    return Settings(
        highlighter,
        policy.highlight,
        has_model=engine.llm is not None,
        placeholders=placeholders,
        limits=engine.limits,
        grounding=ground if policy.highlight.grounded else None,
    )


def asked_of(question: str, passages: tuple[Passage, ...], engine: Engine) -> Inquiry:
    """
    Label what is asked.

    `engine`: where its policy has constraints, passages are sensitive, unless each has
    the stamp of being released under this very policy.
    """
    read = sources(passages)
    is_clean = not engine.policy.constraints or all(
        _is_released(passage, engine) for passage in read
    )
    return Inquiry(question, read, Label.NONE if is_clean else Label.SENSITIVE)


def _is_released(passage: Passage, engine: Engine) -> bool:
    """Check the stamp: metadata is for anyone to write, but the key is not."""
    policy, keys = engine.policy, engine.disclosure.state.shared_keys
    facts = evidence(import_evidence(passage, policy.metadata.evidence))
    stamp = str(facts.get(RELEASE_STAMP, "")).encode("utf-8", "surrogatepass")
    return compare_digest(stamp, keys.release(policy.hash, passage.text).encode())


def tool_question(arguments: Iterable[object]) -> str:
    """Return what a model asked a tool; it ranks constraints, no more."""
    return " ".join(value for value in arguments if isinstance(value, str))


def tool_error(error: Exception, hint: str) -> SdragError:
    """Keep an error of sdrag; any other may quote text, and agents show it."""
    if isinstance(error, SdragError):
        return error.sealed()
    return HostError(f"The tool failed with {type(error).__name__}.", hint=hint)
