"""What many tests withhold: the name of a witness, from everybody but a judge."""

from __future__ import annotations

from sdrag import Principal

NAME = "Karlsson"
TEXT = f"The witness Anna {NAME} saw it."
RELEASED = "The witness [person] saw it."
RULE = {
    "id": "names",
    "text": "Remove the names of witnesses",
    "always": True,
    "unless": {"roles": ["judge"]},
}
POLICY = {"constraints": [RULE]}
JUDGE = Principal("j", roles=frozenset({"judge"}))
CLERK = Principal("c", roles=frozenset({"clerk"}))
