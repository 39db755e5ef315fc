"""
Everything that is remembered: one schema, one way to open it.

In reading order: `stores` says what each store can do; `opening` makes a `State` of
them, and `merging` one state of several. `keys` holds the hashes that texts are known
by, and `ids` says how a host's ids are stored. `database` says what a database can do,
`sqlite` and `postgres` are the two, and `address` is where the second one is. `schema`
holds its tables, `rulesets` its lists of rules. `bindings` knows
constraints and chunks; `entries`, `register` and `findings` what was located, of which
`entry_bytes` and `span_bytes` write what is stored.
"""

from sdrag.minilm.vectors import Vectors
from sdrag.state.merging import merge_states
from sdrag.state.opening import State, StateSource, open_state
from sdrag.state.stores import (
    BindingStore,
    FindingStore,
    LineageStore,
)

__all__ = [
    "BindingStore",
    "FindingStore",
    "LineageStore",
    "State",
    "StateSource",
    "Vectors",
    "merge_states",
    "open_state",
]
