"""
The suites of `sdrag eval`: one file a suite, named like it.

Each holds one function `command`, whose options are the suite's. Heavy imports stand
inside it, so that `sdrag --help` is quick.
"""
