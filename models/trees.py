"""Decision trees from the papers: ID3 and C4.5.  Pure; knows nothing of pages, files or cities.

ID3 is J. R. Quinlan, "Induction of Decision Trees", Machine Learning 1 (1986): categories only, one
branch a value, the attribute with the greatest gain of information.  C4.5 is J. R. Quinlan, "C4.5:
Programs for Machine Learning" (1993), with the correction for thresholds of release 8, "Improved Use
of Continuous Attributes in C4.5", JAIR 4 (1996): gain ratio, thresholds, unknown values by fractional
cases, pessimistic pruning with subtree raising.  Left out of C4.5: grouping of values (-s), windowing
and rules (c4.5rules).

A value that never came at a node has no branch there; a row that holds it is judged by all cases of
the node, as both programs do with an empty branch.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NotRequired, TypedDict

Value = str | float | None  # a category, a number, or unknown
Row = Mapping[str, Value]
Counts = Mapping[str, float]  # the weight of each label

# Gains that differ by less are the same gain: the order of the attributes' names decides, not the
# order in which floats were added.
_TIE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One case to learn from; `weight` is less than 1 for the part of a case with an unknown value."""

    row: Row
    label: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """The end of a path: which labels came here, and with what weight."""

    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A test of a category: one branch a value."""

    attribute: str
    counts: Counts
    branches: Mapping[str, Tree]


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A test of a number: `below` holds those that are at most `at`."""

    attribute: str
    at: float
    counts: Counts
    below: Tree
    above: Tree


Tree = Leaf | Choice | Threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The settings of C4.5, with the program's own defaults."""

    min_cases: float = 2.0  # option -m: at least two branches must hold this much weight
    confidence: float = 0.25  # option -c: smaller prunes harder
    mdl: bool = True  # release 8: a threshold pays for having been chosen among many
    prune: bool = True


# ------------------------------------------------------------------ information


def entropy(weights: Iterable[float]) -> float:
    """Return the mean bits that tell a label: -sum p log2 p (1986, section 4; 1993, chapter 2)."""
    held = [w for w in weights if w > 0]
    total = math.fsum(held)
    return -math.fsum(w / total * math.log2(w / total) for w in held)


def gain(groups: Sequence[Counts], unknown: float = 0.0) -> float:
    """Return the bits that a split into `groups` saves, times the share of known values (chapters 2, 3)."""
    known = math.fsum(_weight(g) for g in groups)
    after = math.fsum(_weight(g) / known * entropy(g.values()) for g in groups)
    return known / (known + unknown) * (entropy(_merged(groups).values()) - after)


def split_information(groups: Sequence[Counts], unknown: float = 0.0) -> float:
    """Return the bits that tell the branch; unknown values count as one branch more (chapters 2, 3)."""
    return entropy([*(_weight(g) for g in groups), unknown])


def counted(examples: Iterable[Example]) -> Counts:
    """Return the weight of each label, in the labels' order."""
    weights: dict[str, list[float]] = {}
    for example in examples:
        weights.setdefault(example.label, []).append(example.weight)
    return {label: math.fsum(weights[label]) for label in sorted(weights)}


def _weight(counts: Counts) -> float:
    return math.fsum(counts.values())


def _merged(groups: Iterable[Counts]) -> Counts:
    total: defaultdict[str, float] = defaultdict(float)
    for group in groups:
        for label, weight in group.items():
            total[label] += weight
    return total


# ------------------------------------------------------------------ ID3


def id3(examples: Sequence[Example]) -> Tree:
    """Grow a tree as in 1986: a branch a value, by gain, until a set is pure or nothing is left to ask.

    Raises TypeError for a number or an unknown value: give it a category of its own first.
    """
    _refuse_none(examples)
    for attribute, value in (pair for e in examples for pair in e.row.items()):
        if not isinstance(value, str):
            raise TypeError(f"ID3 knows categories only; {attribute!r} holds {value!r}.")
    return _id3(examples, _attributes(examples))


def _id3(examples: Sequence[Example], attributes: Sequence[str]) -> Tree:
    counts = counted(examples)
    groups = {a: _by_category(examples, a) for a in attributes}
    open_ = [a for a in attributes if len(groups[a]) > 1]
    if len(counts) == 1 or not open_:
        return Leaf(counts=counts)
    gains = [(gain([counted(g) for g in groups[a].values()]), a) for a in open_]
    best = _greatest(gains)
    rest = [a for a in open_ if a != best]
    branches = {v: _id3(group, rest) for v, group in groups[best].items()}
    return Choice(attribute=best, counts=counts, branches=branches)


def _greatest(scored: Sequence[tuple[float, str]]) -> str:
    top = max(score for score, _ in scored)
    return min(name for score, name in scored if score > top - _TIE)


def _by_category(examples: Iterable[Example], attribute: str) -> dict[str, list[Example]]:
    groups: dict[str, list[Example]] = {}
    for example in examples:
        value = example.row.get(attribute)
        if isinstance(value, str):
            groups.setdefault(value, []).append(example)
    return dict(sorted(groups.items()))


def _attributes(examples: Iterable[Example]) -> list[str]:
    return sorted({name for e in examples for name in e.row})


def _refuse_none(examples: Sequence[Example]) -> None:
    if not examples:
        raise ValueError("A tree needs at least one example to learn from.")


# ------------------------------------------------------------------ C4.5: growing


@dataclass(frozen=True, slots=True, kw_only=True)
class _Split:
    attribute: str
    at: float | None  # None: a branch a category
    gain: float
    ratio: float


def c45(examples: Sequence[Example], growth: Growth | None = None) -> Tree:
    """Grow a tree as in 1993 and prune it.

    Raises ValueError for an attribute that is a number here and a category there.
    """
    _refuse_none(examples)
    growth = growth or Growth()
    tree = _c45(examples, _domains(examples), growth)
    return pruned(tree, examples, growth.confidence) if growth.prune else tree


# Of each attribute the numbers that training holds, in order, or None if it is a category.
_Domains = Mapping[str, Sequence[float] | None]


def _domains(examples: Iterable[Example]) -> _Domains:
    numbers: dict[str, set[float]] = {}
    categories: set[str] = set()
    for name, value in (pair for e in examples for pair in e.row.items()):
        if isinstance(value, str):
            categories.add(name)
        elif value is not None:
            numbers.setdefault(name, set()).add(float(value))
    if both := sorted(categories & set(numbers)):
        raise ValueError(f"Attribute {both[0]!r} holds numbers and categories; it must hold one.")
    return {
        name: sorted(numbers[name]) if name in numbers else None
        for name in sorted(categories | set(numbers))
    }


def _c45(
    examples: Sequence[Example],
    domains: _Domains,
    growth: Growth,
) -> Tree:
    counts = counted(examples)
    if len(counts) == 1 or _weight(counts) < 2 * growth.min_cases:
        return Leaf(counts=counts)
    split = _best_split(examples, domains, growth)
    if split is None:
        return Leaf(counts=counts)
    if split.at is not None:
        below, above = _halves(examples, split.attribute, split.at)
        return Threshold(
            attribute=split.attribute,
            at=split.at,
            counts=counts,
            below=_c45(below, domains, growth),
            above=_c45(above, domains, growth),
        )
    rest = {name: held for name, held in domains.items() if name != split.attribute}
    groups = _shared_out(_by_category(examples, split.attribute), examples, split.attribute)
    branches = {value: _c45(group, rest, growth) for value, group in groups.items()}
    return Choice(attribute=split.attribute, counts=counts, branches=branches)


def _best_split(
    examples: Sequence[Example],
    domains: _Domains,
    growth: Growth,
) -> _Split | None:
    """Return the best gain ratio among the splits whose gain is at least the mean (chapter 2)."""
    found = [
        _category_split(examples, name, growth)
        if numbers is None
        else _numeric_split(examples, name, numbers, growth)
        for name, numbers in domains.items()
    ]
    useful = [s for s in found if s is not None and s.gain > _TIE]
    if not useful:
        return None
    mean = math.fsum(s.gain for s in useful) / len(useful)
    able = {s.attribute: s for s in useful if s.gain >= mean - _TIE}
    return able[_greatest([(s.ratio, name) for name, s in able.items()])]


def _category_split(examples: Sequence[Example], attribute: str, growth: Growth) -> _Split | None:
    groups = [counted(g) for g in _by_category(examples, attribute).values()]
    if sum(_weight(g) >= growth.min_cases for g in groups) < 2:
        return None
    unknown = max(0.0, _weight(counted(examples)) - math.fsum(_weight(g) for g in groups))
    gained = gain(groups, unknown)
    ratio = gained / split_information(groups, unknown)
    return _Split(attribute=attribute, at=None, gain=gained, ratio=ratio)


def _numeric_split(
    examples: Sequence[Example], attribute: str, numbers: Sequence[float], growth: Growth
) -> _Split | None:
    """Return the threshold of greatest gain; release 8 takes log2(thresholds) / cases off that gain.

    The threshold is the greatest of all the training's `numbers` below the middle of the gap, so that
    every threshold is a value that occurs (1993, chapter 2; 1996).
    """
    known = sorted(
        (
            (float(v), e.label, e.weight)
            for e in examples
            if isinstance(v := e.row.get(attribute), float | int)
        ),
        key=lambda case: case[0],
    )
    middle = _best_middle(known, growth.min_cases)
    if middle is None:
        return None
    at = numbers[bisect_right(numbers, middle) - 1]
    groups = [counted(g) for g in _known_halves(examples, attribute, at)]
    whole = math.fsum(e.weight for e in examples)
    unknown = max(0.0, whole - math.fsum(w for _, _, w in known))
    thresholds = len({v for v, _, _ in known}) - 1
    gained = gain(groups, unknown) - (math.log2(thresholds) / whole if growth.mdl else 0.0)
    ratio = gained / split_information(groups, unknown)
    return _Split(attribute=attribute, at=at, gain=gained, ratio=ratio)


def _best_middle(known: Sequence[tuple[float, str, float]], min_cases: float) -> float | None:
    """Return the middle of the gap at which sorted (value, label, weight) are best split."""
    above: defaultdict[str, float] = defaultdict(float)
    for _, label, weight in known:
        above[label] += weight
    whole, under = math.fsum(above.values()), 0.0
    least = _least_in_branch(whole, len(above), min_cases)
    below: defaultdict[str, float] = defaultdict(float)
    best, middle = whole * entropy(above.values()) - _TIE, None
    for (value, label, weight), (next_value, _, _) in pairwise(known):
        below[label] += weight
        above[label] -= weight
        under += weight
        if value == next_value or under < least or whole - under < least:
            continue
        after = under * entropy(below.values()) + (whole - under) * entropy(above.values())
        if after < best:
            best, middle = after - _TIE, value + (next_value - value) / 2
    return middle


def _least_in_branch(whole: float, labels: int, min_cases: float) -> float:
    """Return a tenth of the mean cases a label, between the least number and 25, as in the program."""
    return max(min_cases, min(25.0, 0.1 * whole / labels)) if labels else min_cases


# ------------------------------------------------------------------ unknown values


def _known_halves(
    examples: Iterable[Example], attribute: str, at: float
) -> tuple[list[Example], list[Example]]:
    below: list[Example] = []
    above: list[Example] = []
    for example in examples:
        value = example.row.get(attribute)
        if isinstance(value, float | int):
            (below if value <= at else above).append(example)
    return below, above


def _halves(
    examples: Sequence[Example], attribute: str, at: float
) -> tuple[list[Example], list[Example]]:
    below, above = _known_halves(examples, attribute, at)
    shared = _shared_out({"below": below, "above": above}, examples, attribute)
    return shared["below"], shared["above"]


def _shared_out(
    groups: Mapping[str, list[Example]], examples: Iterable[Example], attribute: str
) -> dict[str, list[Example]]:
    """Return the groups with a part of each unknown case, in proportion to their weight (chapter 3)."""
    unknown = [e for e in examples if e.row.get(attribute) is None]
    sizes = {value: math.fsum(e.weight for e in group) for value, group in groups.items()}
    whole = math.fsum(sizes.values())
    return {
        value: [
            *group,
            *(replace(e, weight=e.weight * sizes[value] / whole) for e in unknown if sizes[value]),
        ]
        for value, group in groups.items()
    }


# ------------------------------------------------------------------ C4.5: pruning

# The program's table of the normal deviate for one-sided confidence (stats.c).
_CONFIDENCE = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
_DEVIATE = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)

# A simpler tree wins a draw of this many errors, as in the program.
_DRAW = 0.1


def upper_errors(cases: float, errors: float, confidence: float = 0.25) -> float:
    """Return the errors to expect of a leaf, at the upper limit of confidence: N * U_CF(E, N).

    As the program reckons it: exact for no error, a line up to one error, the normal approximation
    with correction for continuity beyond.
    """
    if cases <= 0:
        return 0.0
    none = cases * -math.expm1(math.log(confidence) / cases)
    if errors < 1e-6:
        return none
    if errors < 0.9999:
        return none + errors * (upper_errors(cases, 1.0, confidence) - none)
    if errors + 0.5 >= cases:
        return errors + 0.67 * max(0.0, cases - errors)
    squared = _deviate(confidence) ** 2
    half = errors + 0.5
    root = math.sqrt(squared * (half * (1 - half / cases) + squared / 4))
    return cases * (half + squared / 2 + root) / (cases + squared)


def _deviate(confidence: float) -> float:
    for (left, right), (high, low) in zip(pairwise(_CONFIDENCE), pairwise(_DEVIATE), strict=True):
        if confidence <= right:
            return high + (low - high) * (confidence - left) / (right - left)
    raise ValueError(f"A confidence lies between 0 and 1, not at {confidence}.")


def expected_errors(tree: Tree, confidence: float = 0.25) -> float:
    """Return the sum of the upper errors of a tree's leaves."""
    if isinstance(tree, Leaf):
        return _leaf_errors(tree.counts, confidence)
    inside = [expected_errors(child, confidence) for child in _children(tree)]
    return math.fsum([*inside, _stray_errors(tree, confidence)])


def _leaf_errors(counts: Counts, confidence: float) -> float:
    whole = _weight(counts)
    return upper_errors(whole, whole - max(counts.values(), default=0.0), confidence)


def _stray_errors(tree: Choice | Threshold, confidence: float) -> float:
    """Return the errors of the cases whose value has no branch: a raised tree can meet some."""
    held = _merged(child.counts for child in _children(tree))
    strays = {k: n for k, v in tree.counts.items() if (n := v - held[k]) > _TIE}
    whole = _weight(strays)
    right = strays.get(_majority(tree.counts), 0.0)
    return upper_errors(whole, whole - right, confidence)


def pruned(tree: Tree, examples: Sequence[Example], confidence: float = 0.25) -> Tree:
    """Replace, from the leaves up, a tree by a leaf or by its heaviest branch if no more errors are expected.

    (1993, chapter 4: both replacements; `examples` are those that the tree was grown from.)
    """
    if isinstance(tree, Leaf):
        return tree
    tree = _with_pruned_branches(tree, examples, confidence)
    as_leaf = _leaf_errors(tree.counts, confidence)
    as_tree = expected_errors(tree, confidence)
    raised = recounted(_heaviest(tree), examples)
    as_branch = expected_errors(raised, confidence)
    if as_leaf <= min(as_tree, as_branch) + _DRAW:
        return Leaf(counts=tree.counts)
    if as_branch <= as_tree + _DRAW:
        return pruned(raised, examples, confidence)
    return tree


def _with_pruned_branches(
    tree: Choice | Threshold, examples: Sequence[Example], confidence: float
) -> Choice | Threshold:
    if isinstance(tree, Threshold):
        below, above = _halves(examples, tree.attribute, tree.at)
        return replace(
            tree,
            below=pruned(tree.below, below, confidence),
            above=pruned(tree.above, above, confidence),
        )
    groups = _branch_cases(tree, examples)
    branches = {v: pruned(t, groups[v], confidence) for v, t in tree.branches.items()}
    return replace(tree, branches=branches)


def recounted(tree: Tree, examples: Sequence[Example]) -> Tree:
    """Return the same tests with the counts of other cases."""
    counts = counted(examples)
    if isinstance(tree, Leaf):
        return Leaf(counts=counts)
    if isinstance(tree, Threshold):
        below, above = _halves(examples, tree.attribute, tree.at)
        return replace(
            tree,
            counts=counts,
            below=recounted(tree.below, below),
            above=recounted(tree.above, above),
        )
    groups = _branch_cases(tree, examples)
    branches = {value: recounted(t, groups[value]) for value, t in tree.branches.items()}
    return replace(tree, counts=counts, branches=branches)


def _branch_cases(tree: Choice, examples: Sequence[Example]) -> dict[str, list[Example]]:
    found = _by_category(examples, tree.attribute)
    return _shared_out({v: found.get(v, []) for v in tree.branches}, examples, tree.attribute)


def _heaviest(tree: Choice | Threshold) -> Tree:
    return max(_children(tree), key=lambda child: _weight(child.counts))


def _children(tree: Choice | Threshold) -> list[Tree]:
    return [tree.below, tree.above] if isinstance(tree, Threshold) else [*tree.branches.values()]


# ------------------------------------------------------------------ judging


def distribution(tree: Tree, row: Row) -> dict[str, float]:
    """Return the chance of each label.  An unknown value goes down every branch by its weight (chapter 3)."""
    if isinstance(tree, Leaf):
        return _chances(tree.counts)
    value = row.get(tree.attribute)
    if value is None:
        return _mixed(tree, row)
    if isinstance(tree, Threshold):
        if isinstance(value, str):
            raise TypeError(f"{tree.attribute!r} was a number in training; {value!r} is none.")
        return distribution(tree.below if value <= tree.at else tree.above, row)
    branch = tree.branches.get(str(value))
    if branch is None or not _weight(branch.counts):
        return _chances(tree.counts)
    return distribution(branch, row)


def predicted(tree: Tree, row: Row) -> str:
    """Return the likeliest label; of equals, the first by name."""
    return _majority(distribution(tree, row))


def leaves(tree: Tree) -> int:
    """Return the number of leaves."""
    return 1 if isinstance(tree, Leaf) else sum(leaves(child) for child in _children(tree))


def _mixed(tree: Choice | Threshold, row: Row) -> dict[str, float]:
    held = [child for child in _children(tree) if _weight(child.counts) > 0]
    whole = math.fsum(_weight(child.counts) for child in held)
    chances: dict[str, float] = {}
    for child in held:
        for label, chance in distribution(child, row).items():
            chances[label] = chances.get(label, 0.0) + chance * _weight(child.counts) / whole
    return chances


def _chances(counts: Counts) -> dict[str, float]:
    whole = _weight(counts)
    return {label: weight / whole for label, weight in counts.items()}


def _majority(counts: Counts) -> str:
    return min(counts, key=lambda label: (-counts[label], label))


# ------------------------------------------------------------------ a tree as JSON


class TreeFields(TypedDict):
    """A tree as JSON: a leaf has `counts` only; a test has `branches`, or `at` with two trees."""

    counts: dict[str, float]
    attribute: NotRequired[str]
    branches: NotRequired[dict[str, TreeFields]]
    at: NotRequired[float]
    below: NotRequired[TreeFields]
    above: NotRequired[TreeFields]


def to_fields(tree: Tree) -> TreeFields:
    """Return a tree as what `json.dumps` takes."""
    fields = TreeFields(counts=dict(tree.counts))
    if isinstance(tree, Choice):
        fields["attribute"] = tree.attribute
        fields["branches"] = {value: to_fields(child) for value, child in tree.branches.items()}
    elif isinstance(tree, Threshold):
        fields["attribute"], fields["at"] = tree.attribute, tree.at
        fields["below"], fields["above"] = to_fields(tree.below), to_fields(tree.above)
    return fields


def from_fields(fields: TreeFields) -> Tree:
    """Return the tree that `to_fields` wrote."""
    if "branches" in fields:
        branches = {value: from_fields(child) for value, child in fields["branches"].items()}
        return Choice(attribute=fields["attribute"], counts=fields["counts"], branches=branches)
    if "at" in fields:
        return Threshold(
            attribute=fields["attribute"],
            at=fields["at"],
            counts=fields["counts"],
            below=from_fields(fields["below"]),
            above=from_fields(fields["above"]),
        )
    return Leaf(counts=fields["counts"])
