"""The roles that a type of entity can have: how its values are compared."""

from __future__ import annotations

from typing import Literal

__all__ = ["Role"]

Role = Literal[
    "name",
    "number",
    "phone",
    "exact",
    "date",
    "age",
    "place",
    "organisation",
    "term",
    "description",
]
"""
Names of people; identifiers; telephone numbers; what is compared letter by letter, such
as an e-mail address; dates; ages; places; organisations, and doctors among them; terms,
such as diagnoses; and descriptions in words.
"""
