"""What one slip of the pen makes of a word.  Pure."""

from __future__ import annotations

from string import ascii_lowercase


def slips(word: str) -> list[str]:
    """Return all words that are one slip away: a letter more, less or other, two that changed places.

    Some 53 for each letter of the word.
    """
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    less = {a + b[1:] for a, b in cuts if b}
    swapped = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    other = {a + c + b[1:] for a, b in cuts if b for c in ascii_lowercase}
    more = {a + c + b for a, b in cuts for c in ascii_lowercase}
    return sorted((less | swapped | other | more) - {word, ""})
