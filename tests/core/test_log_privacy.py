"""What is logged or warned while a wrapper holds raw text loses its words."""

from __future__ import annotations

import copy
import logging
import pickle
import warnings
from contextvars import copy_context
from threading import Thread

import pytest

from sdrag.privacy.log_privacy import HIDDEN, install, suppress_logs

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
    assert record.filename == "test_log_privacy.py"
    assert record.getMessage() == record.body == HIDDEN


def test_a_record_loses_its_words_its_error_and_its_extra(caplog):
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


def test_threads_with_the_context_are_suppressed_too(caplog):
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
    with warnings.catch_warnings(record=True) as caught, suppress_logs():
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


def test_a_record_can_be_copied_and_pickled(caplog):
    """Queue handlers do both."""
    with suppress_logs():
        record = logged(logging.getLogger("provider.client"), caplog)
    record.message = record.getMessage()

    for other in (copy.copy(record), pickle.loads(pickle.dumps(record))):  # noqa: S301
        assert (other.name, other.levelno) == (record.name, record.levelno)
        assert other.message == other.body == HIDDEN


@pytest.fixture
def untouched(monkeypatch):
    """The state of a process in which no wrapper was built."""
    factory = logging.getLogRecordFactory()
    logging.setLogRecordFactory(logging.LogRecord)
    with warnings.catch_warnings():
        yield
    logging.setLogRecordFactory(factory)


@pytest.mark.usefixtures("untouched")
class TestInstalling:
    """`install` adds to what an application has put in place."""

    def test_it_installs_once(self):
        install()
        factory, show = logging.getLogRecordFactory(), warnings.showwarning
        install()

        assert logging.getLogRecordFactory() is factory
        assert warnings.showwarning is show

    def test_the_factory_of_the_application_is_called(self, caplog):
        class Numbered(logging.LogRecord):
            number = 7

        logging.setLogRecordFactory(Numbered)
        with suppress_logs():
            record = logged(logging.getLogger("provider.client"), caplog)

        assert record.number == 7
        assert RAW not in str(vars(record))

    def test_a_factory_that_replaces_ours_is_put_behind_it_again(self, caplog):
        install()
        logging.setLogRecordFactory(logging.LogRecord)
        with suppress_logs():
            record = logged(logging.getLogger("provider.client"), caplog)

        assert RAW not in str(vars(record))

    def test_warnings_reach_what_the_application_shows_them_by(self, monkeypatch):
        shown = []
        monkeypatch.setattr(warnings, "showwarning", lambda *said: shown.append(said))
        with suppress_logs():
            warnings.warn(RAW, stacklevel=1)

        ((message, category, *_),) = shown
        assert (str(message), category) == (HIDDEN, UserWarning)

    def test_warnings_that_are_logged_are_suppressed(self, caplog):
        logging.captureWarnings(capture=True)
        try:
            with suppress_logs():
                warnings.warn(RAW, stacklevel=1)
        finally:
            logging.captureWarnings(capture=False)

        assert HIDDEN in caplog.text
        assert RAW not in caplog.text


class TestOutOfReach:
    """What keeps its words, as `SECURITY.md` says."""

    def test_a_logger_class_that_makes_its_own_records(self, caplog):
        class Own(logging.Logger):
            def makeRecord(self, *args, **kwargs):  # noqa: N802 -- the name in logging
                del kwargs
                return logging.LogRecord(*args[:7])

        logger = Own("provider.client")
        logger.addHandler(caplog.handler)
        with suppress_logs():
            logger.warning(RAW)

        assert caplog.messages == [RAW]

    def test_a_record_that_is_handed_to_a_handler(self, caplog):
        with suppress_logs():
            caplog.handler.handle(
                logging.LogRecord("provider", 30, "file.py", 1, RAW, (), None)
            )

        assert caplog.messages == [RAW]

    def test_warnings_recorded_inside_the_block(self):
        with suppress_logs(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.warn(RAW, stacklevel=1)

        assert str(caught[0].message) == RAW

    def test_warnings_that_a_filter_raises(self):
        with suppress_logs(), warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match=RAW):
                warnings.warn(RAW, stacklevel=1)
