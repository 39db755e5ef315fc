"""Metrics, attacks, data sets and experiments."""
