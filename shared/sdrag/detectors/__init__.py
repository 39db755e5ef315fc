"""
Finding sensitive spans, behind one Protocol.

A detector takes texts and gives, for each, the mentions it found or the failure that
kept it from looking. It is written as steps, so one shape holds for a scan of our own,
for a model of the host's (`Complete`) and for whatever a user hands in.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import is_dataclass
from typing import Protocol

from sdrag.effects.steps import Failure, Outcome, Reply, Steps
from sdrag.errors import HostError, PromptSanitizationError, SdragError
from sdrag.vocabulary import Mention

__all__ = ["Detector", "detect_each", "detector_identity", "types_of"]


class Detector(Protocol):
    """Anything that finds mentions."""

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        """
        Find the mentions in each text.

        The mentions of a text are sorted by span. A text that could not be read to
        its end is a `Failure`, never a shorter list.
        """
        ...


def detect_each(
    detector: Detector, texts: Sequence[str]
) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
    """Run a detector; where it fails, or gives anything else, no text was read."""
    try:
        given: object = detector.detect(texts)
        if isinstance(given, Generator):
            given = yield from given
            if isinstance(given, (list, tuple)) and len(given) == len(texts):
                return list(map(_check, given, texts))
        fault: SdragError = _no_mentions(given)
    except PromptSanitizationError:
        raise
    except SdragError as error:
        fault = error.sealed()
    except Exception as error:  # noqa: BLE001 -- its message may quote a text
        fault = HostError(f"The detector failed with {type(error).__name__}.")
    return [Failure(fault)] * len(texts)


def _check(outcome: object, text: str) -> Outcome[tuple[Mention, ...]]:
    """Return an outcome whose mentions are in the text."""
    if isinstance(outcome, Failure) and isinstance(outcome.error, SdragError):
        return outcome
    if not isinstance(outcome, Reply) or not isinstance(outcome.value, (list, tuple)):
        return Failure(_no_mentions(outcome))
    for mention in outcome.value:
        if not isinstance(mention, Mention) or not isinstance(mention.type, str):
            return Failure(_no_mentions(mention))
        if not 0 <= mention.span.start <= mention.span.end <= len(text):
            return Failure(HostError("The detector's offsets are not of its text."))
    return Reply(tuple(outcome.value))


def _no_mentions(given: object) -> HostError:
    return HostError(
        f"A detector gave a {type(given).__name__} in place of mentions.",
        hint="Write `detect` as a plain generator that returns one `Reply` of mentions,"
        " or one `Failure`, for each text.",
    )


def types_of(detector: object) -> frozenset[str]:
    """Return the types that a detector says it finds, by an attribute `finds`."""
    return frozenset(getattr(detector, "finds", ()))


def detector_identity(detector: Detector) -> str:
    """
    Name a detector, and with it everything that decides what it finds.

    What one detector has found is kept under this name, and located anew under another
    one. A dataclass is named by the fields of its repr, others by their class, and one
    whose fields are in no repr by its `identity`.
    """
    identity: object = getattr(detector, "identity", None)
    if isinstance(identity, str):
        return identity
    return repr(detector) if is_dataclass(detector) else type(detector).__qualname__
