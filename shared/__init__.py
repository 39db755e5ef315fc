"""A source root, not a package: what lies here is imported as `sdrag`."""

raise ImportError("`shared` is a source root. Import `sdrag`.")
