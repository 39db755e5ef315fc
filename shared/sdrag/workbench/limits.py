"""How much the workbench takes at once; every bound in one place."""

from __future__ import annotations

__all__ = [
    "MAX_ASKED_CHARACTERS",
    "MAX_CONSTRAINTS",
    "MAX_DOCUMENTS",
    "MAX_FILES",
    "MAX_JSON_BYTES",
    "MAX_LINKED",
    "MAX_LOADED_CHARACTERS",
    "MAX_PROBLEMS",
    "MAX_SHOWN_CHARACTERS",
    "MAX_UPLOAD_BYTES",
    "SECONDS",
    "SECONDS_FOR_ALL",
    "SLOTS",
    "WAITING",
]

MAX_JSON_BYTES = 4_000_000
"""Of a request that holds a policy."""

MAX_UPLOAD_BYTES = 20_000_000
"""Of one file that is dropped on the page."""

MAX_LOADED_CHARACTERS = 50_000_000
"""Of all documents that are in memory."""

MAX_DOCUMENTS = 2_000
"""Loaded at once."""

MAX_FILES = 5_000
"""Of the given folder that are listed."""

MAX_SHOWN_CHARACTERS = 200_000
"""Of one document that is coloured. It is read whole or not at all: a part of it would
show less than what its other parts tell of a name."""

MAX_ASKED_CHARACTERS = 2_000_000
"""Of all documents together, when a question is asked to them."""

MAX_CONSTRAINTS = 300
"""Described while a policy is being typed."""

MAX_PROBLEMS = 50
"""Listed while a policy is being typed."""

MAX_LINKED = 100
"""Chains and entities that are listed."""

SLOTS = 2
"""So many requests are worked on at the same time."""

WAITING = 16
"""So many more wait for a slot; what comes then is refused."""

SECONDS = 60.0
"""What one request may take."""

SECONDS_FOR_ALL = 300.0
"""What a request over all documents may take: the report, and the linkage."""
