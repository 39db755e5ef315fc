"""
The one schema of everything that is remembered.

No text is in it: documents, texts and constraints are keyed fingerprints, findings
are offsets. `bound` holds what was located when whole documents were bound, `met` what
was located when a text was retrieved first; the latter is bounded, oldest out.
"""

from __future__ import annotations

__all__ = ["SCHEMA", "VERSION"]

VERSION = 8
"""Raised when tables change, or what closes spans: another file starts anew."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS seal (mark BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS passage (
    id TEXT PRIMARY KEY, fingerprint BLOB NOT NULL, ruleset BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ruleset (id BLOB PRIMARY KEY, rules BLOB NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS binding (
    rule BLOB NOT NULL, passage TEXT NOT NULL, score REAL NOT NULL,
    PRIMARY KEY (rule, passage)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS binding_by_passage ON binding (passage);
CREATE TABLE IF NOT EXISTS source (
    summary TEXT NOT NULL, passage TEXT NOT NULL, fingerprint BLOB NOT NULL,
    PRIMARY KEY (summary, passage, fingerprint)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS bound (
    text BLOB NOT NULL, engine BLOB NOT NULL, ruleset BLOB NOT NULL,
    version INTEGER NOT NULL, spans BLOB NOT NULL,
    PRIMARY KEY (text, engine, ruleset)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS met (
    place INTEGER PRIMARY KEY AUTOINCREMENT, text BLOB NOT NULL, engine BLOB NOT NULL,
    ruleset BLOB NOT NULL, version INTEGER NOT NULL, spans BLOB NOT NULL,
    UNIQUE (text, engine, ruleset)
);
CREATE TABLE IF NOT EXISTS register (
    document BLOB PRIMARY KEY, version INTEGER NOT NULL, forms BLOB NOT NULL
) WITHOUT ROWID;
"""
