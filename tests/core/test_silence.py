"""What is logged or warned while a wrapper holds raw text keeps its place only."""

from __future__ import annotations

import logging
import warnings
from contextvars import copy_context
from threading import Thread

import pytest

from sdrag.privacy.log_privacy import HIDDEN, suppress_logs

RAW = "Anna Karlsson saw it"


class QuotingWarning(UserWarning):
    """Made of more than a message."""

    def __init__(self, message, document):
        super().__init__(f"{message}: {document}")


def logged(logger, caplog):
    fault = ValueError(RAW)
    logger.warning("found %s", RAW, extra={"body": RAW}, exc_info=fault)
    (record,) = caplog.records
    return record


def test_a_record_keeps_logger_level_and_place(caplog):
    with suppress_logs():
        record = logged(logging.getLogger("provider.client"), caplog)

    assert (record.name, record.levelname) == ("provider.client", "WARNING")
    assert record.filename == "test_silence.py"
    assert record.getMessage() == record.body == HIDDEN


def test_a_record_loses_its_words_its_error_and_what_stands_beside(caplog):
    with suppress_logs():
        record = logged(logging.getLogger("provider.client"), caplog)

    assert RAW not in str(vars(record))


def test_outside_the_block_nothing_is_changed(caplog):
    with suppress_logs():
        pass
    record = logged(logging.getLogger("provider.client"), caplog)

    assert record.getMessage() == f"found {RAW}"
    assert record.exc_info


def test_our_own_records_are_left_alone(caplog):
    """They hold ids and counts, and are what an operator goes by."""
    caplog.set_level(logging.INFO, "sdrag.audit")
    with suppress_logs():
        logging.getLogger("sdrag.audit").info("retrieve %s", {"redacted": 1})

    assert caplog.messages == ["retrieve {'redacted': 1}"]


def test_threads_that_take_the_context_along_are_silent_too(caplog):
    logger = logging.getLogger("provider.client")
    with suppress_logs():
        run = copy_context().run
        thread = Thread(target=run, args=(logger.warning, RAW))
    thread.start()
    thread.join()

    assert caplog.messages == [HIDDEN]


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ((RAW,), UserWarning),
        ((RAW, DeprecationWarning), DeprecationWarning),
        ((QuotingWarning("found", RAW),), UserWarning),
    ],
    ids=["text", "category", "instance"],
)
def test_a_warning_keeps_its_kind_and_place(said, category):
    with suppress_logs(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(*said, stacklevel=1)

    (warning,) = caught
    assert str(warning.message) == HIDDEN
    assert warning.category is category
    assert warning.filename == __file__


def test_a_warning_outside_the_block_says_what_it_says():
    with pytest.warns(QuotingWarning, match=RAW) as caught:
        warnings.warn(QuotingWarning("found", RAW), stacklevel=1)

    assert caught[0].filename == __file__
