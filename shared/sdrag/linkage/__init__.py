"""CLAM: mask the fewest entities that break the links between documents."""
