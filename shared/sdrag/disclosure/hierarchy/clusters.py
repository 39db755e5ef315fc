"""
Clusters of chunks: UMAP to few dimensions, then a Gaussian mixture (RAPTOR, section 3).

"Projects them to a lower dimension vector space using UMAP, and clusters the
reduced-dimensionality embeddings using a Gaussian Mixture Model." The number of
components is the one with the least Bayesian information criterion. Membership is
soft: a chunk belongs to every cluster whose probability reaches the threshold, and to
its likeliest one in any case. Where a cluster is more than the model takes at once, the
paper "recursively applies clustering within the cluster".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sdrag.errors import require_extra

__all__ = ["clusters", "fitting_clusters"]

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

_FEW = 4
"""So few chunks are one cluster: there is nothing to project."""
_SEED = 224
_LIKELIEST_ONLY = 2.0
"""A threshold that no probability reaches."""


def fitting_clusters(
    vectors: Matrix,
    sizes: Sequence[int],
    limit: int,
    *,
    dimensions: int = 10,
    threshold: float = 0.1,
) -> list[tuple[int, ...]]:
    """
    Group vectors, and part again whatever is larger than a limit.

    The parts of a group are disjoint, or parting would multiply them; a group that does
    not fall apart is halved.

    Args:
        vectors: One a row, of unit length.
        sizes: Of what each row represents.
        limit: What the sizes of a group may add up to; one row alone may be larger.
        dimensions: After projection.
        threshold: From which probability a chunk belongs to a cluster.

    Returns:
        The rows of each group; every row is in at least one.

    Raises:
        MissingExtraError: The extra `hierarchy` is not installed.
    """
    waiting = clusters(vectors, dimensions=dimensions, threshold=threshold)[::-1]
    fitting: list[tuple[int, ...]] = []
    while waiting:
        group = waiting.pop()
        if len(group) == 1 or sum(sizes[row] for row in group) <= limit:
            fitting.append(group)
            continue
        parts = clusters(
            vectors[list(group)], dimensions=dimensions, threshold=_LIKELIEST_ONLY
        )
        if len(parts) == 1:
            indices = tuple(range(len(group)))
            half = len(group) // 2
            parts = [indices[:half], indices[half:]]
        waiting += [tuple(group[index] for index in part) for part in parts[::-1]]
    return list(dict.fromkeys(fitting))


def clusters(
    vectors: Matrix,
    *,
    dimensions: int = 10,
    threshold: float = 0.1,
    most: int = 50,
) -> list[tuple[int, ...]]:
    """
    Group vectors.

    Args:
        vectors: One a row, of unit length.
        dimensions: After projection.
        threshold: From which probability a chunk belongs to a cluster.
        most: The most clusters tried.

    Returns:
        The rows of each cluster; every row is in at least one.

    Raises:
        MissingExtraError: The extra `hierarchy` is not installed.
    """
    count = len(vectors)
    if count <= _FEW:
        return [tuple(range(count))] if count else []
    points = _projected(vectors, min(dimensions, count - 2))
    mixture = _mixture(points, min(most, count - 1))
    shares = mixture.predict_proba(points)
    member = shares >= threshold
    member[np.arange(count), shares.argmax(axis=1)] = True
    groups = [tuple(map(int, np.flatnonzero(column))) for column in member.T]
    return list(dict.fromkeys(group for group in groups if group))


def _projected(vectors: Matrix, dimensions: int) -> Any:
    with require_extra("hierarchy", "Hierarchical summaries"):
        import umap  # noqa: PLC0415 -- an extra
    neighbours = max(2, int((len(vectors) - 1) ** 0.5))
    projection = umap.UMAP(
        n_neighbors=neighbours,
        n_components=dimensions,
        metric="cosine",
        init="random" if len(vectors) <= dimensions + 1 else "spectral",
        random_state=_SEED,
        n_jobs=1,
    )
    # In single precision, the mixture finds covariances that cannot be.
    return projection.fit_transform(vectors).astype(np.float64)


def _mixture(points: Any, most: int) -> Any:
    with require_extra("hierarchy", "Hierarchical summaries"):
        from sklearn.mixture import GaussianMixture  # noqa: PLC0415 -- an extra
    fitted = []
    for number in range(1, most + 1):
        try:
            fitted.append(GaussianMixture(number, random_state=_SEED).fit(points))
        except ValueError:  # more components than these points can carry
            break
    return min(fitted, key=lambda mixture: mixture.bic(points))
