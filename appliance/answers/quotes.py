"""Which words of a passage to show: sentences, windows of them, and the best window.  Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from appliance.domain import Passage, Span

# What a reader takes in at a glance; a passage up to this long is quoted whole.
LONGEST = 520  # code points
_END = re.compile(r"(?<=[.;:!?])[\"”’)]*\s+|\n+")


def sentences(text: str) -> list[Span]:
    """Return the spans of the sentences and lines of a text, white space at the edges left out."""
    ends = [0, *(m.end() for m in _END.finditer(text)), len(text)]
    return [s for a, b in pairwise(ends) if len(s := _trimmed(text, a, b))]


def _trimmed(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    right = len(part.rstrip())
    return Span(start=start + min(left, right), end=start + right)


def windows(text: str, longest: int = LONGEST) -> list[Span]:
    """Return the spans that could be quoted: runs of whole sentences, each as long as is allowed.

    One window begins at each sentence; a sentence that alone is too long is a window by itself.
    """
    whole = _trimmed(text, 0, len(text))
    if len(whole) <= longest:
        return [whole] if len(whole) else []
    parts = sentences(text)
    found = []
    for i, first in enumerate(parts):
        end = first.end
        for later in parts[i + 1 :]:
            if later.end - first.start > longest:
                break
            end = later.end
        found.append(Span(start=first.start, end=end))
        if end == parts[-1].end:
            break
    return found


def best_window(passage: Passage, candidates: Sequence[Span], scores: Sequence[float]) -> Span:
    """Return the best-scoring window of a passage, counted from the section's start."""
    best = max(range(len(candidates)), key=lambda i: (scores[i], -i))
    return candidates[best].shifted(passage.span.start)
