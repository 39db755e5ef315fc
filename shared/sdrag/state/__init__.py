"""Everything that is remembered: one SQLite schema, one way to open it."""

from sdrag.state.affinities import Affinities
from sdrag.state.binding_store import BindingStore, LivingStore
from sdrag.state.enforced import EnforcedStore
from sdrag.state.findings import FindingStore
from sdrag.state.lineage import Lineage
from sdrag.state.opening import State, StateSource, open_state
from sdrag.state.replies import ReplyStore

__all__ = [
    "Affinities",
    "BindingStore",
    "EnforcedStore",
    "FindingStore",
    "Lineage",
    "LivingStore",
    "ReplyStore",
    "State",
    "StateSource",
    "open_state",
]
