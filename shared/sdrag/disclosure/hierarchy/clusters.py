"""
Clusters of chunks: UMAP to few dimensions, then a Gaussian mixture (RAPTOR, section 3).

"Projects them to a lower dimension vector space using UMAP, and clusters the
reduced-dimensionality embeddings using a Gaussian Mixture Model." The number of
components is the one with the least Bayesian information criterion. Membership is
soft: a chunk belongs to every cluster whose probability reaches the threshold, and to
its likeliest one in any case.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdrag.extras import needs

__all__ = ["clusters"]

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

_FEW = 4
"""So few chunks are one cluster: there is nothing to project."""
_SEED = 224


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
    with needs("hierarchy", "Hierarchical summaries"):
        import umap  # noqa: PLC0415 -- an extra
    neighbours = max(2, int((len(vectors) - 1) ** 0.5))
    return umap.UMAP(
        n_neighbors=neighbours,
        n_components=dimensions,
        metric="cosine",
        init="random" if len(vectors) <= dimensions + 1 else "spectral",
        random_state=_SEED,
        n_jobs=1,
    ).fit_transform(vectors)


def _mixture(points: Any, most: int) -> Any:
    with needs("hierarchy", "Hierarchical summaries"):
        from sklearn.mixture import GaussianMixture  # noqa: PLC0415 -- an extra
    fitted = [
        GaussianMixture(number, random_state=_SEED).fit(points)
        for number in range(1, most + 1)
    ]
    return min(fitted, key=lambda mixture: mixture.bic(points))
