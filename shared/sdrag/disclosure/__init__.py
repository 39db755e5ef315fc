"""
SD-RAG: bind constraints to passages, locate what they withhold, and cut it out.

In reading order:

1. What it is set up with, and whether it can enforce its policy: `setup`.
2. What a constraint asks for: `constraint_parser`.
3. What is read: `texts`.
4. Which constraints: `binding`.
5. Who finds what they withhold. The local engine: `local`. A model: `model`.
6. What is kept of it: `lookup` knows what is known and what is missing; `locate` has it
   read and keeps it; `propagation` says what is to be known again.
7. What leaves: `propagation` says what constraints take from each text, `release` what
   becomes of each passage, `cut` what stands in its place; a model may word it anew.
8. What a caller runs: `disclose`, at a question and at ingest; `hierarchy` for
   summaries; `unsupported` and `released_context` for answers.
"""

from sdrag.disclosure.binding import bind
from sdrag.disclosure.disclose import (
    Disclosed,
    Ingested,
    disclose,
    forget_document,
    ingest,
    locate,
)
from sdrag.disclosure.setup import DisclosureSetup

__all__ = [
    "Disclosed",
    "DisclosureSetup",
    "Ingested",
    "bind",
    "disclose",
    "forget_document",
    "ingest",
    "locate",
]
