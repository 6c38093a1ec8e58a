"""Which prefixes does an encoder want?  Every pair that the manifest knows, on the same questions.

The configured pair must not be *shown* worse than another: the paired 95 % interval of
the difference in MRR decides, and where it holds zero the configured one stays.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from appliance.domain import CityId
from appliance.ports import Vectors
from benchmarks.passages import Encode, Exam, encoded, judged
from eval.scores import Estimate, estimate_difference
from models.manifest import Manifest

Prefixes = tuple[str, str]  # the question's, the passage's
SCORES = ("hit@1", "hit@5", "mrr")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """How a pair of prefixes did, and its MRR less that of the configured pair."""

    prefixes: Prefixes
    means: Mapping[str, float]
    gain: Estimate

    @property
    def better(self) -> bool:
        """Tell whether it was shown to be better than the configured pair."""
        return self.gain.low > 0

    def line(self) -> str:
        """Return it as one line."""
        question, passage = self.prefixes
        scores = ", ".join(f"{name} {self.means[name]:.3f}" for name in SCORES)
        return (
            f"{question!r} / {passage!r}: {scores}; mrr less the configured "
            f"{self.gain.value:+.3f} ({self.gain.low:+.3f} to {self.gain.high:+.3f}), n={self.gain.n}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The configured pair and its rivals on the same questions."""

    model: str
    passages: int
    configured: Tried
    rivals: tuple[Tried, ...]

    @property
    def better(self) -> tuple[Tried, ...]:
        """Return the rivals that were shown to be better; there should be none."""
        return tuple(rival for rival in self.rivals if rival.better)

    def lines(self) -> Iterator[str]:
        """Yield the figures as lines."""
        yield f"{self.model}, {self.passages} passages, dense leg alone (question / passage prefix):"
        yield f"configured {self.configured.line()}"
        yield from (f"rival {rival.line()}" for rival in self.rivals)
        if self.better:
            yield "A rival is shown to be better: the manifest's prefixes are wrong for this model."
        else:
            yield "No rival is shown to be better: the configured prefixes stay."


def try_roles(model: str, manifest: Manifest, exam: Exam, encode: Encode) -> Trial:
    """Measure the model's configured prefixes and every other pair of the manifest."""
    configured = manifest.roles[model].prefixes
    pairs = dict.fromkeys([configured, *(roles.prefixes for roles in manifest.roles.values())])
    vectors: dict[str, dict[CityId, Vectors]] = {}
    rows: dict[Prefixes, list[dict[str, float]]] = {}
    for question, passage in pairs:
        if passage not in vectors:
            vectors[passage] = encoded(exam, encode, passage)
        rows[question, passage] = judged(exam, vectors[passage], encode, question)
    tried = [_tried(pair, rows[pair], rows[configured]) for pair in pairs]
    return Trial(
        model=model,
        passages=sum(map(len, exam.passages.values())),
        configured=tried[0],
        rivals=tuple(tried[1:]),
    )


def _tried(
    pair: Prefixes,
    rows: Sequence[Mapping[str, float]],
    configured: Sequence[Mapping[str, float]],
) -> Tried:
    return Tried(
        prefixes=pair,
        means={name: statistics.mean(row[name] for row in rows) for name in SCORES},
        gain=estimate_difference([row["mrr"] for row in configured], [row["mrr"] for row in rows]),
    )
