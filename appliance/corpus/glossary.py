"""Glossaries: where each definition of a section of definitions begins.  Pure.

Some records hold 300 terms in one paragraph.  Each definition is to be a chunk of
its own, as a question asks for one term.
"""

from __future__ import annotations

import re

_HEADING = re.compile(
    r"\bdefin(?:itions?|ed)\b|\bglossary\b|\bterms\b|\bmeanings? of words\b", re.IGNORECASE
)
# A term before what says that it is defined: "Alley means", "“Alley” shall mean", "ALLEY—Any",
# "Alley: A", "Alley. A public way", also behind a mark: "(B) Alley. ", "177. Alley: ", ".4 Alley means".
_ENTRY = re.compile(
    r"""(?:\A|(?<=\n)|(?<=[.;:)”"]\s))[^\S\n]*+
    (?P<at>
        (?:\(?[A-Za-z0-9]{1,4}[.)]\s+|\.?\d{1,3}(?:-\d+)*(?:\.\d+)*\.?\s+|\*\*|[-•]\s+)?
        [“"]?[A-Z0-9][^\n.;:—|]{0,70}?[”"]?(?:\s\([^()\n]{1,40}\))?\*{0,2}
        (?:
            ,?\s(?:shall\s)?(?:means?|includes?|refers?\sto|has\sthe\smeaning|have\sthe\smeaning|is\sdefined)\b
            |:\s|\s?[—–]\s?|\s-\s|\.[”"]?\s+(?=[A-Z“"(])
        )
    )""",
    re.VERBOSE,
)
# What begins like a term and is none: sentences of their own.
_SENTENCE = re.compile(
    r"\b(?:shall|must|may|will|is|are|was|were|see|such|this|these|that|it|when|where|if|for|in|any)\b",
    re.IGNORECASE,
)
_DEFINES = re.compile(r",?\s(?:shall\s)?(?:means?|includes?|refers?|has|have|is defined)\b")
_MOST_WORDS = 9
FEWEST = 4  # fewer definitions than this are read together


def is_glossary(heading: str) -> bool:
    """Tell by its heading whether a section defines terms."""
    return _HEADING.search(heading) is not None


def entries(text: str) -> tuple[int, ...]:
    """Return where each definition begins, ascending; empty if there are fewer than FEWEST."""
    found = tuple(m.start("at") for m in _ENTRY.finditer(text) if _is_term(m["at"]))
    return found if len(found) >= FEWEST else ()


def _is_term(words: str) -> bool:
    defines = _DEFINES.search(words)
    term = words[: defines.start()] if defines else words
    return len(term.split()) <= _MOST_WORDS and not _SENTENCE.search(term)
