"""Many unit vectors out of few real ones, and the exact answers over them.  Pure.

The recipe of a copy: a real vector is mixed with one of its nearest neighbours and moved along the
difference of two other real vectors, so that the spread of the data is that of real text and a
copy's neighbours are copies of its original's neighbours.  White noise would not do: in 384
dimensions it is orthogonal to everything that text differs in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from appliance.ports import Vectors

CITIES = 60
LARGEST = 0.3  # the largest city's share of all chunks: 180,000 of 600,000
SMALLEST = 400  # chunks

NEIGHBOURS = 8  # among which a copy's second parent is drawn
MIX = 0.35  # most of the second parent in a copy
NOISE = 0.35  # length of the step away from both, in unit vectors
POOL = 20_000  # most real vectors: their neighbours are found by comparing all with all

Rows = NDArray[np.int64]


def city_sizes(total: int, cities: int = CITIES) -> list[int]:
    """Return the chunks of each city, descending, in all exactly `total`.

    Zipf's law between a largest of LARGEST of all and a smallest of SMALLEST, or less where the
    total is too small for so many; the exponent is what makes the sum right.
    """
    largest = LARGEST * total
    smallest = min(SMALLEST, total // (2.5 * cities))
    ranks = np.arange(1, cities + 1, dtype=np.float64)

    def sizes(exponent: float) -> NDArray[np.float64]:
        shares = ranks**-exponent
        shares = (shares - shares[-1]) / (shares[0] - shares[-1])
        of_each: NDArray[np.float64] = smallest + (largest - smallest) * shares
        return of_each

    low, high = 0.01, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if sizes(middle).sum() > total else (low, middle)
    whole = np.floor(sizes(low)).astype(int)
    whole[0] += total - whole.sum()
    return [int(n) for n in whole]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Real vectors (n, d), unit length, with the nearest others of each (n, NEIGHBOURS)."""

    vectors: Vectors
    neighbours: Rows
    known: dict[bytes, int]  # embedding input to the position of its vector


def pool_of(inputs: Sequence[bytes], vectors: Vectors, seed: int = 1) -> Pool:
    """Return a pool of at most POOL of the vectors, drawn at random, with their neighbours."""
    chosen = np.sort(np.random.default_rng(seed).permutation(len(vectors))[:POOL])
    kept = np.ascontiguousarray(vectors[chosen], dtype=np.float32)
    known = {inputs[int(i)]: position for position, i in enumerate(chosen)}
    return Pool(vectors=kept, neighbours=_neighbours(kept), known=known)


def _neighbours(vectors: Vectors) -> Rows:
    near = min(NEIGHBOURS, len(vectors) - 1)
    found = []
    for start in range(0, len(vectors), 1024):
        block = vectors[start : start + 1024] @ vectors.T
        block[np.arange(len(block)), start + np.arange(len(block))] = -2.0  # not itself
        # A copy: the slice alone would keep the whole block of 160 MB.
        found.append(np.argpartition(-block, near - 1, axis=1)[:, :near].astype(np.int64))
    return np.concatenate(found)


def multiplied(pool: Pool, originals: Rows, rng: np.random.Generator) -> Vectors:
    """Return one perturbed copy (len(originals), d) of each vector of the pool that is named by position."""
    count = len(originals)
    second = pool.neighbours[originals, rng.integers(pool.neighbours.shape[1], size=count)]
    share = rng.uniform(0.0, MIX, size=(count, 1)).astype(np.float32)
    mixed = (1 - share) * pool.vectors[originals] + share * pool.vectors[second]
    return _unit(mixed + NOISE * _steps(pool, count, rng))


def asked(questions: Vectors, pool: Pool, count: int, rng: np.random.Generator) -> Vectors:
    """Return `count` question vectors: real ones, each moved a little, as people ask alike."""
    chosen = rng.permutation(np.resize(np.arange(len(questions)), max(count, len(questions))))
    moved = questions[chosen[:count]] + 0.5 * NOISE * _steps(pool, count, rng)
    return _unit(moved)


def _steps(pool: Pool, count: int, rng: np.random.Generator) -> Vectors:
    size = len(pool.vectors)
    one = rng.integers(size, size=count)
    other = (one + rng.integers(1, size, size=count)) % size  # never the same
    return _unit(pool.vectors[one] - pool.vectors[other])


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit


def turned(vectors: Vectors, dimension: int, seed: int = 1) -> Vectors:
    """Return the vectors in a space of more dimensions, with every cosine as it was.

    It shows what a longer vector costs; what a larger model would find is not to be had this way.
    """
    rng = np.random.default_rng(seed)
    frame, _ = np.linalg.qr(rng.standard_normal((dimension, vectors.shape[1])))
    return _unit((vectors @ frame.T.astype(np.float32)).astype(np.float32))


def exact(vectors: Vectors, queries: Vectors, k: int) -> list[Rows]:
    """Return for each query the positions of its k nearest vectors by float32 cosine, best first."""
    k = min(k, len(vectors))
    answers = []
    for scores in queries @ vectors.T:
        best = np.argpartition(-scores, k - 1)[:k]
        answers.append(best[np.argsort(-scores[best], kind="stable")].astype(np.int64))
    return answers


def nearness(vectors: Vectors, queries: Vectors, k: int) -> tuple[float, float]:
    """Return the median cosine of the queries' nearest vector, and of their k-th nearest."""
    answers = exact(vectors, queries, k)
    first = [float(q @ vectors[a[0]]) for q, a in zip(queries, answers, strict=True)]
    last = [float(q @ vectors[a[-1]]) for q, a in zip(queries, answers, strict=True)]
    return float(np.median(first)), float(np.median(last))


def bases(digests: Sequence[bytes], pool: Pool, rng: np.random.Generator) -> Rows:
    """Return for each embedding input its own vector's position in the pool, or any other one's."""
    others = rng.integers(len(pool.vectors), size=len(digests))
    places = [pool.known.get(d, int(o)) for d, o in zip(digests, others, strict=True)]
    return np.array(places, dtype=np.int64)
