"""
Everything that is remembered: seven tables, and one way to open them.

`open_state` makes a `State` of a path, a URL or nothing. In reading order: `opening`;
`keys`, the hashes that everything is known by; `tables`; `database`; `findings`, what
was found in which text; `register`, what is to be known again of a document;
`bindings`, which constraints are close to which chunks; `ledger`, what sessions were
shown; `values`, what placeholders stand for.
"""

from sdrag.state.opening import WAIT_SECONDS, State, StateSource, open_state

__all__ = ["WAIT_SECONDS", "State", "StateSource", "open_state"]
