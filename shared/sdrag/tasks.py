"""
What is done with a corpus before it is stored.

A task says what becomes of passages: their constraints are bound, what links people is
masked, injections are dropped, they are redacted for one audience, or summarized. The
documents of one source come together, in their order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import ClassVar

from sdrag.disclosure import Ingested
from sdrag.disclosure.disclose import DOCUMENT_KEY, control_keys, redact_for_audience
from sdrag.disclosure.hierarchy import HierarchySettings, add_summaries
from sdrag.disclosure.texts import LAYER_KEY
from sdrag.effects.progress import progress_bar
from sdrag.effects.steps import Steps
from sdrag.engine import Engine, Stage
from sdrag.errors import UsageError
from sdrag.guardrails.injection import InjectionSection
from sdrag.guardrails.injection.screen import screen
from sdrag.linkage.extractor import ModelExtractor
from sdrag.linkage.fitting import Entities, Fitted, Update, fit_steps
from sdrag.linkage.replacing import check_style
from sdrag.pipeline import bind
from sdrag.placeholders import Placeholders
from sdrag.policy import binds
from sdrag.state.keys import Keys
from sdrag.vocabulary import Confidential, Decision, Passage, Principal, is_unnamed

Passages = tuple[Passage, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Transformed(Confidential):
    """
    What a task made of passages.

    Args:
        given: What came in, in the order of the documents.
        passages: What leaves. One that equals what came in is the document as it was.
        decisions: Without content.
        hidden: Metadata keys that are in no vector and no prompt.
    """

    given: Passages
    passages: Passages
    decisions: tuple[Decision, ...] = ()
    hidden: tuple[str, ...] = ()


class Task(Confidential):
    """What is done with passages at ingest."""

    stage: ClassVar[Stage]
    rebuilds: ClassVar[bool] = False
    """Whether documents are built anew, since the old ones hold what was taken out."""

    def check(self, engine: Engine) -> None:
        """See that the engine has what the task needs, or raise a `UsageError`."""

    def steps(self, passages: Passages, engine: Engine) -> Steps[Transformed]:
        """Transform passages, whose ids differ."""
        raise NotImplementedError

    def cache_key(self, engine: Engine) -> str:  # noqa: ARG002 -- for those that need it
        """Name what decides the result beside the policy and the models."""
        return ""


@dataclass(frozen=True, slots=True, repr=False)
class Bind(Task):
    """Bind constraints, and locate what they withhold; passages leave as they are."""

    stage: ClassVar[Stage] = "bind"
    show_progress: bool = False

    def steps(self, passages: Passages, engine: Engine) -> Steps[Transformed]:
        """Bind, and return the passages."""
        yield from self.bind(passages, engine)
        return Transformed(passages, passages)

    def bind(self, passages: Passages, engine: Engine) -> Steps[Ingested]:
        """Bind, and return how many there were."""
        with progress_bar("Binding", shown=self.show_progress) as progress:
            done = yield from bind(passages, engine, progress)
        engine.warn_of_corpus(passages)
        return done

    def cache_key(self, engine: Engine) -> str:
        """Name the state, which a cache of documents does not hold."""
        return engine.disclosure.state.name


@dataclass(frozen=True, slots=True, repr=False)
class Mask(Task):
    """
    Mask what links people, by a plan or as fitted on what comes.

    What links people is seen only in the whole corpus. A shard is never taken for the
    corpus silently.

    Args:
        fitted: The plan.
        whole_corpus: What comes at once is the whole corpus.
        key: For ids and pseudonyms that stay the same from run to run; by default one
            of the state, if that is in a file.
    """

    stage: ClassVar[Stage] = "mask"
    rebuilds: ClassVar[bool] = True
    fitted: Fitted | None = None
    whole_corpus: bool = False
    key: bytes | None = None

    def check(self, engine: Engine) -> None:
        """See that there is a plan or a corpus, and what is put in place of values."""
        if (self.fitted is None) != self.whole_corpus:
            raise UsageError(
                "A part of a corpus does not show what links people across it.",
                hint="Pass `fitted=`, or `whole_corpus=True` and all of it at once.",
            )
        in_force = engine.policy.linkage
        if self.fitted is None:
            check_style(in_force.replace, self._key_of(engine))
        else:
            in_force = self.fitted.settings
        if in_force.replace == "rewrite" and engine.llm is None:
            raise UsageError(
                "`linkage.replace: rewrite` needs a model.", hint="Pass `llm=`."
            )

    def steps(self, passages: Passages, engine: Engine) -> Steps[Transformed]:
        """Mask; a passage that could not be read to its end is left out."""
        decisions: tuple[Decision, ...] = ()
        if self.fitted is not None:
            masked = yield from self.fitted.apply_steps(passages)
        else:
            fitted = yield from self.fit(passages, engine)
            masked, decisions = fitted.masked.documents, fitted.decisions
        return Transformed(passages, tuple(masked), decisions)

    def fit(self, passages: Sequence[Passage], engine: Engine) -> Steps[Fitted]:
        """Fit a plan on a whole corpus."""
        return (
            yield from fit_steps(
                passages,
                engine.policy.linkage,
                _entities(engine),
                key=self._key_of(engine),
                placeholders=self._placeholders_of(engine),
            )
        )

    def _key_of(self, engine: Engine) -> bytes | None:
        """Return the key; by default one of the state, which stays the same."""
        state = engine.disclosure.state
        if self.key is not None or state.is_in_memory:
            return self.key
        return state.keys.of("masking", size=32)

    def _placeholders_of(self, engine: Engine) -> Placeholders:
        """Return those of the state, else of the key, else of this process."""
        if self.key is None or not engine.disclosure.state.is_in_memory:
            return engine.disclosure.placeholders
        secret = Keys(blake2b(self.key, digest_size=32).digest()).placeholders
        return Placeholders.of(engine.policy, secret)

    def update(
        self, passages: Sequence[Passage], removed: Collection[str], engine: Engine
    ) -> Steps[Update]:
        """Follow a change of the corpus that the plan was fitted on."""
        if any(map(is_unnamed, passages)):
            raise UsageError(
                "A document has no id.", hint="Without ids none can be followed."
            )
        if self.fitted is None:
            raise UsageError(
                "Only a masker with a plan can follow a change.",
                hint="Pass `fitted=`: what `fit` returned, or `Fitted.open`.",
            )
        return (
            yield from self.fitted.update_steps(passages, removed, _entities(engine))
        )

    def cache_key(self, engine: Engine) -> str:  # noqa: ARG002 -- as above
        """Name the plan."""
        return (
            "whole" if self.fitted is None else f"plan-{self.fitted.masked.masker.name}"
        )


def _entities(engine: Engine) -> Entities:
    """Return what finds entities: a detector that was passed, a model, else rules."""
    by_model = engine.llm is not None and engine.options.detector is None
    return ModelExtractor() if by_model else engine.detector


class Scan(Task):
    """Drop, strip or flag injections; a scan at retrieval follows."""

    stage: ClassVar[Stage] = "scan"

    def steps(self, passages: Passages, engine: Engine) -> Steps[Transformed]:
        """Scan, as the policy's section `injection` says."""
        section = engine.policy.injection or InjectionSection()
        has_judge = "injection" in engine.options.judges
        screened = yield from screen(passages, section, classifier=has_judge)
        return Transformed(passages, screened.passages, screened.decisions)


@dataclass(frozen=True, slots=True, repr=False)
class View(Task):
    """
    Redact for an index of one audience, so that its vectors tell no more.

    Args:
        audience: A principal that represents it; without one, every constraint holds.
    """

    stage: ClassVar[Stage] = "view"
    rebuilds: ClassVar[bool] = True
    audience: Principal | None = None

    def steps(self, passages: Passages, engine: Engine) -> Steps[Transformed]:
        """Redact; a passage that is withheld whole is left out."""
        view = yield from redact_for_audience(
            passages, self.audience, engine.disclosure
        )
        hidden = (*control_keys(engine.policy), DOCUMENT_KEY)
        return Transformed(passages, view.passages, view.decisions, hidden)

    def cache_key(self, engine: Engine) -> str:
        """Name what binds the audience."""
        rules = engine.policy.rules
        return "/".join(rule.id for rule in rules if binds(rule, self.audience))


@dataclass(frozen=True, slots=True, repr=False)
class Summarize(Task):
    """Add summaries, layer over layer; each passage names its layer."""

    stage: ClassVar[Stage] = "summarize"
    settings: HierarchySettings = field(default_factory=HierarchySettings)
    show_progress: bool = False

    def steps(self, passages: Passages, engine: Engine) -> Steps[Transformed]:
        """Summarize; the passages leave first, then the lowest layer."""
        summaries, decisions = yield from add_summaries(
            passages,
            engine.policy,
            engine.disclosure.state,
            self.settings,
            show_progress=self.show_progress,
        )
        leaves = (
            replace(passage, metadata={LAYER_KEY: 0, **passage.metadata})
            for passage in passages
        )
        return Transformed(passages, (*leaves, *summaries), decisions, (LAYER_KEY,))

    def cache_key(self, engine: Engine) -> str:
        """Name the state, whose key makes ids, and the settings."""
        return f"{engine.disclosure.state.name}/{self.settings}"
