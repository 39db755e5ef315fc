"""What the environment says."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Settings:
    """
    The settings of one process.

    Args:
        key: That callers' headers are signed with, 32 bytes or more.
        policy: The path of the policy; it is read again when it changes.
        documents: The path of the documents, one JSON object a line.
        state: Where sdrag remembers; None for the memory of this process.
        model_url: Of any server that speaks OpenAI's protocol.
        model: Its name there.
        model_key: For the server.
        slots: How many requests are answered at the same time.
        seconds: How long one request may take, with all of its stream.
    """

    key: str = field(repr=False)
    policy: str = str(HERE / "policy.yaml")
    documents: str = str(HERE / "documents.jsonl")
    state: str | None = None
    model_url: str = "http://127.0.0.1:11434/v1"
    model: str = "llama3.2"
    model_key: str = field(default="none", repr=False)
    slots: int = 64
    seconds: float = 60.0

    def __post_init__(self) -> None:
        if len(self.key.encode()) < 32:
            raise ValueError("SERVICE_KEY must have 32 bytes or more.")

    @classmethod
    def from_environment(cls) -> Settings:
        """Read `SERVICE_KEY` and the others; what is not set has its default."""
        default = cls(key="-" * 32)

        def setting(name: str) -> str:
            return os.environ.get(f"SERVICE_{name.upper()}", getattr(default, name))

        return cls(
            key=os.environ.get("SERVICE_KEY", ""),
            policy=setting("policy"),
            documents=setting("documents"),
            state=setting("state"),
            model_url=setting("model_url"),
            model=setting("model"),
            model_key=setting("model_key"),
            slots=int(setting("slots")),
            seconds=float(setting("seconds")),
        )
