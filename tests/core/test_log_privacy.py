"""What is logged or warned while a wrapper holds raw text loses its text."""

from __future__ import annotations

import copy
import logging
import pickle
import warnings
from contextvars import copy_context
from threading import Thread

import pytest

from sdrag.privacy.log_privacy import (
    HIDDEN,
    RawTextFilter,
    suppress_logs,
    warn_without_filter,
)

RAW = "Anna Karlsson saw it"


@pytest.fixture
def log(caplog):
    """The log of an application that has the filter and captures warnings."""
    raw_text = RawTextFilter()
    caplog.handler.addFilter(raw_text)
    logging.captureWarnings(capture=True)
    yield caplog
    logging.captureWarnings(capture=False)
    caplog.handler.removeFilter(raw_text)


def write(log):
    fault = ValueError(RAW)
    logging.getLogger("provider.client").warning(
        "found %s", RAW, extra={"body": RAW}, exc_info=fault
    )
    return log.records[-1]


def test_a_record_keeps_logger_level_and_place_and_loses_its_text(log):
    """Its message, arguments, error and `extra`; also when a queue copies it."""
    with suppress_logs():
        record = write(log)

    assert (record.name, record.levelname) == ("provider.client", "WARNING")
    assert record.filename == "test_log_privacy.py"
    for other in (record, copy.copy(record), pickle.loads(pickle.dumps(record))):  # noqa: S301 -- our own
        assert other.getMessage() == other.body == HIDDEN
        assert RAW not in str(vars(other))


def test_a_warning_loses_its_text(log):
    with suppress_logs(), warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=False)  # whoever captured them last
        logging.captureWarnings(capture=True)
        warnings.warn(RAW, stacklevel=1)

    assert RAW not in log.text
    assert log.records[-1].name == "py.warnings"


def test_outside_the_block_nothing_is_changed(log):
    with suppress_logs():
        pass
    record = write(log)

    assert record.getMessage() == f"found {RAW}"
    assert record.exc_info


def test_records_of_sdrag_are_left_alone(log):
    """They hold ids and counts, and are what an operator goes by."""
    log.set_level(logging.INFO, "sdrag.audit")
    with suppress_logs():
        logging.getLogger("sdrag.audit").info("retrieve %s", {"redacted": 1})

    assert log.messages == ["retrieve {'redacted': 1}"]


def test_threads_with_the_context_are_suppressed_too(log):
    logger = logging.getLogger("provider.client")
    with suppress_logs():
        run = copy_context().run
        thread = Thread(target=run, args=(logger.warning, RAW))
    thread.start()
    thread.join()

    assert log.messages == [HIDDEN]


def test_a_wrapper_warns_once_where_no_handler_has_the_filter(caplog, monkeypatch):
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [caplog.handler])
    warn_without_filter.cache_clear()
    warn_without_filter()
    warn_without_filter()

    assert len(caplog.records) == 1
    assert "RawTextFilter" in caplog.text


def test_a_wrapper_does_not_warn_where_a_handler_has_the_filter(log, monkeypatch):
    monkeypatch.setattr(logging.getLogger(), "handlers", [log.handler])
    warn_without_filter.cache_clear()
    warn_without_filter()

    assert not log.records
