"""SD-RAG: bind constraints to passages, rank them, and redact before the answer."""
