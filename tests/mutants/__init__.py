"""
Mutation testing: whether a test notices when a line of the core says something else.

`make mutants` changes the modules of `modules.toml` one expression at a time (mutmut),
runs the tests that are named beside each module, and prints the share that they notice.
"""
