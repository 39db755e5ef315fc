"""Disclosure control for LangChain."""
