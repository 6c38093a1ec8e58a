"""How averages, comparisons and floors look in a terminal.  Knows records and Rich, nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table

from eval.floors import Floor
from eval.grids import p_value
from eval.results import Comparison, Result, averages, by_city, by_file, by_kind


def averages_table(results: Sequence[Result]) -> Table:
    """Return a row for all cases with its interval, then one for each kind, city and file."""
    overall = averages(results)
    table = Table("", "n", *overall, box=None, pad_edge=False)
    table.add_row("all", f"{len(results):,}", *(f"{e.value:.3f}" for e in overall.values()))
    table.add_row("95 %", "", *(f"{e.low:.2f}-{e.high:.2f}" for e in overall.values()))
    groups = {**by_kind(results), **by_city(results)}
    if len(files := by_file(results)) > 1:
        groups |= files
    for name, group in groups.items():
        means = averages(group)
        cells = [f"{means[s].value:.3f}" if s in means else "-" for s in overall]
        table.add_row(name, f"{len(group):,}", *cells)
    return table


def comparison_table(rows: Sequence[Comparison], before: str, after: str) -> Table:
    """Return a row for each score that both runs have."""
    head = ("score", "n", before, after, "difference", "95 %", "p (bootstrap)", "p (randomisation)")
    table = Table(*head, "", box=None, pad_edge=False)
    for row in rows:
        d = row.difference
        table.add_row(
            row.score,
            f"{d.n:,}",
            f"{row.before:.3f}",
            f"{row.after:.3f}",
            f"{d.value:+.3f}",
            f"{d.low:+.3f} to {d.high:+.3f}",
            p_value(row.paired.bootstrap),
            p_value(row.paired.randomisation),
            row.shown,
        )
    return table


def floors_table(floors: Iterable[Floor]) -> Table:
    """Return a row for each score that is pinned."""
    table = Table("cases", "score", "floor", "tolerance", "lowered", box=None, pad_edge=False)
    for one in floors:
        for score, bar in sorted(one.scores.items()):
            times = sum(lowering.score == score for lowering in one.lowerings)
            table.add_row(one.name, score, f"{bar.value:.4f}", f"{bar.tolerance:g}", f"{times} x")
    return table
