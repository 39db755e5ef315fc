"""A RAG service that never shows what its policy forbids."""
