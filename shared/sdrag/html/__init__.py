"""HTML without a template engine: every value is escaped, nothing is loaded."""
