"""
Entries as bytes: rules by their place in one list, forms and contexts by their rules.

The same entries are the same bytes in every process, and tell nothing without the key
of their hashes.
"""

from __future__ import annotations

import struct
from array import array

from sdrag.state.entries import Entries, Form

__all__ = ["read_entries", "written_entries"]

_RULE_BYTES = 16
_COUNT = struct.Struct("<H")
_HEAD = struct.Struct("<HII")  # of rules, of their forms, of their contexts
_FORM = struct.Struct("<BBHQQ")  # as the fields of `Form`


def written_entries(entries: Entries) -> bytes:
    """Write entries down."""
    rules = sorted(entries.rules())
    indices = {rule: index for index, rule in enumerate(rules)}
    forms: dict[frozenset[bytes], list[Form]] = {}
    for form, hiding in entries.forms.items():
        forms.setdefault(frozenset(hiding), []).append(form)
    contexts: dict[frozenset[bytes], list[int]] = {}
    for context, hiding in entries.contexts.items():
        contexts.setdefault(frozenset(hiding), []).append(context)
    parts = [_COUNT.pack(len(rules)), *rules]
    # In an order that is the same in every process; that of a set is not.
    for shared in sorted(forms.keys() | contexts.keys(), key=sorted):
        own, known = forms.get(shared, []), contexts.get(shared, [])
        parts.append(_HEAD.pack(len(shared), len(own), len(known)))
        parts.append(array("H", sorted(indices[rule] for rule in shared)).tobytes())
        parts += [_FORM.pack(*form) for form in sorted(own)]
        parts.append(array("I", sorted(known)).tobytes())
    return b"".join(parts)


def read_entries(given: bytes) -> Entries:
    """Read what `written_entries` wrote."""
    (many,) = _COUNT.unpack_from(given)
    at = _COUNT.size
    end = at + many * _RULE_BYTES
    rules = [given[n : n + _RULE_BYTES] for n in range(at, end, _RULE_BYTES)]
    entries, at = Entries(), end
    while at < len(given):
        hiding, forms, contexts = _HEAD.unpack_from(given, at)
        at += _HEAD.size
        own = array("H", given[at : at + 2 * hiding])
        at += 2 * hiding
        end = at + forms * _FORM.size
        for fields in _FORM.iter_unpack(given[at:end]):
            entries.forms[Form(*fields)] = {rules[index] for index in own}
        at, end = end, end + 4 * contexts
        for context in array("I", given[at:end]):
            entries.contexts[context] = {rules[index] for index in own}
        at = end
    return entries
