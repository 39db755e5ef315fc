"""How many examples a property is tried with: a few where each of them is slow."""

from hypothesis import settings

few = settings(max_examples=max(5, settings().max_examples // 5))
"""Makes a fifth of the examples of the profile."""
