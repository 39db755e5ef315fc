"""Loading the packaged networks before somebody waits for them."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Lock, Thread

from sdrag.detectors.tagger import TaggerDetector
from sdrag.disclosure.local import LocalLocator
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import replied, run
from sdrag.embeddings import embed_texts, installed
from sdrag.errors import MissingExtraError
from sdrag.vocabulary import Constraint, Passage

__all__ = ["warm_up"]

_TEXT = "The witness left at noon. The door was open."
_CONSTRAINT = Constraint("warm-up", "Conceal how the door was opened")

_lock = Lock()
_warming: Future[None] | None = None


def warm_up(*, wait: bool = False) -> None:
    """
    Load MiniLM, the scorer and the tagger, once a process and in the background.

    A host calls it where it starts, so that its first question does not wait. All
    wrappers share what is loaded. It may be called from several threads, and again.

    Args:
        wait: Return when all is loaded, and not at once.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        SdragError: With `wait`, that a network cannot be loaded. The next call tries
            again.
    """
    if not installed():
        raise MissingExtraError("`warm_up`", "local")
    started = _started()
    if wait:
        started.result()


def _started() -> Future[None]:
    """Return what loads, or loaded; start it where nothing does, or where it failed."""
    global _warming  # noqa: PLW0603 -- one loading for all threads
    with _lock:
        failed = _warming and _warming.done() and _warming.exception()
        if _warming is None or failed:
            _warming = Future()
            Thread(
                target=_warm, args=(_warming,), name="sdrag-warm-up", daemon=True
            ).start()
        return _warming


def _warm(done: Future[None]) -> None:
    try:
        _load()
    except BaseException as error:  # noqa: BLE001 -- raised where it is waited for
        done.set_exception(error)
    else:
        done.set_result(None)


def _load() -> None:
    """Read a text of our own in every way a question can need."""
    embed_texts([_TEXT])
    locator = LocalLocator(TaggerDetector())
    passages = [Passage("warm-up", _TEXT, document_id="warm-up")]
    for found in run(locator.locate(passages, [_CONSTRAINT]), PortRunner(Ports())):
        replied(found)
