"""SD-RAG: bind constraints to passages, rank them, and redact before the answer."""

from sdrag.disclosure.binding import bind
from sdrag.disclosure.binding_store import BindingStore
from sdrag.disclosure.bindings import MemoryBindings, SqliteBindings
from sdrag.disclosure.disclose import Disclosed, disclose
from sdrag.disclosure.graph import binding_graph
from sdrag.disclosure.living import bind_constraint, forget_constraint
from sdrag.disclosure.setup import DisclosureSetup, Locator

__all__ = [
    "BindingStore",
    "Disclosed",
    "DisclosureSetup",
    "Locator",
    "MemoryBindings",
    "SqliteBindings",
    "bind",
    "bind_constraint",
    "binding_graph",
    "disclose",
    "forget_constraint",
]
