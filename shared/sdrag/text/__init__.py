"""Texts: spans, sentences, folding, decoding, and finding phrases in them."""
