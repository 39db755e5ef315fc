"""A policy's sentences: what they ask for, what they do when tried, and their edits."""
