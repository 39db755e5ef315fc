"""
Everything that is remembered: one SQLite schema, one way to open it.

In reading order: `stores` says what each store can do; `opening` makes a `State` of
them. `keys` holds the hashes that texts are known by, `sqlite` and `schema` the
database, `rulesets` its lists of rules. `bindings` and `affinities` know constraints
and chunks; `register`, `span_bytes` and `findings` what was located; `releases` what
was released.
"""

from sdrag.minilm.vectors import Vectors
from sdrag.state.opening import State, StateSource, open_state
from sdrag.state.stores import (
    AffinityStore,
    BindingStore,
    Closeness,
    EnforcedStore,
    FindingStore,
    LineageStore,
    ReplyStore,
)

__all__ = [
    "AffinityStore",
    "BindingStore",
    "Closeness",
    "EnforcedStore",
    "FindingStore",
    "LineageStore",
    "ReplyStore",
    "State",
    "StateSource",
    "Vectors",
    "open_state",
]
