"""Everything that is remembered: one SQLite schema, one way to open it."""

from sdrag.state.affinities import Affinities, Closeness
from sdrag.state.binding_store import BindingStore, LivingStore
from sdrag.state.enforced import EnforcedStore
from sdrag.state.findings import FindingStore
from sdrag.state.lineage import Lineage
from sdrag.state.opening import State, StateSource, open_state
from sdrag.state.rephrasings import ReplyStore
from sdrag.state.vectors import Vectors

__all__ = [
    "Affinities",
    "BindingStore",
    "Closeness",
    "EnforcedStore",
    "FindingStore",
    "Lineage",
    "LivingStore",
    "ReplyStore",
    "State",
    "StateSource",
    "Vectors",
    "open_state",
]
