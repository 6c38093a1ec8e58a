"""What an ablation and a cross-validation say, as tables of words.  Pure.

A grid is shown in a terminal and written into the ledger alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval.ablation import MAIN, Against, CrossValidation, Harm, Row
from eval.scores import CUTS, Estimate
from eval.significance import Paired


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table of words; the first column is text, the others are numbers."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """Return the table as Markdown, without its title."""
        lines = ["|".join(_escaped(row)) for row in (self.head, ["---"] * len(self.head))]
        lines += ["|".join(_escaped(row)) for row in self.rows]
        return "\n".join(f"|{line}|" for line in lines)


def _escaped(cells: Sequence[str]) -> list[str]:
    return [f" {cell.replace('|', chr(92) + '|')} " for cell in cells]


def main_grid(rows: Sequence[Row]) -> Grid:
    """Return a row a variant: its scores, and its main score against the row that it names."""
    head = ("variant", "n", *(f"hit@{k}" for k in CUTS), "MRR", "nDCG@10 [95 %]")
    return Grid(
        title="Variants, each against the row above or the one that it names",
        head=(*head, "against", "its change [95 %]", "p", "p50 ms", "p95 ms"),
        rows=tuple(_main_row(row, rows[i - 1].name if i else None) for i, row in enumerate(rows)),
    )


def _main_row(row: Row, above: str | None) -> tuple[str, ...]:
    cuts = [f"{row.scores[f'hit@{k}'].value:.3f}" for k in CUTS]
    change = row.differences.get(MAIN)
    return (
        row.name,
        f"{row.n:,}",
        *cuts,
        f"{row.scores['mrr'].value:.3f}",
        _with_interval(row.scores[MAIN]),
        "" if row.against in (None, above) else str(row.against),
        "" if change is None else _change(change),
        "" if change is None else p_value(change.bootstrap),
        f"{row.ms['p50']:,.0f}",
        f"{row.ms['p95']:,.0f}",
    )


def last_grid(name: str, against: Sequence[Against]) -> Grid:
    """Return the last variant against every other, with both tests."""
    return Grid(
        title=f"{name}, against each",
        head=("variant", "its nDCG@10", "difference [95 %]", "p (bootstrap)", "p (randomisation)"),
        rows=tuple(
            (
                a.name,
                f"{a.value:.3f}",
                _change(a.paired),
                p_value(a.paired.bootstrap),
                p_value(a.paired.randomisation),
            )
            for a in against
        ),
    )


def harm_grid(what: str, harms: Sequence[Harm], names: Sequence[str]) -> Grid:
    """Return, for each kind or city, its best single leg and how far these variants are from it.

    The last of them is shown with its interval.
    """
    *others, last = names
    return Grid(
        title=f"Do no harm, by {what}: nDCG@10 against the best single leg; {HARMED} is harm",
        head=(what, "n", "best leg", "its nDCG@10", *others, f"{last} [95 %]", "p"),
        rows=tuple(
            (
                h.group,
                f"{h.n:,}",
                h.leg,
                f"{h.value:.3f}",
                *(f"{h.against[n].difference.value:+.3f}{_mark(h.against[n])}" for n in others),
                _change(h.against[last]) + _mark(h.against[last]),
                p_value(h.against[last].randomisation),
            )
            for h in harms
        ),
    )


HARMED = "(!)"


def _mark(paired: Paired) -> str:
    return f" {HARMED}" if paired.harm else ""


def parts_grid(validation: CrossValidation) -> Grid:
    """Return a row for each part that was held out."""
    return Grid(
        title="Cities held out: the variant that the others chose, and the best in hindsight",
        head=("held out", "n", "chosen", "its nDCG@10", "best there", "its nDCG@10"),
        rows=tuple(
            (
                ", ".join(p.cities),
                f"{p.n:,}",
                p.chosen,
                f"{p.value:.3f}",
                p.best,
                f"{p.best_value:.3f}",
            )
            for p in validation.parts
        ),
    )


def untouched_grid(validation: CrossValidation) -> Grid:
    """Return what the choice scores on cities that had no say in it, beside each variant."""
    chosen = ("chosen on other cities", _with_interval(validation.untouched[MAIN]))
    fixed = [(name, _with_interval(e)) for name, e in validation.fixed.items()]
    return Grid(
        title=f"The untouched part, n = {validation.untouched[MAIN].n:,}",
        head=("variant", "nDCG@10 [95 %]"),
        rows=(chosen, *fixed),
    )


def _with_interval(one: Estimate) -> str:
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"


def _change(paired: Paired) -> str:
    d = paired.difference
    return f"{d.value:+.3f} [{d.low:+.3f}, {d.high:+.3f}]"


def p_value(p: float) -> str:
    """Return a p as it is printed: three places, and never a zero."""
    return "< .001" if p < 0.001 else f"{p:.3f}"
