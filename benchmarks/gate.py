"""The gate's two errors: faults that it lets in, and real law that it turns away.

Reads corpus files and saved pages where they lie.  Each class of fault is injected into real
sections, drawn by a seed; every miss and every false block can be listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from appliance.corpus.fingerprints import Seen
from appliance.corpus.gate import Candidate, judge, judge_markup, judge_next
from appliance.corpus.records import Read, read_records
from appliance.domain import Rejected, Standing
from appliance.formats.html import parse_html
from appliance.formats.parsed import Unparsable
from appliance.ingest import decode, read_bytes
from benchmarks.faults import FAULTS, HELD_OUT, Break, Good

# A text to be broken must itself be sound, long enough to be cut, and name its own city.
_SHORTEST, _LONGEST = 1_500, 20_000
_FEWEST_NUMBERS = 3
_OWN_NAMES = 3
_MOST_GOODS = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """How many faults of one class were blocked, and which were not."""

    fault: str
    blocked: int
    injected: int
    reasons: Counter[str]
    misses: tuple[str, ...]

    def report(self) -> str:
        """Return one line: class, share, by which reasons."""
        by = ", ".join(f"{slug} {n}" for slug, n in self.reasons.most_common(4))
        return f"{self.fault:<20} {self.blocked:>4} of {self.injected:>4}  {by}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A real text that was turned away."""

    what: str
    reason: str


def law_sections(folders: Iterable[Path]) -> Iterator[Read | Rejected]:
    """Yield every record of the corpus files below the folders."""
    for folder in folders:
        for path in sorted(folder.rglob("*.jsonl*")):
            yield from read_records(decode(read_bytes(path), path), name=path.name)


def goods(sections: Sequence[Read], random: Random, count: int) -> list[Good]:
    """Return sound sections to be broken, drawn by chance, in which every fault can be made."""
    fit = [r for r in sections if _fit(r)]
    return [
        Good(
            title=r.accepted.document.title,
            body=r.accepted.document.body,
            city=r.city.name,
        )
        for r in random.sample(fit, min(count, len(fit)))
    ]


def _fit(read: Read) -> bool:
    document = read.accepted.document
    body = document.body
    own = read.city.name.split(",")[0].removesuffix(" County")
    if not _SHORTEST <= len(body) <= _LONGEST or body.count(own) < _OWN_NAMES or "|" in body:
        return False
    if sum(c.isdigit() for c in body) < _FEWEST_NUMBERS or f"City of {own}" not in body:
        return False
    return not judge(Candidate(body=body, title=document.title))


def recall(
    good: Sequence[Good], seed: int, each: int, kinds: Mapping[str, Break] = FAULTS
) -> list[Recall]:
    """Inject `each` faults of every class and judge them."""
    return [
        _recall_of(name, break_, good, _chance(seed, name), each) for name, break_ in kinds.items()
    ]


def _chance(seed: int, name: str) -> Random:
    return Random(f"{seed}:{name}")  # noqa: S311 - chance, not secrecy


def _recall_of(name: str, break_: Break, good: Sequence[Good], random: Random, each: int) -> Recall:
    reasons: Counter[str] = Counter()
    misses = []
    for _ in range(each):
        fault = break_(random.choice(good), random)
        seen = Seen()
        if fault.before is not None:
            _, seen = judge_next(fault.before, seen)
        found, _ = judge_next(fault.candidate, seen)
        reasons.update({reason.split(":")[0] for reason in found})
        if not found:
            shown = fault.candidate.markup or fault.candidate.body
            misses.append(f"{fault.candidate.title[:40]!r} … {shown[-160:]!r}")
    return Recall(
        fault=name,
        blocked=each - len(misses),
        injected=each,
        reasons=reasons,
        misses=tuple(misses),
    )


# ------------------------------------------------------------------ false blocks


def blocked_records(found: Iterable[Read | Rejected]) -> list[Block]:
    """Return the records that ingest would turn away."""
    return [
        Block(what=r.where, reason=reason)
        for r in found
        if isinstance(r, Rejected)
        for reason in r.reasons
    ]


def judged_as_pages(sections: Iterable[Read], shortest: int) -> tuple[int, list[Block]]:
    """Judge sections in force as if each were a page fetched alone; return how many, and the blocked."""
    judged, blocks = 0, []
    for read in sections:
        document, (section, *_) = read.accepted.document, read.accepted.sections
        if section.standing is not Standing.IN_FORCE or len(document.body) < shortest:
            continue
        judged += 1
        candidate = Candidate(body=document.body, title=document.title, city=read.city.name)
        blocks += [Block(what=document.external_id, reason=r) for r in judge(candidate)[:1]]
    return judged, blocks


def judged_pages(paths: Iterable[Path]) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Judge saved web pages, markup first, then the text that the parser finds in them."""
    for path in paths:
        raw = path.read_bytes()
        markup = raw.decode("utf-8", "replace")
        if reasons := judge_markup(markup):
            yield path, reasons
            continue
        try:
            parsed = parse_html(raw)
        except Unparsable as error:
            yield path, (f"unparsable: {error}",)
            continue
        yield (
            path,
            judge(
                Candidate(
                    body=parsed.body,
                    title=parsed.title,
                    markup=markup,
                    link_share=parsed.link_share,
                )
            ),
        )


# ------------------------------------------------------------------ the run


def report(
    folders: Sequence[Path], pages: Sequence[Path], *, seed: int, each: int, shortest: int
) -> Iterator[str]:
    """Yield the lines of a whole run: recall by class, then false blocks by reason."""
    found = list(law_sections(folders))
    reads = [r for r in found if isinstance(r, Read)]
    good = goods(reads, Random(seed), _MOST_GOODS)  # noqa: S311 - chance, not secrecy
    yield f"faults in {len(good)} sound sections, seed {seed}"
    yield from _recall_lines(recall(good, seed, each))
    yield "wording that the gate was not fitted to"
    yield from _recall_lines(recall(good, seed, each, HELD_OUT))
    yield from _false_lines(f"{len(found):,} records at ingest", blocked_records(found))
    judged, blocks = judged_as_pages(reads, shortest)
    yield from _false_lines(f"{judged:,} sections as pages (>= {shortest} characters)", blocks)
    for path, reasons in judged_pages(pages):
        yield f"{'accepted' if not reasons else '; '.join(reasons):<60.60} {path.parent.name}/{path.name}"


def _recall_lines(recalls: Sequence[Recall]) -> Iterator[str]:
    for one in recalls:
        yield one.report()
        yield from (f"    missed: {miss}" for miss in one.misses)
    blocked, injected = sum(r.blocked for r in recalls), sum(r.injected for r in recalls)
    yield f"{'all':<20} {blocked:>4} of {injected:>4}  {blocked / injected:.1%}"


def _false_lines(of: str, blocks: Sequence[Block]) -> Iterator[str]:
    yield f"{len({b.what for b in blocks}):,} blocked of {of}"
    for slug, n in Counter(b.reason.split(":")[0] for b in blocks).most_common():
        yield f"    {slug} {n}"
    for block in blocks:
        yield f"        {block.what}: {block.reason}"
