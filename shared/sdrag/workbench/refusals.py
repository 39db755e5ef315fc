"""What the workbench says no to: a status, and one sentence that quotes nothing."""

from __future__ import annotations

__all__ = ["RefusedError"]


class RefusedError(Exception):
    """
    A request is refused.

    Args:
        status: Of HTTP.
        message: What is wrong and what to do, without any text of the request.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
