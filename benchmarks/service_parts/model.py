"""
A model that answers with all it was given, 300 ms after it was asked.

    uvicorn benchmarks.service_parts.model:app

It speaks OpenAI's protocol, streamed. Half of its answer comes after half of the time.
`/calls` says how many answers it is writing, and how many of them it has stopped.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

SECONDS = 0.3
calls = {"running": 0, "cut off": 0}


async def _chat(request: Request) -> StreamingResponse:
    body = await request.json()
    said = str(body["messages"][-1]["content"])
    return StreamingResponse(_events(said), media_type="text/event-stream")


async def _read_calls(_: Request) -> JSONResponse:
    return JSONResponse(calls)


async def _events(said: str) -> AsyncIterator[str]:
    half, whole = len(said) // 2, False
    calls["running"] += 1
    try:
        for part in (said[:half], said[half:]):
            await asyncio.sleep(SECONDS / 2)
            yield _event({"delta": {"role": "assistant", "content": part}})
        yield _event({"delta": {}, "finish_reason": "stop"})
        whole = True
        yield "data: [DONE]\n\n"
    finally:
        calls["running"] -= 1
        calls["cut off"] += not whole


def _event(choice: dict[str, Any]) -> str:
    chunk = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "double",
        "choices": [{"index": 0, **choice}],
    }
    return f"data: {json.dumps(chunk)}\n\n"


app = Starlette(
    routes=[
        Route("/v1/chat/completions", _chat, methods=["POST"]),
        Route("/calls", _read_calls),
    ]
)
