"""
Whether a process can answer: its state, the packaged networks, its policy.

A probe asks it as often as it likes. An answer holds codes, and a keyed hash of the
policy: no text, no path, no address.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sdrag.configuration import warm_up
from sdrag.embeddings import installed
from sdrag.engine import Engine, strip_text
from sdrag.errors import KeyRotatedError
from sdrag.policy import Policy

_OK = "ok"


@dataclass(frozen=True, slots=True)
class Health:
    """
    Whether a wrapper can answer.

    Args:
        policy_hash: Of the policy in force, as in audit events.
        state: `ok`, or the code of what failed, such as `failed-host`.
        weights: `ok`, `not-installed` where the policy needs none, or such a code.
        policy: `ok`; of its file, `changed` since it was read, or `refused`: then the
            policy that was read last is in force.
    """

    policy_hash: str
    state: str
    weights: str
    policy: str

    @property
    def ready(self) -> bool:
        """Whether questions are answered."""
        return self.state == _OK and self.weights in {_OK, "not-installed"}

    @property
    def live(self) -> bool:
        """Whether no restart is needed: after a rotation of the key, one is."""
        return self.state != KeyRotatedError().code

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for a probe."""
        return {"ready": self.ready, "live": self.live, **asdict(self)}


def check_health(engine: Engine, path: Path | None = None) -> Health:
    """
    Try what an engine needs; nothing is raised.

    The first time in a process it loads the networks, in seconds.

    Args:
        engine: In force.
        path: Of the file of its policy, if it came from one.
    """
    return Health(
        engine.policy_hash,
        _check_state(engine),
        _check_weights(),
        _check_policy(engine, path),
    )


def _check_state(engine: Engine) -> str:
    try:
        with engine.disclosure.state.database.reading():
            return _OK
    except Exception as error:  # noqa: BLE001 -- a probe is told a code
        return strip_text(error).code


def _check_weights() -> str:
    if not installed():  # an engine that needs them was refused
        return "not-installed"
    try:
        _load()
    except Exception as error:  # noqa: BLE001 -- a file of them may be damaged
        return strip_text(error).code
    return _OK


@cache
def _load() -> None:
    warm_up()


def _check_policy(engine: Engine, path: Path | None) -> str:
    try:
        if path is None or (read := Policy.read(path)).hash == engine.policy.hash:
            return _OK
        engine.replace(policy=read)
    except Exception:  # noqa: BLE001 -- whatever its file raises
        return "refused"
    return "changed"
