"""
Fuzzing: whatever reads what nobody has looked at, on inputs that nobody thought of.

`make fuzz MINUTES=2` tries each target for so long, guided by the branches that inputs
reach (atheris, libFuzzer), and prints inputs and finds. What it finds becomes a case of
the tests.
"""
