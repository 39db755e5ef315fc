"""
What a model is asked: to extract, to confirm and to rephrase (SD-RAG, section III-C2).

`extract` asks what has to go, `confirm` what the local engine marked for nothing, and
`rephrase` for a text without what a constraint protects. `replies` reads what comes
back. No prompt takes the query: there is no argument for it.
"""
