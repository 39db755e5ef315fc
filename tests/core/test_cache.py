"""What is remembered is bounded, keyed, and never crosses a pickle."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from sdrag.cache import MemoryCache

PARTS = st.lists(st.text(max_size=4), max_size=4)


@given(PARTS, PARTS)
def test_keys_are_equal_where_all_parts_are(left, right):
    """Two parts are not their concatenation, and another cache has other keys."""
    cache = MemoryCache()

    assert (cache.key(left) == cache.key(right)) is (left == right)
    assert cache.key(left) != MemoryCache().key(left)


def test_the_entry_unused_for_longest_makes_room():
    """The bound holds, and use keeps an entry."""
    cache = MemoryCache(2)
    cache.put(b"a", 1)
    cache.put(b"b", 2)
    cache.get(b"a")
    cache.put(b"c", 3)

    assert [cache.get(key) for key in (b"a", b"b", b"c")] == [1, None, 3]


def test_a_pickled_cache_is_empty():
    """What it holds stays in the process."""
    cache = MemoryCache(2)
    cache.put(b"a", "released")

    assert pickle.loads(pickle.dumps(cache)).get(b"a") is None  # noqa: S301
    assert "released" not in repr(cache)
