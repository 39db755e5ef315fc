"""The demo: an application before and after one line was changed."""
