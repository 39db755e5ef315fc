"""
A trained network over MiniLM whose weights come with the package.

A missing file of weights is an error, for another engine would find other things. A
missing extra is a choice of whoever installed the package; it is logged once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.resources.abc import Traversable
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sdrag.errors import InternalError
from sdrag.extras import require_extra
from sdrag.minilm import installed

if TYPE_CHECKING:
    from torch import Tensor

    from sdrag.minilm.trained_layers import Trained

__all__ = ["PackagedNetwork"]

_logger = logging.getLogger("sdrag")
T = TypeVar("T", bound="Trained")


class PackagedNetwork(Generic[T]):
    """
    A network that is loaded once a process, when it is first used.

    Args:
        feature: What messages call it, such as `The tagger`.
        weights: Its file of weights.
        network_class: Returns its class. It is called when the network is loaded, since
            `import sdrag` must not load torch.
        without: What the warning says of an installation without the extra `local`.
    """

    def __init__(
        self,
        feature: str,
        weights: Traversable,
        network_class: Callable[[], type[T]],
        without: str,
    ) -> None:
        self.feature, self.weights = feature, weights
        self._class, self._without = network_class, without
        self._lock = Lock()
        self._loaded: tuple[T, Any] | None = None
        self._warned = False

    def available(self) -> bool:
        """
        Say whether the extra `local` is installed; warn once where it is not.

        Raises:
            InternalError: The extra is installed and the file of weights is missing.
        """
        if installed():
            self._check_weights()
            return True
        if not self._warned:
            self._warned = True
            _logger.warning(
                "%s is not used: the extra `local` is not installed. %s"
                ' Run: pip install "sdrag[local]"',
                self.feature,
                self._without,
            )
        return False

    def loaded(self) -> tuple[T, Any]:
        """
        Return the network and its tokenizer.

        Raises:
            MissingExtraError: The extra `local` is not installed.
            InternalError: The weights are missing or are not those of this network.
        """
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def finite(self, logits: Tensor) -> Tensor:
        """
        Return logits that are numbers: what is none would compare as harmless.

        Raises:
            InternalError: One is no number.
        """
        if not logits.isfinite().all():
            raise InternalError(f"{self.feature} gave something that is no number.")
        return logits

    def _load(self) -> tuple[T, Any]:
        with require_extra("local", self.feature):
            from sdrag.minilm.trained_layers import load_trained  # noqa: PLC0415

            network_class = self._class()
        self._check_weights()
        return load_trained(network_class, self.weights)

    def _check_weights(self) -> None:
        if not self.weights.is_file():
            raise InternalError(
                f"{self.feature} has no weights: a file of the package is missing.",
                hint="Install sdrag again.",
            )
