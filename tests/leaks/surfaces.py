"""
Every place that data can leave by, and what was seen there.

`watching_langchain` and `watching_llamaindex` open all surfaces of a framework at once,
the way a host might: handlers, tracers from the environment, debug output, a global
cache, logs at DEBUG and warnings. What was seen is read after the block.
"""

from __future__ import annotations

import contextlib
import io
import logging
import pickle
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import langsmith.run_trees
import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.globals import set_debug, set_llm_cache
from langchain_core.load import dumps
from langchain_core.tracers.context import collect_runs
from langsmith import Client
from langsmith.utils import get_env_var
from llama_index.core.callbacks import CallbackManager
from llama_index.core.callbacks.base_handler import BaseCallbackHandler as OldHandler
from llama_index.core.settings import Settings
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.event_handlers import BaseEventHandler
from llama_index_instrumentation.span_handlers import SimpleSpanHandler
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import PrivateAttr

from sdrag import AuditEvent, OpenTelemetrySink, RawTextFilter, log_event

Seen = dict[str, list[Any]]


_metrics, _spans = InMemoryMetricReader(), InMemorySpanExporter()
_tracing = TracerProvider()
_tracing.add_span_processor(SimpleSpanProcessor(_spans))
_telemetry = OpenTelemetrySink(
    tracer_provider=_tracing, meter_provider=MeterProvider([_metrics])
)
_events: list[Any] = []


def audit(event: AuditEvent) -> None:
    """Keep an event, and what OpenTelemetry is told of it."""
    _events.append(event.as_dict())
    for sink in (log_event, _telemetry):
        sink(event)


def audited() -> list[Any]:
    """Return all that was kept, and exported, since this was last asked."""
    kept = [*_events, *(span.to_json() for span in _spans.get_finished_spans())]
    data = _metrics.get_metrics_data()
    _events.clear()
    _spans.clear()
    return [*kept, data.to_json() if data else ""]


class Handler(BaseCallbackHandler):
    """Keeps everything LangChain tells a handler."""

    def __init__(self) -> None:
        self.seen: list[Any] = []


def _keeping(name: str) -> Any:
    def keep(self: Handler, *args: Any, **kwargs: Any) -> None:
        self.seen.append((name, args, kwargs))

    return keep


for _name in dir(BaseCallbackHandler):
    if _name.startswith("on_"):
        setattr(Handler, _name, _keeping(_name))


class _Logs(logging.Handler):
    """The log of an application that filters raw text, or does not."""

    def __init__(self, *, filtered: bool) -> None:
        super().__init__(logging.DEBUG)
        self.seen: list[Any] = []
        if filtered:
            self.addFilter(RawTextFilter())

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.append((record.getMessage(), vars(record), record.exc_info))


@contextlib.contextmanager
def _logging(*, filtered: bool) -> Iterator[_Logs]:
    """Log everything at DEBUG, and warnings too."""
    handler, root = _Logs(filtered=filtered), logging.getLogger()
    level = root.level
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=False)  # whoever captured them last
        logging.captureWarnings(capture=True)
        root.addHandler(handler)
        root.setLevel(logging.DEBUG)
        try:
            yield handler
        finally:
            root.removeHandler(handler)
            root.setLevel(level)
            logging.captureWarnings(capture=False)


class _Collector(BaseHTTPRequestHandler):
    """A LangSmith that keeps what it is sent."""

    bodies: list[bytes]

    def _answer(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        self.server.bodies.append(self.rfile.read(length))  # type: ignore[attr-defined]
        self.send_response(202)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_GET = do_POST = do_PATCH = _answer  # noqa: N815 -- the base class's names

    def log_message(self, *args: Any) -> None:
        pass


@contextlib.contextmanager
def _langsmith() -> Iterator[list[bytes]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Collector)
    server.bodies = bodies = []  # type: ignore[attr-defined]
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    client = Client(
        api_url=f"http://127.0.0.1:{server.server_port}",
        api_key="none",
        auto_batch_tracing=False,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LANGSMITH_TRACING", "true")
        patch.setattr(langsmith.run_trees, "_CLIENT", client)
        get_env_var.cache_clear()
        try:
            yield bodies
        finally:
            server.shutdown()
            server.server_close()
    get_env_var.cache_clear()


@contextlib.contextmanager
def watching_langchain(
    folder: Path, *, filtered: bool = True
) -> Iterator[tuple[Handler, Seen]]:
    """
    Open every surface of LangChain.

    Args:
        folder: Takes all files.
        filtered: The application's log handler has the filter of raw text.

    Yields:
        A handler to pass, and what was seen, to be read after the block.
    """
    seen: Seen = {}
    handler, cache, output = Handler(), InMemoryCache(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(_temporary_files_in(folder))
        bodies = stack.enter_context(_langsmith())
        logs = stack.enter_context(_logging(filtered=filtered))
        runs = stack.enter_context(collect_runs())
        stack.enter_context(contextlib.redirect_stdout(output))
        stack.enter_context(contextlib.redirect_stderr(output))
        stack.callback(set_debug, value=False)
        stack.callback(set_llm_cache, None)
        set_debug(value=True)
        set_llm_cache(cache)
        yield handler, seen
        seen |= {
            "callbacks": handler.seen,
            "LangSmith tracer": list(bodies),
            "`collect_runs`": [run.model_dump() for run in runs.traced_runs],
            "`set_debug` output": [output.getvalue()],
            "global LLM cache": list(cache._cache.items()),
            "logs and warnings": logs.seen,
        }
    seen["files"] = _files(folder)


class _Events(BaseEventHandler):
    _seen: list[Any] = PrivateAttr(default_factory=list)

    def handle(self, event: Any, **kwargs: Any) -> None:
        self._seen.append((event, event.model_dump(), vars(event), kwargs))


class _Spans(SimpleSpanHandler):
    _seen: list[Any] = PrivateAttr(default_factory=list)

    def span_enter(self, *args: Any, **kwargs: Any) -> None:
        self._seen.append(_arguments(kwargs))
        super().span_enter(*args, **kwargs)

    def span_exit(self, *args: Any, **kwargs: Any) -> None:
        self._seen.append(_arguments(kwargs))
        super().span_exit(*args, **kwargs)

    def span_drop(self, *args: Any, **kwargs: Any) -> None:
        self._seen.append(_arguments(kwargs))
        super().span_drop(*args, **kwargs)


def _arguments(kwargs: dict[str, Any]) -> list[Any]:
    bound = kwargs.get("bound_args")
    return [kwargs, dict(bound.arguments) if bound else {}]


class _Old(OldHandler):
    def __init__(self) -> None:
        super().__init__([], [])
        self.seen: list[Any] = []

    def on_event_start(self, *args: Any, **kwargs: Any) -> str:
        self.seen.append((args, kwargs))
        return str(kwargs.get("event_id", ""))

    def on_event_end(self, *args: Any, **kwargs: Any) -> None:
        self.seen.append((args, kwargs))

    def start_trace(self, trace_id: Any = None) -> None:
        self.seen.append(trace_id)

    def end_trace(self, trace_id: Any = None, trace_map: Any = None) -> None:
        self.seen.append(trace_map)


@contextlib.contextmanager
def watching_llamaindex(folder: Path, *, filtered: bool = True) -> Iterator[Seen]:
    """Open every surface of LlamaIndex; as `watching_langchain`."""
    seen: Seen = {}
    events, spans, old, output = _Events(), _Spans(), _Old(), io.StringIO()
    root, before = get_dispatcher(), Settings._callback_manager
    with contextlib.ExitStack() as stack:
        stack.enter_context(_temporary_files_in(folder))
        logs = stack.enter_context(_logging(filtered=filtered))
        stack.enter_context(contextlib.redirect_stdout(output))
        stack.enter_context(contextlib.redirect_stderr(output))
        root.add_event_handler(events)
        root.add_span_handler(spans)
        Settings._callback_manager = CallbackManager([old])
        stack.callback(root.event_handlers.remove, events)
        stack.callback(root.span_handlers.remove, spans)
        stack.callback(setattr, Settings, "_callback_manager", before)
        yield seen
        seen |= {
            "events": events._seen,
            "spans": spans._seen,
            "callback handlers": old.seen,
            "output": [output.getvalue()],
            "logs and warnings": logs.seen,
        }
    seen["files"] = _files(folder)


@contextlib.contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    before = tempfile.tempdir
    tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def _files(folder: Path) -> list[Any]:
    return [
        (path.name, path.read_bytes()) for path in folder.rglob("*") if path.is_file()
    ]


def inspected(wrapper: Any) -> Seen:
    """What a wrapper shows of itself."""
    seen: Seen = {"`repr` and `str`": [repr(wrapper), str(wrapper), f"{wrapper:}"]}
    dumped: list[Any] = [dumps(wrapper)]
    if hasattr(wrapper, "model_dump_json"):
        dumped += [wrapper.model_dump(), wrapper.model_dump_json()]
    if hasattr(wrapper, "to_dict"):
        dumped.append(wrapper.to_dict())
    seen["dumps"] = dumped
    try:
        seen["pickles"] = [pickle.dumps(wrapper)]
    except Exception as refusal:  # noqa: BLE001 -- any refusal will do, and is looked at
        seen["pickles"] = [refusal]
    return seen


def told(error: BaseException) -> list[Any]:
    """What a collector of errors reads: the chain, and the locals of our frames."""
    own = [
        frame.f_locals
        for frame, _ in traceback.walk_tb(error.__traceback__)
        if "sdrag" in Path(frame.f_code.co_filename).parent.name
    ]
    return [error, *traceback.format_exception(error), *own]
