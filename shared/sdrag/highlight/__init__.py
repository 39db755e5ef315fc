"""Highlight & Summarize: the summarizer never sees the question."""
