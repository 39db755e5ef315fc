"""
Everything that is remembered: one schema, one way to open it.

In reading order: `opening` makes a `State` of its stores. `keys` holds the hashes that
texts are known by. `database` says what a database can do, `sqlite` and `postgres` are
the two, and `address` is where the second one is. `schema` holds its tables, `rulesets`
its lists of rules. `bindings` knows constraints and chunks; `entries`, `register` and
`findings` what was located, of which `entry_bytes` and `span_bytes` write what is
stored.
"""

from sdrag.embeddings import Vectors
from sdrag.state.opening import State, StateSource, open_state

__all__ = ["State", "StateSource", "Vectors", "open_state"]
