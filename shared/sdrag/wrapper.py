"""
What every wrapper of either framework shares: its arguments, its reload, no pickles.

A wrapper makes an `Engine` of its arguments. A request takes one engine at its start,
so a policy that is read again holds for the requests that begin afterwards.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, fields, replace
from hmac import compare_digest
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from sdrag.configuration import Stage
from sdrag.effects.prompts import Label
from sdrag.effects.steps import Steps
from sdrag.embeddings import installed
from sdrag.engine import Engine, strip_text
from sdrag.errors import (
    HostError,
    MissingExtraError,
    SdragError,
    UsageError,
    cut_off,
)
from sdrag.framework import Framework
from sdrag.guardrails.answer_work import Draft
from sdrag.guardrails.grounding.check import find_unsupported
from sdrag.guardrails.notices import sources
from sdrag.guardrails.results import RELEASE_STAMP, evidence, import_evidence
from sdrag.health import Health, check_health
from sdrag.highlight.exchange import Highlighter, Inquiry, Settings
from sdrag.highlight.highlighters import highlighter_named
from sdrag.options import Options
from sdrag.policy import Policy, PolicySource
from sdrag.privacy.operator_warnings import tell_of_reload
from sdrag.state import State, StateSource, open_state
from sdrag.vocabulary import Confidential, Highlight, Passage

T = TypeVar("T")
Model = TypeVar("Model")
Embeddings = TypeVar("Embeddings")
HostRetriever = TypeVar("HostRetriever")
NOTHING_RELEASED = "Nothing was found that may be disclosed."
"""What an agent reads in place of a text that may not be disclosed."""


class Unpickled:
    """A wrapper that refuses to be pickled: its policy is confidential."""

    _framework: ClassVar[Framework]
    _stage: ClassVar[Stage]
    _engine: Engine

    def _make_engine(self, *given: Any) -> Engine:
        return Engine(*given, stage=self._stage, framework=self._framework)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise UsageError(
            f"A {type(self).__name__} holds a confidential policy, and is not pickled.",
            hint="Build it where it is used.",
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(policy_hash={self._engine.policy_hash!r})"

    __str__ = __repr__


class ReloadableWrapper(Unpickled):
    """A wrapper that reads the file of its policy again."""

    _path: Path | None

    def _set_up(self, policy: PolicySource, *given: Any, **fields: Any) -> None:
        """Make an engine, and with it and the fields what the framework needs."""
        engine = self._make_engine(policy, *given)
        self._initialize(engine, fields)
        self._engine, self._path = engine, None
        if isinstance(policy, (str, Path)):
            self._path = Path(policy).absolute()

    def _initialize(self, engine: Engine, fields: dict[str, Any]) -> None:
        """Initialize the base class of the framework, where it has to be."""

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

    def health(self) -> Health:
        """Return whether it can answer, for a probe; see `Health`."""
        return check_health(self._engine, self._path)

    def in_force(self) -> Engine:
        """Return the engine of a request that begins now, from its start to its end."""
        return self._engine


class DisclosureRetriever(ReloadableWrapper, Generic[HostRetriever, Model, Embeddings]):
    """Retrieves what the policy lets be disclosed."""

    def __init__(
        self,
        base_retriever: HostRetriever,
        policy: PolicySource,
        llm: Model | None = None,
        *,
        embeddings: Embeddings | None = None,
        state: StateSource = None,
        options: Options | None = None,
        k: int | None = None,
    ) -> None:
        """
        Wrap a retriever.

        Args:
            base_retriever: The application's own retriever, or a `FilteredRetriever`,
                whose store is asked only for what the principal may see.
            policy: A path, a mapping, a list of sentences or a `Policy`.
            llm: Finds what the constraints mean; without one, the local engine does.
            embeddings: Compares constraints with passages; MiniLM by default.
            state: What a `ConstraintBinder` wrote, or its path; in memory by default.
            options: A detector, judges, sinks of audit events and the like.
            k: How many passages are wanted; the application's own number by default.

        Raises:
            PolicyError: The policy cannot be read.
            UsageError: An argument is not what it must be.
            HostError: At a call: the wrapped retriever failed.
        """
        given = {"base_retriever": base_retriever, "k": k}
        self._set_up(policy, llm, embeddings, state, options, **given)


@dataclass(frozen=True, init=False, repr=False, eq=False)
class StageBuilder(Confidential, Generic[Model, Embeddings]):
    """What the stages of a graph share: one policy, one state, the models."""

    policy: PolicySource
    state: State
    llm: Model | None
    embeddings: Embeddings | None
    options: Options | None

    def __init__(
        self,
        policy: PolicySource,
        state: StateSource = None,
        llm: Model | None = None,
        *,
        embeddings: Embeddings | None = None,
        options: Options | None = None,
    ) -> None:
        """
        Set up a builder of stages.

        Args:
            policy: A path, a mapping, a list of sentences or a `Policy`.
            state: What is remembered, its path or its URL; in memory by default.
            llm: The model of every stage that asks one.
            embeddings: Compare constraints with documents; MiniLM by default.
            options: What else the stages take.

        Raises:
            UsageError: The state cannot be opened. Each method raises what the class
                raises that it builds.
        """
        given = (policy, open_state(state), llm, embeddings, options)
        for item, value in zip(fields(self), given, strict=True):
            object.__setattr__(self, item.name, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @property
    def _common(self) -> dict[str, Any]:
        return {"policy": self.policy, "state": self.state, "options": self.options}

    @property
    def _models(self) -> dict[str, Any]:
        return {"llm": self.llm, "embeddings": self.embeddings, **self._common}


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


def choose_highlighter(engine: Engine, given: Highlighter | str | None) -> Highlighter:
    """
    Return the highlighter that a wrapper was given, or named.

    `engine`: where it has a model, the default is `structured`, else `local`.

    Raises:
        UsageError: The highlighter needs a model and there is none.
        MissingExtraError: The local one needs the extra `local`.
    """
    chosen = given or ("structured" if engine.has_model else "local")
    if chosen == "local" and not installed():
        raise MissingExtraError("The highlighter `local`", "local")
    if isinstance(chosen, str):
        if chosen != "local" and not engine.has_model:
            raise UsageError(f"The highlighter {chosen!r} needs `llm=`.")
        return highlighter_named(chosen)
    return chosen


def make_settings(engine: Engine, highlighter: Highlighter) -> Settings:
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
        has_model=engine.has_model,
        placeholders=placeholders,
        limits=engine.limits,
        grounding=ground if policy.highlight.grounded else None,
    )


def label_question(
    question: str, passages: tuple[Passage, ...], engine: Engine
) -> Inquiry:
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


def cite(highlights: Sequence[Highlight], asked: Inquiry) -> list[Passage]:
    """Give each highlight as a passage, with the metadata of the one it stands in."""
    passages = {passage.id: passage for passage in asked.passages}
    return [replace(passages[each.passage_id], text=each.text) for each in highlights]


def tool_question(arguments: Iterable[object]) -> str:
    """Return what a model asked a tool; it ranks constraints, no more."""
    return " ".join(value for value in arguments if isinstance(value, str))


def tool_error(error: Exception, hint: str) -> SdragError:
    """Keep an error of sdrag; any other may quote text, and agents show it."""
    if isinstance(error, SdragError):
        return error.sealed()
    return HostError(f"The tool failed with {type(error).__name__}.", hint=hint)


def tool_answer(released: T | SdragError) -> T:
    """Return what a tool answers, or raise its error, far from the tool's frames."""
    if isinstance(released, SdragError):
        raise released
    return released
