"""
What a wrapper takes beside its policy, its models and its state.

One frozen object serves all wrappers of an application. It is checked when it is made:
a sink that cannot be called, or a judge of an unknown name, is an error then and not at
the first question.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from inspect import isawaitable, iscoroutinefunction
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from sdrag.detectors import Detector
from sdrag.effects.calls import Port
from sdrag.effects.limits import Limits
from sdrag.effects.steps import Authorize, Score
from sdrag.errors import UsageError, check_type
from sdrag.privacy.audit import AuditSink, log_event
from sdrag.vocabulary import Passage, Principal

JudgeName = Literal["relevance", "injection", "entailment", "contradiction"]
_NAMES = get_args(JudgeName)


@runtime_checkable
class ScoresPairs(Protocol):
    """Such as LangChain's `BaseCrossEncoder`."""

    def score(self, text_pairs: Any) -> Sequence[float]:
        """Return a number for each pair."""
        ...


@runtime_checkable
class PredictsPairs(Protocol):
    """Such as `CrossEncoder` of sentence-transformers."""

    def predict(self, sentences: Any) -> Sequence[float]:
        """Return a number for each pair."""
        ...


Scorer = (
    Callable[[list[tuple[str, str]]], Sequence[float]] | ScoresPairs | PredictsPairs
)
Judges = Mapping[JudgeName, Scorer | None]
"""Models by the name of what they judge; None for one that is not there."""
Audit = AuditSink | Iterable[AuditSink] | None
"""Where events go: a sink, several, or by default the logger `sdrag.audit`."""
Authorizer = Callable[
    [Principal, Sequence[Passage]], Sequence[bool] | Awaitable[Sequence[bool]]
]
"""The host's own answer to who may see what: one boolean for each passage."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Options:
    """
    What wrappers take beside a policy, models and a state.

    Args:
        detector: Finds mentions in addition to the local detector, such as Presidio or
            GLiNER.
        judges: Models that judge pairs of texts, by the name of what they judge:
            `relevance`, `injection`, `entailment` and `contradiction`. The policy says
            which are needed.
        authorize: Takes a principal and passages, and returns for each whether it may
            be seen.
        audit: Called with every audit event: one sink or several; by default the logger
            `sdrag.audit`.
        limits: The bounds of model calls and of local work; by default the policy's.
        principal_resolver: Finds the principal of a call.

    Raises:
        UsageError: One of them is not what it must be.
    """

    detector: Detector | None = None
    judges: Judges = field(default_factory=dict)
    authorize: Authorizer | None = None
    audit: Audit = None
    limits: Limits | None = None
    principal_resolver: Callable[..., Principal | None] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "audit", _list_sinks(self.audit))
        judges = {name: m for name, m in self.judges.items() if m is not None}
        object.__setattr__(self, "judges", judges)
        _score_with(judges)
        if self.limits is not None:
            check_type(self.limits, Limits, "limits")
        if self.authorize is not None and not callable(self.authorize):
            raise UsageError(
                f"`authorize` must be callable, got {type(self.authorize).__name__}.",
                hint="It takes a principal and passages, and returns a boolean each.",
            )

    def __repr__(self) -> str:
        given = (item.name for item in fields(self) if getattr(self, item.name))
        return f"Options({', '.join(given)})"

    @property
    def sinks(self) -> tuple[AuditSink, ...]:
        """Where events go."""
        return _list_sinks(self.audit)

    @property
    def score(self) -> Port[Score, Sequence[float]] | None:
        """How pairs of texts are judged."""
        return _score_with(self.judges)

    @property
    def authorization(self) -> Port[Authorize, Sequence[bool]] | None:
        """How the host is asked who may see what."""
        return None if self.authorize is None else _authorize_with(self.authorize)


def _list_sinks(audit: Audit) -> tuple[AuditSink, ...]:
    if audit is None:
        return (log_event,)
    sinks = (audit,) if callable(audit) or not isinstance(audit, Iterable) else audit
    listed = tuple(sinks)
    for sink in listed:
        if not callable(sink):
            raise UsageError(
                f"`audit` must be callable, got {type(sink).__name__}.",
                hint="A sink is a callable that takes an `AuditEvent`.",
            )
    return listed


def _authorize_with(authorizer: Authorizer) -> Port[Authorize, Sequence[bool]]:
    """
    Ask the host's authorizer.

    A coroutine function serves async methods only. Sync ones then fail, and what cannot
    be authorized is not shown.
    """

    def call(effect: Authorize) -> Sequence[bool]:
        if not iscoroutinefunction(authorizer):
            answers = authorizer(effect.principal, effect.items)
            if not isawaitable(answers):
                return list(answers)
        raise UsageError("`authorize` is async.", hint="Use the async methods.")

    async def acall(effect: Authorize) -> Sequence[bool]:
        answers = authorizer(effect.principal, effect.items)
        return list(await answers if isawaitable(answers) else answers)

    return Port(call, acall if iscoroutinefunction(authorizer) else None)


def _score_with(judges: Judges) -> Port[Score, Sequence[float]] | None:
    """
    Judge pairs with the host's model of the name that is asked for.

    Raises:
        UsageError: A name is not known, or a model cannot be asked.
    """
    models = {
        name: _find_call(name, model)
        for name, model in judges.items()
        if model is not None
    }
    if not models:
        return None

    def call(effect: Score) -> Sequence[float]:
        model = models.get(effect.model)  # type: ignore[call-overload]
        if model is None:
            raise UsageError(f"No model was passed that judges {effect.model}.")
        return [float(value) for value in model(list(effect.items))]

    return Port(call)


def _find_call(name: str, model: Scorer) -> Callable[[Any], Sequence[float]]:
    if name not in _NAMES:
        raise UsageError(
            f"`judges` has no place for {name!r}.", hint=f"It has {', '.join(_NAMES)}."
        )
    if isinstance(model, ScoresPairs):
        return model.score
    if isinstance(model, PredictsPairs):
        return model.predict
    if callable(model):
        return model
    raise UsageError(
        f"A judge must be callable, got {type(model).__name__}.",
        hint="It is a callable on pairs of texts, or has `score` or `predict`.",
    )
