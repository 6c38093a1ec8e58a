"""The pinned floors of quality: what a score may not fall below, and on which data.

`floors.toml` beside this file is the record.  A floor belongs to one case file and one
corpus, named by a digest of their bytes: on other data it says nothing, and a check
there is refused rather than passed.  Raising a floor takes a run; lowering one takes
`lower` and a reason, which stays in the file.  Pure, but for `digest_of_files`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from hashlib import sha256
from math import floor
from pathlib import Path

from appliance.errors import BadRequest, PermitBoxError

# Four places are what a run prints; a floor is cut there and never rounded up.
_PLACES = 10_000
_EPSILON = 1e-9


class FloorsUnreadable(PermitBoxError):
    """The file of floors is not in its form."""


class FloorRefused(BadRequest):
    """A floor cannot be pinned or checked as it was asked."""


class FloorBroken(PermitBoxError):
    """A score fell below its pinned floor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """What one score may not fall below."""

    value: float  # as measured when it was pinned
    tolerance: float = 0.0  # how far below still passes: what another processor may differ by

    def __str__(self) -> str:
        return f"{self.value:g}" if not self.tolerance else f"{self.value:g}-{self.tolerance:g}"

    @property
    def least(self) -> float:
        """Return the least that passes."""
        return self.value - self.tolerance

    def looser_than(self, other: Bar) -> bool:
        """Tell whether this bar lets anything pass that the other's value or tolerance did not."""
        return self.value < other.value - _EPSILON or self.tolerance > other.tolerance + _EPSILON


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowering:
    """One time that a floor was lowered: who reads the file sees what it was, and why."""

    score: str
    old: Bar
    new: Bar
    on: date
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """What the scores on one case file may not fall below."""

    name: str  # of the case file, without folder and suffix
    digest: str  # of the case file and the corpus files
    scores: Mapping[str, Bar]
    lowerings: tuple[Lowering, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """A score below its floor."""

    name: str
    score: str
    value: float
    bar: Bar

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.score} is {self.value:.4f}, below its floor of "
            f"{self.bar.value:.4f} (tolerance {self.bar.tolerance:g})"
        )


def digest_of_files(cases: Path, corpus: Iterable[Path]) -> str:
    """Return the digest that names a case file together with the corpus files it is asked of.

    The sha256 over the sorted sha256 of each file's bytes: where the files lie and in which order
    they are named makes no difference.  Raises OSError.
    """
    parts = sorted(sha256(path.read_bytes()).hexdigest() for path in [cases, *corpus])
    return sha256("\n".join(parts).encode()).hexdigest()


# ------------------------------------------------------------------ checking


def shortfalls(pinned: Floor, measured: Mapping[str, float], digest: str) -> list[Shortfall]:
    """Return what fell below its floor, of the scores that were measured.

    Raises FloorRefused if the data are not those of the floor, or no score of the run is pinned.
    """
    if digest != pinned.digest:
        raise FloorRefused(
            f"The floor of {pinned.name} was pinned on other cases or another corpus; run it on "
            "those, or pin it anew with `permitbox eval floor --set`."
        )
    common = sorted(pinned.scores.keys() & measured.keys())
    if not common:
        raise FloorRefused(f"No score of this kind of run is pinned for {pinned.name}.")
    return [
        Shortfall(
            name=pinned.name,
            score=score,
            value=measured[score],
            bar=pinned.scores[score],
        )
        for score in common
        if measured[score] < pinned.scores[score].least - _EPSILON
    ]


# ------------------------------------------------------------------ pinning


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a whole run found on one case file."""

    name: str
    digest: str
    scores: Mapping[str, float]


def pin(
    pinned: Floor | None,
    measured: Measured,
    *,
    tolerance: float | None,
    lower: bool,
    reason: str,
    today: date,
) -> Floor:
    """Return the floor set to what was measured.  `tolerance` None keeps what is pinned (or 0).

    Raises FloorRefused if that lowers anything and `lower` or the reason is missing.
    """
    old = pinned or Floor(name=measured.name, digest=measured.digest, scores={})
    bars = {s: _bar(v, old.scores.get(s), tolerance) for s, v in sorted(measured.scores.items())}
    lowered = tuple(
        Lowering(score=s, old=old.scores[s], new=bar, on=today, reason=reason.strip())
        for s, bar in bars.items()
        if s in old.scores and bar.looser_than(old.scores[s])
    )
    if lowered and not (lower and reason.strip()):
        first = lowered[0]
        raise FloorRefused(
            f"{measured.name}: this would lower {first.score} from {first.old} to {first.new}; "
            "that takes --lower and a --reason."
        )
    return replace(
        old,
        digest=measured.digest,
        scores={**old.scores, **bars},
        lowerings=old.lowerings + lowered,
    )


def _bar(value: float, old: Bar | None, tolerance: float | None) -> Bar:
    kept = 0.0 if old is None else old.tolerance
    return Bar(value=_cut(value), tolerance=kept if tolerance is None else tolerance)


def _cut(value: float) -> float:
    return floor(value * _PLACES + 1e-6) / _PLACES


# ------------------------------------------------------------------ the file


_HEAD = """\
# The floors of quality, one table for each case file.  Written by `permitbox eval floor --set`,
# read by `--check-floor`.  To lower one takes --lower and a --reason, and leaves a trace here.
"""


def parse_floors(text: str) -> dict[str, Floor]:
    """Return the floors by the name of their case file.  Raises FloorsUnreadable."""
    try:
        return {name: _floor(name, table) for name, table in tomllib.loads(text).items()}
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise FloorsUnreadable(f"The file of floors is not in its form ({error}).") from error


def _floor(name: str, table: Mapping[str, object]) -> Floor:
    match table:
        case {"digest": str(digest), "scores": dict(scores)}:
            return Floor(
                name=name,
                digest=digest,
                scores={str(score): _parse_bar(bar) for score, bar in scores.items()},
                lowerings=_lowerings(table.get("lowered", [])),
            )
    raise ValueError(f"[{name}] needs a digest and scores")


def _parse_bar(value: object) -> Bar:
    match value:
        case {"value": int() | float() as least, "tolerance": int() | float() as tolerance}:
            return Bar(value=float(least), tolerance=float(tolerance))
    raise ValueError("a score needs a value and a tolerance")


def _lowerings(value: object) -> tuple[Lowering, ...]:
    if not isinstance(value, list):
        raise TypeError("'lowered' must be a list of tables")
    return tuple(
        Lowering(
            score=str(v["score"]),
            old=_parse_bar(v["old"]),
            new=_parse_bar(v["new"]),
            on=date.fromisoformat(str(v["on"])),
            reason=str(v["reason"]),
        )
        for v in value
    )


def render_floors(floors: Iterable[Floor]) -> str:
    """Return the TOML of the floors: what `parse_floors` reads."""
    tables = [_render(one) for one in sorted(floors, key=lambda f: f.name)]
    return "\n".join([_HEAD, *tables])


def _render(one: Floor) -> str:
    name = _key(one.name)
    lines = [
        f"[{name}]",
        f"digest = {_string(one.digest)}",
        "",
        f"[{name}.scores]",
        *(f"{_key(score)} = {_inline(bar)}" for score, bar in sorted(one.scores.items())),
    ]
    for lowering in one.lowerings:
        lines += [
            "",
            f"[[{name}.lowered]]",
            f"score = {_string(lowering.score)}",
            f"old = {_inline(lowering.old)}",
            f"new = {_inline(lowering.new)}",
            f"on = {lowering.on.isoformat()}",
            f"reason = {_string(lowering.reason)}",
        ]
    return "\n".join(lines) + "\n"


def _inline(bar: Bar) -> str:
    return f"{{ value = {bar.value!r}, tolerance = {bar.tolerance!r} }}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _string(name)


def _string(text: str) -> str:
    """Return a basic TOML string: JSON's escapes are among TOML's, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
