"""How rules are driven: steps, effects, calls, and the bounds of all three."""
