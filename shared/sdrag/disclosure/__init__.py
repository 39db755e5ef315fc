"""SD-RAG: bind constraints to passages, locate what they withhold, and cut it out."""

from sdrag.disclosure.binding import bind
from sdrag.disclosure.disclose import Disclosed, disclose
from sdrag.disclosure.graph import binding_graph
from sdrag.disclosure.ingest import Ingested, forget_document, ingest, locate
from sdrag.disclosure.policy_updates import bind_constraint, forget_constraint
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
