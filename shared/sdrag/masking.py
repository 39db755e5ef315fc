"""
Masking: what links people is masked in a corpus before it is stored.

What links people is seen only in the whole corpus. A shard is never taken for the
corpus silently: a masker has a plan, or is told that what comes at once is all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from hashlib import blake2b
from typing import Generic

from sdrag.effects.callers import Caller, call_async, call_sync, run_sync
from sdrag.effects.steps import Steps
from sdrag.errors import UsageError
from sdrag.linkage.extractor import ModelExtractor
from sdrag.linkage.fitting import Entities, Fitted, Update, fit_steps
from sdrag.linkage.replacing import check_style
from sdrag.options import Options
from sdrag.placeholders import Placeholders
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.state.keys import Keys
from sdrag.transformer import Document, Passages, Transformed, Transformer
from sdrag.vocabulary import is_unnamed
from sdrag.wrapper import Embeddings, Model


class LinkageMasker(Transformer[Document], Generic[Document, Model, Embeddings]):
    """Masks what links people, by a plan or as fitted on what comes."""

    _stage = "mask"
    _rebuilds = True
    _fitted: Fitted | None
    _key: bytes | None

    def __init__(
        self,
        policy: PolicySource,
        llm: Model | None = None,
        *,
        embeddings: Embeddings | None = None,
        state: StateSource = None,
        options: Options | None = None,
        fitted: Fitted | None = None,
        whole_corpus: bool = False,
        key: bytes | None = None,
    ) -> None:
        """
        Set up a masker.

        Args:
            policy: A path, a mapping, a list of sentences or a `Policy`.
            llm: Extracts the entities, reading each document twice (section 4.2.2 of
                the thesis), and rewrites, where `linkage.replace` says so. With a
                detector in `options`, it rewrites alone.
            embeddings: Compares forms by meaning; MiniLM by default.
            state: That of the retriever, or its path: what stands in place of values is
                known again there, and is neither searched nor cut.
            options: A detector, sinks of audit events, and limits.
            fitted: A plan that `fit` made of the whole corpus. It is applied as it is:
                what `linkage` says in the policy is what it was fitted with.
            whole_corpus: What is given in one call is the whole corpus: fit on it. A
                worker of Ray is given batches, and refuses.
            key: For ids and pseudonyms that stay the same from run to run; by default
                one of the state, if that is in a file.

        Raises:
            UsageError: Neither a plan nor `whole_corpus` was given, or both; or what is
                to be put in place of values needs a key or a model that is missing.
        """
        if (fitted is None) != whole_corpus:
            raise UsageError(
                "A part of a corpus does not show what links people across it.",
                hint="Pass `fitted=`, or `whole_corpus=True` and all of it at once.",
            )
        self._set_up(policy, llm, embeddings, state, options, fitted=fitted, key=key)
        in_force = self._engine.policy.linkage
        if fitted is None:
            check_style(in_force.replace, self._find_key())
        else:
            in_force = fitted.settings
        if in_force.replace == "rewrite" and llm is None:
            raise UsageError(
                "`linkage.replace: rewrite` needs a model.", hint="Pass `llm=`."
            )

    def fit(self, documents: Sequence[Document]) -> Fitted:
        """
        Return the plan for a whole corpus, for other maskers to apply.

        Raises:
            UsageError: Two documents have the same id.
        """
        steps = self._read_and(self._fit, documents, gives_ids=True)
        return run_sync(self._enforce(call_sync, steps))

    def update(
        self, documents: Sequence[Document], removed: Collection[str] = ()
    ) -> tuple[Update, list[Document]]:
        """
        Follow a change of the corpus that the plan was fitted on.

        The masker stays as it is: build another one with `fitted=update.fitted`.

        Args:
            documents: What is new, or replaces what has its id.
            removed: Ids of what is gone.

        Returns:
            The update, and what is to be indexed now, masked: the new documents, and
            the earlier ones in which more is masked than before.

        Raises:
            UsageError: The masker has no plan, a document no id, or two the same.
        """
        return run_sync(self._update(call_sync, documents, removed))

    async def aupdate(
        self, documents: Sequence[Document], removed: Collection[str] = ()
    ) -> tuple[Update, list[Document]]:
        """Follow a change without blocking the event loop; as `update`."""
        return await self._update(call_async, documents, removed)

    async def _update(
        self, do: Caller, documents: Sequence[Document], removed: Collection[str]
    ) -> tuple[Update, list[Document]]:
        steps = self._read_and(partial(self._follow, removed), documents)
        update = await self._enforce(do, steps)
        return update, self._write((), Transformed((), update.documents))

    def _steps(self, passages: Passages) -> Steps[Transformed]:
        """Mask; a passage that could not be read to its end is left out."""
        if self._fitted is not None:
            masked = yield from self._fitted.apply_steps(passages)
            return Transformed(passages, tuple(masked))
        fitted = yield from self._fit(passages)
        return Transformed(passages, tuple(fitted.masked.documents), fitted.decisions)

    def _fit(self, passages: Passages) -> Steps[Fitted]:
        return (
            yield from fit_steps(
                passages,
                self._engine.policy.linkage,
                self._find_entities(),
                key=self._find_key(),
                placeholders=self._find_placeholders(),
            )
        )

    def _follow(self, removed: Collection[str], passages: Passages) -> Steps[Update]:
        if any(map(is_unnamed, passages)):
            raise UsageError(
                "A document has no id.", hint="Without ids none can be followed."
            )
        if self._fitted is None:
            raise UsageError(
                "Only a masker with a plan can follow a change.",
                hint="Pass `fitted=`: what `fit` returned, or `Fitted.open`.",
            )
        entities = self._find_entities()
        return (yield from self._fitted.update_steps(passages, removed, entities))

    def _find_entities(self) -> Entities:
        """Return what finds entities: a detector that was passed, a model, or rules."""
        engine = self._engine
        by_model = engine.llm is not None and engine.options.detector is None
        return ModelExtractor() if by_model else engine.detector

    def _find_key(self) -> bytes | None:
        """Return the key; by default one of the state, which stays the same."""
        state = self._engine.disclosure.state
        if self._key is not None or state.is_in_memory:
            return self._key
        return state.keys.of("masking", size=32)

    def _find_placeholders(self) -> Placeholders:
        """Return those of the state, else of the key, else of this process."""
        setup = self._engine.disclosure
        if self._key is None or not setup.state.is_in_memory:
            return setup.placeholders
        secret = Keys(blake2b(self._key, digest_size=32).digest()).placeholders
        return Placeholders.of(setup.policy, secret)

    def _cache_key(self) -> str:
        fitted = self._fitted
        return "whole" if fitted is None else f"plan-{fitted.masked.masker.name}"
