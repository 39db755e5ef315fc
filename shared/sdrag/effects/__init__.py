"""
Effects: what rules ask of the world, and who answers, sync and async.

Everything that can wait exists in both ways, and is written once. Three means do it,
each for one kind of author:

- Whoever writes a *rule* (a guard, the pipeline) writes a generator of `steps.Steps`.
  It yields effects, performs nothing, and is neither sync nor async. `run` and `arun`
  drive it.
- Whoever *answers an effect* (a model, a retriever, an authorizer) gives a
  `calls.Port(call, acall)`: the two functions of the host. `runner.PortRunner` makes
  the calls, within the bounds of `limits.Limits`.
- Whoever writes an *adapter* over methods that a framework has twice writes a coroutine
  that is given a `callers.Caller`, `call_sync` or `call_async`, and awaits
  `do(method, async_method, ...)`. `run_sync` drives it without an event loop, and
  `make_port` makes a port of it.
"""
