"""`permitbox bench trees`: the tables of README.md, and the trees that ship."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from benchmarks.trees import gate, kinds, titles, uci

_HEAD = """# Trees: ID3, C4.5, XGBoost and LightGBM on the same pages

Written by `permitbox bench trees --corpus ../shared/corpus --write`; do not edit.  ID3 and C4.5 are
`models/trees.py`, from the papers; the others are their libraries with their defaults.  Nothing was
tuned.  Every case is judged by models that never saw its place (five folds of places); intervals are
95 % by drawing the places again 1,000 times; "behind the best" is paired.  Seconds and microseconds are
of one thread, and only comparable within a table.
"""

_KINDS = """## Which kind of law a text is

The learner gets the signs of a section's body (`appliance/corpus/kinds.py`), never its heading; the
heading names the label.  The labels are weak: see `sections.py` for what they are and how far reading
114 + 25 + 30 of them agreed.  Guides, forms, minutes and plain pages do not occur in codes: of these
the rules alone judge, and no table here says how well, but for the titles below.
"""

_TITLES = "## Titles"

_GATE = """## The gate: good text against broken text

Good are section bodies as in the first table, those of 1,500 characters or more; broken are the same
bodies, each broken in one way: by those faults of `benchmarks/faults.py` that show in the text, and by
five that it lacks.  All judge by title and text alone.  Of a web page the gate sees the markup as well,
and finds more of the menus and refusals: `benchmarks/gate.py`.
"""

_UCI = """## Known ground

Two UCI sets, to see that our learners are sound.
"""


def readme(corpus: Path) -> str:
    """Run everything and return the page."""
    parts = [
        _HEAD,
        _KINDS,
        kinds.report(corpus),
        _TITLES,
        titles.report(),
        _GATE,
        gate.report(corpus),
        _UCI,
        uci.report(corpus),
        f"## Weight\n\n{_weights()}",
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def write(corpus: Path, text: str) -> list[Path]:
    """Write the page, and train what ships on all places."""
    page = Path(__file__).parent / "README.md"
    page.write_text(text, "utf-8")
    return [page, kinds.ship(corpus)]


def _weights() -> str:
    lines = ["| library | installed MB |", "|---|---|"]
    lines += [f"| {name} | {_megabytes(name)} |" for name in ("xgboost-cpu", "lightgbm", "scipy")]
    return (
        "\n".join(lines)
        + "\n\nBoth libraries need scipy and numpy; the appliance needs neither library."
    )


def _megabytes(name: str) -> str:
    try:
        held = distribution(name).files or []
    except PackageNotFoundError:
        return "not installed"
    sizes = (Path(str(file.locate())) for file in held)
    return f"{sum(path.stat().st_size for path in sizes if path.is_file()) / 1e6:.0f}"
