"""Statements: what guards of answers and sources read in a sentence, and compare."""
