"""
What `sdrag mask` does with a corpus: read, detect, and fit a plan.

With a plan that was kept, only documents that are new to it are detected. What is
found is the same as if all were detected at once: what was found in one document is
looked for in all. The corpus is what IN holds now; of documents that are gone, the
masks stay.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from sdrag.cli.common import LOCAL, chat_model, complete_with, progress_bar
from sdrag.detectors.local import LocalDetector
from sdrag.documents import ReadFile, Skipped, read_files
from sdrag.effects.runner import Port, PortRunner, Ports
from sdrag.effects.steps import EffectRunner, run
from sdrag.errors import UsageError, require_extra
from sdrag.framework import local_embeddings
from sdrag.linkage.carried import Carried
from sdrag.linkage.checkpoint import detect_all
from sdrag.linkage.document_files import read_documents
from sdrag.linkage.entity_schema import weights_of
from sdrag.linkage.fitting import Fitted, PlanInput
from sdrag.linkage.masking import detected
from sdrag.linkage.mentions import Found, found_in
from sdrag.linkage.model_extractor import ModelExtractor
from sdrag.linkage.placement import HERE, Placement
from sdrag.linkage.plan_file import Saved
from sdrag.linkage.second_look import found_elsewhere
from sdrag.linkage.settings import local_runner
from sdrag.policy import LinkageSection, Policy
from sdrag.vocabulary import Confidential, Mention, Passage

__all__ = ["Corpus", "Engine", "Findings", "find", "fit_plan", "read_corpus", "stamp"]


@dataclass(slots=True, repr=False)
class Corpus(Confidential):
    """
    What was read.

    Args:
        files: By path, their documents.
        skipped: What could not be read.
        entities: For each document what its file says of it, where that is used.
    """

    files: dict[str, tuple[Passage, ...]] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    entities: Sequence[Any] | None = None

    @property
    def documents(self) -> list[Passage]:
        """All documents, in the order of their files."""
        return [one for found in self.files.values() for one in found]


@dataclass(frozen=True, slots=True, repr=False)
class Findings(Confidential):
    """
    What was found.

    Args:
        documents: Those that could be read to their end, by id.
        found: In each of them.
        mentions: What a detector found in each, before a second look.
    """

    documents: Mapping[str, Passage]
    found: Mapping[str, tuple[Found, ...]]
    mentions: Mapping[str, tuple[Mention, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class Engine:
    """
    Who finds entities, and rewrites: the local detector, or a model.

    Args:
        port: How the model is asked; none without one.
        hidden: Makes what hides its calls from tracers.
    """

    port: Port[Any, Any] | None = None
    hidden: Callable[[], AbstractContextManager[object]] = nullcontext

    @classmethod
    def of(cls, llm: str, policy: Policy) -> Engine:
        """
        Return an engine by its name.

        Args:
            llm: `local`, or `langchain:PROVIDER:MODEL`.
            policy: Says what tracers may see.

        Raises:
            UsageError: The name means nothing, or there is no such model here.
        """
        if llm == LOCAL:
            return cls()
        if not llm.startswith("langchain:"):
            complete_with(llm, "--llm")  # says what the option takes
        with require_extra("langchain", "A LangChain model"):
            from langchain_sdrag.effects import completing
            from langchain_sdrag.tracing import hide_from_tracers
        port = completing(chat_model(llm.removeprefix("langchain:")))
        return cls(port, lambda: hide_from_tracers(policy, None))

    @contextmanager
    def runner(self, label: str, prompts: int) -> Iterator[EffectRunner]:
        """
        Yield what answers effects; a bar shows how many prompts are answered.

        Args:
            label: What is being done.
            prompts: How many will be asked, about.
        """
        if self.port is None:
            yield local_runner()
            return
        port, done = self.port, 0
        with self.hidden(), progress_bar(label, prompts) as update:

            def call(prompt: Any) -> Any:
                nonlocal done
                reply = port.call(prompt)
                done += 1
                update(done, max(done, prompts))
                return reply

            yield PortRunner(Ports(complete=Port(call), embed=local_embeddings()))


def read_corpus(
    source: Path, key: bytes | None = None, *, given: bool = False
) -> Corpus:
    """
    Read a file or a folder.

    Args:
        source: What is read.
        key: Tells documents of one id apart, where entities are given.
        given: The input brings its entities.

    Raises:
        UsageError: It does not exist, or there is no document in it.
    """
    corpus = Corpus()
    if given:
        ingested = read_documents(source, key)
        if ingested.entities is None:
            raise UsageError(
                "The input brings no entities.", hint="Leave out `--given`."
            )
        corpus.files[""] = ingested.documents
        corpus.entities = ingested.entities
        return corpus
    for entry in read_files([source], rows=True):
        if isinstance(entry, ReadFile):
            corpus.files[entry.path] = entry.documents
        else:
            corpus.skipped.append(entry)
    if not corpus.files:
        first = corpus.skipped[:1]
        why = f": {first[0].path} {first[0].reason}" if first else ""
        raise UsageError(
            f"There is no document in {source}{why}.", hint="See `--help`."
        )
    return corpus


def find(
    corpus: Corpus,
    settings: LinkageSection,
    engine: Engine,
    saved: Saved | None,
    progress: tuple[Path, str],
    placement: Placement = HERE,
) -> Findings:
    """
    Find entities in every document; what the plan knows is not read again.

    Args:
        corpus: The documents.
        settings: The linkage section.
        engine: Who finds them.
        saved: The plan that was kept.
        progress: A file that is resumed from, and what names this very run.
        placement: Where a detector works.

    Raises:
        UsageError: Two documents have one id.
    """
    documents = {document.id: document for document in corpus.documents}
    if len(documents) != len(corpus.documents):
        raise UsageError(
            "Two documents have the same id.", hint="Give each document its own id."
        )
    if corpus.entities is not None:
        rows = found_in(corpus.documents, corpus.entities, weights_of(settings))
        return Findings(documents, dict(zip(documents, rows, strict=True)))
    if engine.port is not None:
        return _by_model(documents, settings, engine, saved)
    return _by_detector(documents, settings, saved, progress, placement)


def _by_detector(
    documents: Mapping[str, Passage],
    settings: LinkageSection,
    saved: Saved | None,
    progress: tuple[Path, str],
    placement: Placement,
) -> Findings:
    known = _known(saved, documents)
    new = [document for id_, document in documents.items() if id_ not in known]
    done = 0
    with progress_bar("Detecting", len(new)) as update:

        def advance(more: int) -> None:
            nonlocal done
            done += more
            update(done, len(new))

        detect = partial(placement.detected, detector=LocalDetector())
        found = detect_all(new, detect, *progress, advance)
    fresh = {
        one.id: row for one, row in zip(new, found, strict=True) if row is not None
    }
    mentions = {k: (known | fresh)[k] for k in documents if k in known or k in fresh}
    kept = {id_: documents[id_] for id_ in mentions}
    rows = placement.looked_again(
        list(kept.values()), list(mentions.values()), weights_of(settings)
    )
    return Findings(kept, dict(zip(kept, rows, strict=True)), mentions)


def _known(
    saved: Saved | None, documents: Mapping[str, Passage]
) -> dict[str, tuple[Mention, ...]]:
    """Return what a detector found before, in documents that are what they were."""
    if saved is None:
        return {}
    same = saved.unchanged(documents.values())
    return {id_: row for id_, row in saved.plan.mentions.items() if id_ in same}


def _by_model(
    documents: Mapping[str, Passage],
    settings: LinkageSection,
    engine: Engine,
    saved: Saved | None,
) -> Findings:
    known: dict[str, tuple[Found, ...]] = {}
    if saved is not None:
        same = saved.unchanged(documents.values()) - saved.plan.mentions.keys()
        known = {id_: saved.plan.found[id_] for id_ in documents if id_ in same}
    new = [document for id_, document in documents.items() if id_ not in known]
    extractor = ModelExtractor(weights_of(settings))
    with engine.runner("Reading", 2 * len(new)) as runner:
        steps = detected(new, settings, extractor, None, list(known.values()))
        kept, rows, _ = run(steps, runner)
    fresh = {one.id: row for one, row in zip(kept, rows, strict=True)}
    found = {k: (known | fresh)[k] for k in documents if k in known or k in fresh}
    if known and new:
        texts = [documents[id_].text for id_ in found]
        more = found_elsewhere(texts, list(found.values()))
        found = {
            id_: (*row, *extra)
            for (id_, row), extra in zip(found.items(), more, strict=True)
        }
    return Findings({id_: documents[id_] for id_ in found}, found)


def fit_plan(
    findings: Findings,
    settings: LinkageSection,
    engine: Engine,
    saved: Saved | None,
    key: bytes | None,
    placement: Placement = HERE,
) -> Fitted:
    """
    Fit a plan that keeps what an earlier one masked.

    Args:
        findings: What was found.
        settings: The linkage section.
        engine: Rewrites, where the policy asks for it.
        saved: The plan that was kept.
        key: For ids and pseudonyms.
        placement: Where the documents are masked, and their links are found.
    """
    plan = PlanInput(
        settings, findings.documents, findings.found, findings.mentions, key
    )
    carried = Carried() if saved is None else saved.carried
    vectors = None if saved is None else saved.vectors
    rewrites = settings.replace == "rewrite"
    asked = engine if rewrites else Engine()
    with asked.runner("Rewriting", len(findings.documents)) as runner:
        return run(plan.fitted(carried, vectors, placement), runner)


def stamp(source: Path, plan: Path | None, settings: LinkageSection) -> str:
    """Name a run by its files' sizes and times, its plan, and the settings."""
    names = sorted(source.rglob("*")) if source.is_dir() else [source]
    if plan is not None and plan.exists():
        names.append(plan)
    files = [
        (str(name), stat.st_size, stat.st_mtime_ns)
        for name in names
        for stat in (name.stat(),)
    ]
    return json.dumps([files, settings.model_dump(mode="json")], sort_keys=True)
