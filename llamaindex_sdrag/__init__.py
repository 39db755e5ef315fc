"""Disclosure control for LlamaIndex."""
