"""What is remembered: what was released, under keys that tell nothing."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from sdrag.cache import MemoryCache, SqliteCache
from sdrag.detectors.tagger import tagging
from sdrag.pipeline import Engine, Request, disclose
from sdrag.steps import run
from sdrag.testing import Scripted, canary
from sdrag.vocabulary import Passage

RULE = {"id": "names", "text": "Remove names of witnesses"}


@pytest.fixture(params=["memory", "sqlite"])
def cache(request, tmp_path):
    if request.param == "memory":
        return MemoryCache(entries=3)
    return SqliteCache(tmp_path / "cache.db", entries=3)


def test_remembers(cache):
    """What was put is there; what was not is not."""
    key = cache.key(["a", "b"])

    assert cache.get(key) is None
    cache.put(key, "value")
    assert cache.get(key) == "value"


def test_parts_do_not_run_together(cache):
    """The same letters cut differently are another key."""
    assert cache.key(["ab", "c"]) != cache.key(["a", "bc"])


def test_bounded(cache):
    """The entry unused for longest makes room."""
    keys = [cache.key([str(number)]) for number in range(4)]
    for key in keys[:3]:
        cache.put(key, "value")
    cache.get(keys[0])
    cache.put(keys[3], "value")

    assert [cache.get(key) is not None for key in keys] == [True, False, True, True]


def test_threads(cache):
    """Safe under concurrent use."""
    key = cache.key(["a"])

    def work(number):
        cache.put(key, str(number))
        return cache.get(key)

    with ThreadPoolExecutor(8) as pool:
        assert None not in list(pool.map(work, range(64)))


def test_sqlite_outlives_the_process(tmp_path):
    """The same file gives the same keys and values; only its owner may read it."""
    path = tmp_path / "cache.db"
    first = SqliteCache(path)
    first.put(first.key(["a"]), "value")
    second = SqliteCache(path)

    assert second.get(second.key(["a"])) == "value"
    assert [oct(f.stat().st_mode & 0o077) for f in tmp_path.iterdir()] == ["0o0"] * 2


def test_no_raw_text_on_disk(tmp_path):
    """Nothing that was withheld stands in the database or in its key file."""
    name = canary("witness").capitalize()
    text = f"Mr. {name} saw the van. {name} rang."
    engine = Engine.build({"constraints": [RULE]}, cache=tmp_path / "cache.db")

    (one,) = run(
        disclose([Passage("p", text)], Request("?"), engine), Scripted()
    ).passages
    again = Engine.build({"constraints": [RULE]}, cache=tmp_path / "cache.db")
    (two,) = run(
        disclose([Passage("p", text)], Request("?"), again), Scripted()
    ).passages

    assert one.text == two.text
    assert dict(one.metadata) == dict(two.metadata)
    assert not any(name.encode() in f.read_bytes() for f in tmp_path.iterdir())


def test_what_less_was_installed_for_is_not_remembered(tmp_path):
    """A release made without a network does not outlive its installation."""
    passage = Passage("p", "The applicant ran a mushroom farm with his two brothers.")

    def released():
        engine = Engine.build(
            {"constraints": ["Mask personal data"]}, cache=tmp_path / "cache.db"
        )
        return run(disclose([passage], Request("?"), engine), Scripted()).passages

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tagging, "_WEIGHTS", tmp_path / "none.safetensors")
        (before,) = released()
    (after,) = released()

    assert "mushroom" in before.text
    assert "mushroom" not in after.text
