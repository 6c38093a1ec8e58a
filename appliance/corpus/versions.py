"""Two states of a city's law compared: what was added, changed, removed or renumbered.

Pure: two lists of sections in, changes out.  A section is the same one if its id is; one that went
and one that came are a renumbering if they say the same, or nearly so, under another number.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

# Share of words in the same order that makes a section the old one under another number.  A renumbered
# section mends its own cross-references; a new one on the same subject shares less than this.
NEARLY = 0.85
# Below this many words a text ("Reserved.") is too common to be recognised.
_TELLING = 6
# Words in a row by which candidates for a renumbering are found.
_SHINGLE = 4
# A run of words that stands in more new sections than this is boilerplate and finds nothing.
_COMMON = 20
# The comparison word by word is quadratic; longer texts are compared by their beginnings.
_LONGEST = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A section as it stood in one of the states."""

    external_id: str
    citation: str
    number: str | None
    heading: str
    standing: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A section before and after."""

    before: Entry
    after: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What lies between two states, each list in the order of its state."""

    added: tuple[Entry, ...]
    changed: tuple[Pair, ...]
    removed: tuple[Entry, ...]
    renumbered: tuple[Pair, ...]
    unchanged: int


def compare(before: Sequence[Entry], after: Sequence[Entry]) -> Changes:
    """Return what changed from one state to the other."""
    old = {e.external_id: e for e in before}
    new = {e.external_id: e for e in after}
    kept = [Pair(before=old[i], after=e) for i, e in new.items() if i in old]
    renamed = [p for p in kept if p.before.number != p.after.number]
    changed = [p for p in kept if p.before.number == p.after.number and p.before != p.after]
    gone = [e for i, e in old.items() if i not in new]
    come = [e for i, e in new.items() if i not in old]
    moved = list(_moved(gone, come))
    left = {p.before.external_id for p in moved}
    arrived = {p.after.external_id for p in moved}
    return Changes(
        added=tuple(e for e in come if e.external_id not in arrived),
        changed=tuple(changed),
        removed=tuple(e for e in gone if e.external_id not in left),
        renumbered=(*renamed, *moved),
        unchanged=len(kept) - len(renamed) - len(changed),
    )


# ------------------------------------------------------------------ renumbered


def _moved(gone: Sequence[Entry], come: Sequence[Entry]) -> Iterator[Pair]:
    """Yield the sections that went under one number and came under another, each once."""
    words = {e.external_id: _words(e) for e in come}
    where: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for id_, said in words.items():
        for shingle in _shingles(said):
            where[shingle].append(id_)
    free = {e.external_id: e for e in come}
    for entry in gone:
        said = _words(entry)
        match = next(
            (i for i in _nearest(said, where) if i in free and _same(said, words[i])), None
        )
        if match is not None:
            yield Pair(before=entry, after=free.pop(match))


def _nearest(said: Sequence[str], where: dict[tuple[str, ...], list[str]]) -> list[str]:
    """Return the ids that share the most runs of words, the nearest first."""
    if len(said) < _TELLING:
        return []
    shared: Counter[str] = Counter()
    for shingle in _shingles(said):
        ids = where.get(shingle, [])
        if len(ids) <= _COMMON:
            shared.update(ids)
    return [id_ for id_, _ in shared.most_common(3)]


def _same(a: Sequence[str], b: Sequence[str]) -> bool:
    if a == b:
        return True
    matcher = SequenceMatcher(None, a[:_LONGEST], b[:_LONGEST], autojunk=False)
    return matcher.real_quick_ratio() >= NEARLY and matcher.ratio() >= NEARLY


def _words(entry: Entry) -> list[str]:
    """Return the words of a section, without its own number in front of them."""
    text = entry.text.casefold().lstrip("#§ \t\n")
    if entry.number:
        text = text.removeprefix(entry.number.casefold())
    return re.findall(r"[^\W_]+", text)


def _shingles(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1)}


# ------------------------------------------------------------------ in words


_AROUND = 4  # words shown on either side of a change


def word_changes(before: str, after: str, limit: int = 600) -> str:
    """Return what changed in a text as "… up to [-two years-]{+90 days+}, unless …", cut at a limit."""
    old, new = before.split()[:_LONGEST], after.split()[:_LONGEST]
    parts: list[str] = []
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            last = (j, m) == (len(old), len(new))
            parts.append(_shown(old[i:j], first=(i, k) == (0, 0), last=last))
            continue
        went, came = " ".join(old[i:j]), " ".join(new[k:m])
        parts.append((f"[-{went}-]" if went else "") + (f"{{+{came}+}}" if came else ""))
    line = " ".join(p for p in parts if p)
    return line if len(line) <= limit else f"{line[: limit - 2].rstrip()} …"


def _shown(words: Sequence[str], *, first: bool, last: bool) -> str:
    """Return the words next to a change; the middle of a longer run is left out."""
    head = [] if first else words[:_AROUND]
    tail = [] if last else words[max(len(head), len(words) - _AROUND) :]
    left_out = len(head) + len(tail) < len(words)
    return " ".join([*head, *(["…"] if left_out else []), *tail])
