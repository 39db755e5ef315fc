"""
SD-RAG: bind constraints to passages, locate what they withhold, and cut it out.

In reading order:

1. What it is set up with: `setup`, `understood`.
2. What a constraint asks for: `constraint_parser`.
3. What is read: `texts`.
4. Which constraints: `binding`, `ranking`, `candidates`.
5. Who finds what they withhold. The local engine: `local`. A model: `model`.
   `reading_unseen` asks the engines; `decoded` shows them what texts decode to.
6. What is kept of it: `stored_findings`; `registering` and `surface_forms` say what is
   known again, `closing` finds it in every text of its document; `locating` does all.
7. What leaves: `placeholders`, `cutting`, `release`, and what a model words anew.
8. What a caller runs: `ingest`, `disclose`, `audience_view`; `hierarchy` for summaries.
"""

from sdrag.disclosure.binding import bind, binding_graph
from sdrag.disclosure.disclose import Disclosed, disclose
from sdrag.disclosure.ingest import (
    Ingested,
    bind_constraint,
    forget_constraint,
    forget_document,
    ingest,
    locate,
)
from sdrag.disclosure.setup import DisclosureSetup, Locator

__all__ = [
    "Disclosed",
    "DisclosureSetup",
    "Ingested",
    "Locator",
    "bind",
    "bind_constraint",
    "binding_graph",
    "disclose",
    "forget_constraint",
    "forget_document",
    "ingest",
    "locate",
]
