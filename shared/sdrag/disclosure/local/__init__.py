"""
From a constraint's words to spans, without a language model.

`locator` is the local engine. It unites what `by_type` and `by_name` find in a text,
and what `by_meaning` makes of the probabilities of `scorer`, whose networks are in
`network`.
"""

from sdrag.disclosure.local.locator import LocalLocator

__all__ = ["LocalLocator"]
