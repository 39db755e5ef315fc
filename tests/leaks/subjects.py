"""
Every public class, used as its host uses it, in every mode its framework has.

A subject whose host has shown raw text before it calls us says in which surfaces. The
matrix checks that too: such a cell must see a canary, or the table would be a lie.
"""

from __future__ import annotations

from . import langchain_subjects, llamaindex_subjects
from .subject import Subject

__all__ = ["SUBJECTS"]

SUBJECTS: tuple[Subject, ...] = (
    *langchain_subjects.SUBJECTS,
    *llamaindex_subjects.SUBJECTS,
)
