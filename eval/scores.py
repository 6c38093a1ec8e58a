"""How good is a ranked list, or an answer, against a case?  Pure: records in, numbers out.

Knows nothing of databases, models or the terminal.  The measures are written out
here because what counts as a hit cannot be put as (document, relevance) pairs: gold
comes in groups, ranks count distinct sections, and in a giant record only a chunk
near the answer counts.  That leaves about ten lines of arithmetic for a library;
ir_measures (0.4) would bring a compiled trec_eval for them, ranx (0.3) numba, pandas
and scipy.  The tests hold tables worked by hand instead.

Hit at k       Success@k: 1 if the first k distinct sections satisfy some gold group.
MRR            1 / rank of the first hit, 0 beyond rank 10: Voorhees, The TREC-8 Question
               Answering Track Report, 1999.
nDCG at 10     gain / log2(rank + 1), over the ideal: Järvelin & Kekäläinen, Cumulated Gain-Based
               Evaluation of IR Techniques, 2002.  A rank gains one for each gold group that it
               satisfies first, and nothing for repeating one: Clarke et al., Novelty and
               Diversity in Information Retrieval Evaluation, 2008, with alpha = 1.
Recall, MAP    trec_eval's recall_k and map_cut_k, of plain lists without groups: Buckley & Voorhees,
               Retrieval System Evaluation, in TREC: Experiment and Evaluation, 2005.
Intervals      percentile bootstrap over the cases: Efron & Tibshirani, An Introduction to the
               Bootstrap, 1993, chapter 13; of paired differences: chapter 8 and Koehn,
               Statistical Significance Tests for Machine Translation Evaluation, 2004.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

from appliance.domain import Span
from eval.cases import Case, Fact, GoldCitations, GoldIds, Groups

CUTS = (1, 3, 5, 10)
DEEPEST = max(CUTS)
NEAR = 2_000  # code points between a chunk and a hint: README of the dev cases
RESAMPLES = 2_000  # the interval's ends move by less than 0.005 from seed to seed at n = 100
SEED = 20_260_101  # any; fixed so that one run has one interval
_BLOCK = 100  # resamples at a time: bounds the memory at 100 times the number of cases


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was returned or cited: a stretch of one section's text."""

    external_id: str
    citation: str
    span: Span  # in the record's text
    record: str | None = None  # the citation of the record that the section hides in


# ------------------------------------------------------------------ what counts as a hit


def satisfied(case: Case, found: Found) -> frozenset[int]:
    """Return the positions of the gold groups that one returned stretch satisfies."""
    if not _near_hint(case, found):
        return frozenset()
    names = _names(case, found)
    return frozenset(i for i, group in enumerate(_groups(case)) if names & set(group))


def _names(case: Case, found: Found) -> frozenset[str]:
    match case.gold:
        case GoldIds():
            return frozenset({found.external_id})
        case GoldCitations():
            return frozenset({_folded(found.citation), _folded(found.record or "")} - {""})


def _groups(case: Case) -> Groups:
    match case.gold:
        case GoldIds(groups=groups):
            return groups
        case GoldCitations(groups=groups):
            return tuple(tuple(_folded(c) for c in group) for group in groups)


def _folded(citation: str) -> str:
    return " ".join(citation.split())


def _near_hint(case: Case, found: Found) -> bool:
    offsets = case.hints.get(found.external_id)
    return offsets is None or any(distance(found.span, o) <= NEAR for o in offsets)


def distance(span: Span, point: int) -> int:
    """Return how many code points lie between a span and a point; 0 if the point is in it."""
    return max(span.start - point, point - span.end, 0)


def newly_satisfied(case: Case, found: Sequence[Found]) -> Iterator[tuple[int, int]]:
    """Yield (rank, groups) wherever the list satisfies gold groups that it had not before.

    A rank is the number of distinct sections so far: a second chunk of a section costs its reader
    no further section.
    """
    seen: set[str] = set()
    have: frozenset[int] = frozenset()
    for one in found:
        seen.add(one.external_id)
        if fresh := satisfied(case, one) - have:
            have |= fresh
            yield len(seen), len(fresh)


# ------------------------------------------------------------------ ranked lists


def ranking_scores(case: Case, found: Sequence[Found]) -> dict[str, float]:
    """Return hit@k, MRR and nDCG@10 of one answerable case; all@10 where it has several groups."""
    gains = [(rank, gain) for rank, gain in newly_satisfied(case, found) if rank <= DEEPEST]
    first = gains[0][0] if gains else None
    groups = len(case.gold.groups)
    scores = {f"hit@{k}": float(first is not None and first <= k) for k in CUTS}
    scores["mrr"] = 0.0 if first is None else 1.0 / first
    scores[f"ndcg@{DEEPEST}"] = ndcg(gains, ideal_gains(_groups(case)))
    if groups > 1:
        scores[f"all@{DEEPEST}"] = float(sum(gain for _, gain in gains) == groups)
    return scores


def ndcg(gains: Sequence[tuple[int, int]], ideal: Sequence[int]) -> float:
    """Return the discounted gain over that of the ideal list, from 0 to 1.

    The greedy ideal can fall short of the best one (four groups and more, see `ideal_gains`), so
    the quotient is cut at 1.
    """
    best = sum(gain / log2(rank + 1) for rank, gain in enumerate(ideal[:DEEPEST], start=1))
    reached = sum(gain / log2(rank + 1) for rank, gain in gains)
    return min(1.0, reached / best) if best else 0.0


def ideal_gains(groups: Groups) -> list[int]:
    """Return what each rank of the ideal list gains: always the name that satisfies most groups.

    Greedy, as usual (Clarke et al., section 3.3: the exact ideal is a set cover); exact up to
    three groups.
    """
    open_ = set(range(len(groups)))
    gains = []
    while open_:
        names = {name for i in open_ for name in groups[i]}
        covers = [frozenset(i for i in open_ if name in groups[i]) for name in sorted(names)]
        best = max(covers, key=len)
        gains.append(len(best))
        open_ -= best
    return gains


def recall(relevant: Collection[str], found: Sequence[str], k: int) -> float:
    """Return the share of the relevant names that are among the first k."""
    return len(set(relevant) & set(found[:k])) / len(set(relevant))


def average_precision(relevant: Collection[str], found: Sequence[str], k: int) -> float:
    """Return the mean, over all relevant names, of the precision at the rank of each; 0 beyond k.

    Divided by the number of relevant names even where it exceeds k, as trec_eval does.
    """
    wanted = set(relevant)
    hits, total = 0, 0.0
    for rank, name in enumerate(found[:k], start=1):
        if name in wanted:
            hits += 1
            total += hits / rank
    return total / len(wanted)


# ------------------------------------------------------------------ answers


def cites_gold(case: Case, cited: Sequence[Found]) -> bool:
    """Tell whether any citation satisfies a gold group, the rule of the hints included."""
    return any(satisfied(case, one) for one in cited)


def facts_present(facts: Sequence[Fact], texts: Sequence[str]) -> list[bool]:
    """Tell for each fact whether one of its forms stands in the texts.

    Strings cannot see a negation: read a sample by hand before trusting an average.
    """
    hay = "\n".join(plain(t) for t in texts)
    return [any(_contains(hay, plain(form)) for form in fact.forms) for fact in facts]


_MARK = re.compile(r"\[\d{1,2}\]")


def without_marks(text: str) -> str:
    """Return an answer's text without its citation marks: "[6]" is no fact "6"."""
    return _MARK.sub(" ", text)


_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    }
)
_THOUSANDS = re.compile(r"(?<!\d)(?<!\d[.,])\d{1,3}(?:,\d{3})+(?!\d|,\d)")
_CURRENCY = re.compile(r"\$\s+(?=\d)")
_NO_CENTS = re.compile(r"(\$\d+)\.00(?!\d)")


def plain(text: str) -> str:
    """Return the text as facts are compared: case, white space, quotes, dashes and numbers alike.

    "$ 1,000.00" becomes "$1000".  Number words stay: the cases list them as other forms.
    """
    text = " ".join(text.translate(_ALIKE).casefold().split())
    text = _THOUSANDS.sub(lambda m: m.group().replace(",", ""), text)
    return _NO_CENTS.sub(r"\1", _CURRENCY.sub("$", text))


def _contains(hay: str, wanted: str) -> bool:
    """Tell whether `wanted` stands in `hay` as whole words and whole numbers ("6" not in "6.5")."""
    left = r"(?<!\w)(?<!\d\.)" if wanted[:1].isalnum() else ""
    right = r"(?!\w)(?!\.\d)" if wanted[-1:].isalnum() else ""
    return re.search(left + re.escape(wanted) + right, hay) is not None


# ------------------------------------------------------------------ averages and their doubt


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over cases with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean with its percentile bootstrap interval.  Raises ValueError on no values."""
    if not values:
        raise ValueError("no values, no mean")
    data = np.asarray(values, dtype=np.float64)
    low, high = np.percentile(resampled_means(data), [2.5, 97.5])
    return Estimate(value=float(data.mean()), low=float(low), high=float(high), n=len(data))


_Z = 1.959963984540054  # of the normal distribution, for 95 %


def proportion(hits: int, n: int) -> Estimate:
    """Return a share with its Wilson score interval, which does not vanish at none and at all.

    Wilson, Probable Inference, the Law of Succession, and Statistical Inference, 1927; Brown, Cai &
    DasGupta, Interval Estimation for a Binomial Proportion, 2001.  Raises ValueError on no trials.
    """
    if not n:
        raise ValueError("no trials, no share")
    share = hits / n
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * (share * (1 - share) / n + _Z**2 / (4 * n**2)) ** 0.5
    return Estimate(value=share, low=max(0.0, middle - half), high=min(1.0, middle + half), n=n)


def estimate_difference(before: Sequence[float], after: Sequence[float]) -> Estimate:
    """Return the mean of (after - before), case by case, with its paired bootstrap interval."""
    return estimate([b - a for a, b in zip(before, after, strict=True)])


def resampled_means(data: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return RESAMPLES means of as many draws with replacement as there are data: (RESAMPLES,)."""
    rng = np.random.default_rng(SEED)
    n = len(data)
    means = [
        data[rng.integers(n, size=(_BLOCK, n))].mean(axis=1) for _ in range(RESAMPLES // _BLOCK)
    ]
    return np.concatenate(means)
