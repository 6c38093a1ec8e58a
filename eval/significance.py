"""Is a difference between two runs over the same questions more than chance?  Pure.

Both tests are two-sided and paired: what counts is each question's own difference.

Paired bootstrap     how often the mean of differences drawn from a world without any (the differences
                     less their mean) lies as far from zero as the observed mean: Efron & Tibshirani,
                     An Introduction to the Bootstrap, 1993, section 16.4; Sakai, Evaluating Evaluation
                     Metrics based on the Bootstrap, SIGIR 2006.
Paired randomisation how often it does when the two runs change places at random, question by question:
                     Fisher, The Design of Experiments, 1935; Smucker, Allan & Carterette, A Comparison
                     of Statistical Significance Tests for IR Evaluation, CIKM 2007.
Plus one             an estimated p is (hits + 1) / (draws + 1) and never zero: Phipson & Smyth,
                     Permutation P-values Should Never Be Zero, 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.scores import SEED, Estimate, estimate_difference, resampled_means

EXCHANGES = 10_000  # p = 0.01 is then known to within 0.002
LEVEL = 0.05  # of groups without any harm, one in twenty is then called harmed
_BLOCK = 500  # exchanges at a time: bounds the memory at 500 times the number of cases
_ULPS = 1e-12  # two sums of the same numbers in another order are the same sum


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """How far apart two runs are on the same cases."""

    difference: Estimate  # the second less the first, with its 95 % interval
    bootstrap: float  # p of the paired bootstrap
    randomisation: float  # p of the paired randomisation test

    @property
    def shown(self) -> str:
        """Return what the interval shows: better, worse, or no difference."""
        if self.difference.low > 0:
            return "better"
        return "worse" if self.difference.high < 0 else "no difference shown"

    @property
    def harm(self) -> bool:
        """Tell whether the second is worse beyond doubt: by the interval and by the randomisation test.

        Of two or three cases an interval can leave zero out by chance; that test cannot be passed then.
        """
        return self.difference.high < 0 and self.randomisation < LEVEL


def paired(before: Sequence[float], after: Sequence[float]) -> Paired:
    """Return the difference of two runs, case by case.  Raises ValueError on lists that do not pair."""
    data = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    return Paired(
        difference=estimate_difference(before, after),
        bootstrap=bootstrap_p(data),
        randomisation=randomisation_p(data),
    )


def bootstrap_p(differences: NDArray[np.float64]) -> float:
    """Return the p of the hypothesis that the mean of the differences is zero, by the bootstrap."""
    observed = abs(differences.mean())
    worlds = np.abs(resampled_means(differences - differences.mean()))
    return _share(int((worlds >= observed - _ULPS).sum()), len(worlds))


def randomisation_p(differences: NDArray[np.float64]) -> float:
    """Return the p of the hypothesis that the two runs are exchangeable, question by question."""
    # Questions on which both did the same say nothing: an exchange does not change them.
    told = differences[differences != 0]
    if not len(told):
        return 1.0
    rng = np.random.default_rng(SEED)
    observed, as_far = abs(told.sum()), 0
    for _ in range(EXCHANGES // _BLOCK):
        signs = rng.integers(2, size=(_BLOCK, len(told))) * 2 - 1
        as_far += int((np.abs(signs @ told) >= observed - _ULPS).sum())
    return _share(as_far, EXCHANGES)


def _share(hits: int, draws: int) -> float:
    return (hits + 1) / (draws + 1)
