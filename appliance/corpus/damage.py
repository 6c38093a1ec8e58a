"""Damage that a text shows by itself: garbled characters, a broken-off end, another language.  Pure.

Knows neither the file nor the page that the text came from.  Each function returns one
sentence on what it saw, or None.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

# ------------------------------------------------------------------ characters

# What law is set in beyond ASCII, and what its UTF-8 looks like when it is read as something else, once
# or twice.
_SET_IN = "§¶’‘“”–—…•·°½¼¾×éñáíóúüç®©™′″≥≤±\u2009\u2011\u2212"
_CODECS = ("cp1252", "latin-1", "cp1250", "cp1251", "mac_roman", "cp437", "cp850")


def _misreadings() -> Iterator[str]:
    """Yield what each character of law looks like, misread by each codec once and twice."""
    for character in _SET_IN:
        for codec in _CODECS:
            once = character.encode().decode(codec, "ignore")
            twice = once.encode().decode(codec, "ignore")
            yield from (misread for misread in (once, twice) if len(misread) >= 2)


_MISREAD = re.compile(
    "|".join(map(re.escape, sorted(set(_misreadings()), key=lambda s: (-len(s), s))))
)
# Their first characters: without one of them 107 MB of real law are passed over in a second.
_LEADS = re.compile(f"[{re.escape(''.join(sorted({m[0] for m in _misreadings()})))}]")
# One garbled character in so many damages a text: of 54,035 real records two have any, one in 5,202
# and 7,967, while "§" or a quotation mark stands every few hundred.
_GARBLED_EVERY = 5_000
# An editor of a city's pages garbles a word here and there ("FaÃ§ade" in one of ten saved pages).
_GARBLED_LOOSELY_EVERY = 500
_MORE_THAN_SLIPS = 8
# No editor types that: where "§" is garbled, the page's bytes were misread.
_GARBLED_SECTION_SIGN = re.compile("Â§|┬º|¬ß|В§|Г‚В§|Ã‚Â§")
# Replacement characters stand where something was lost.  151 New York laws have some in place of
# "§" (at worst one in 211 characters) and can be read all the same.
_LOST_EVERY = 1_000
_LOST_IN_RECORDS_EVERY = 100
# Escapes that should have been undone: "&amp;#167;", "\u2019", "=E2=80=99", and a PDF's "(cid:17)".
_ESCAPED = re.compile(
    r"&amp;#?\w{2,8};|&#x?[0-9a-f]{2,6};|&(?:nbsp|sect|ldquo|rdquo|lsquo|rsquo|mdash|ndash|quot|apos|eacute|frac12);"
    r"|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|(?:=[0-9A-F]{2}){2,}|\(cid:\d+\)|%[CE]2%[89AB][0-9A-F]",
    re.IGNORECASE,
)
_QUESTIONED = re.compile(r"(?<![/=&\w?]\w)(?<=[a-z])\?(?=[a-z]{1,12}\b(?!=))|\?\?(?=\s?\d)")
_CONTROLS = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
# Letters of a PDF whose font does not say what they are.
_PRIVATE = re.compile("[\ue000-\uf8ff]")


def _misread(text: str) -> int:
    """Count the characters that were read in a wrong encoding; of blanks ("Â ") nothing is lost."""
    return sum(1 for _ in _MISREAD.finditer(text)) if _LEADS.search(text) else 0


def garbled(text: str, *, of_page: bool = False) -> str | None:
    """Say which characters a wrong encoding garbled, if they are more than a slip of the pen.

    Of a web page, `of_page`, slips are its editor's and not the reader's of its bytes.
    """
    count = _misread(text)
    slips = of_page and count < _MORE_THAN_SLIPS and not _GARBLED_SECTION_SIGN.search(text)
    every = _GARBLED_LOOSELY_EVERY if slips else _GARBLED_EVERY
    if not text.isascii():
        if count and count * every >= len(text):
            return f"characters were read in a wrong encoding, {count:,} of them (“â€™” for “’”)"
        if (count := text.count("\ufffd")) >= 2 and count * _LOST_EVERY >= len(text):
            return f"{count:,} characters were lost in decoding (“\ufffd”)"
        if (count := len(_PRIVATE.findall(text))) >= 3 and count * _LOST_EVERY >= len(text):
            return f"{count:,} characters have no meaning outside their font"
    for what, marks in (
        ("escapes stand where characters should (“&#167;” for “§”)", _ESCAPED),
        ("characters are controls that no text has", _CONTROLS),
        ("question marks stand inside words for letters that were lost", _QUESTIONED),
    ):
        count = sum(1 for _ in marks.finditer(text))
        if count >= 3 and count * _LOST_EVERY * 2 >= len(text):
            return f"{count:,} {what}"
    return None


def beyond_reading(text: str) -> str | None:
    """Say that a record's characters are garbled so much that its law cannot be read or quoted.

    Milder than `garbled`: a section is not given up for a few lost signs, as its number would then
    be unknown to the registry.
    """
    if text.isascii():
        return None
    count = text.count("\ufffd")
    if count >= 3 and count * _LOST_IN_RECORDS_EVERY >= len(text):
        return f"{count:,} characters were lost in decoding (“\ufffd”)"
    if (count := _misread(text)) >= 2 and count * _GARBLED_LOOSELY_EVERY >= len(text):
        return f"characters were read in a wrong encoding, {count:,} of them (“â€™” for “’”)"
    return None


# ------------------------------------------------------------------ the end

_MORE = re.compile(
    r"(?:\b(?:read|see|show|view|load|learn)\s+(?:more|all|full\s+\w+|the\s+(?:rest|full\s+\w+))"
    r"|(?:…|\.\.\.)\s*\W?more\b|\bcontinue\s+reading|\bclick\s+(?:here\s+)?to\s+(?:read|expand|view|see)\b[^.]{0,40}"
    r"|[\[(<]\W*(?:text |content |output |document |page )?(?:truncated|cut off|snip(?:ped)?|continue[ds]"
    r"|omitted for (?:brevity|length)|more|remainder omitted|\d+ more \w+)\b[^\])>]{0,60}[\])>]"
    r"|^\W*truncated\W*|(?:^|\()\s*cont(?:inue|['’.])?d\b[^.]{0,30}\)?)"
    r"[\s.…»>→*_\])]*$",
    re.IGNORECASE,
)
_DOTS = re.compile(r"\w\s?\.\.\.\s*$|(?:…|[\[(]\.\.\.[\])])\W*$")
# Words that a sentence cannot end with.  "In", "on" and "under" can, and "and" ends items of lists.
_OPEN_WORDS = frozenset(
    [
        "the",
        "a",
        "an",
        "of",
        "to",
        "by",
        "for",
        "with",
        "from",
        "shall",
        "that",
        "which",
        "is",
        "be",
        "are",
        "was",
        "were",
        "such",
        "any",
        "as",
        "this",
        "if",
        "at",
        "than",
        "may",
        "must",
        "each",
        "into",
        "no",
        "its",
        "their",
        "his",
        "her",
        "every",
        "when",
        "where",
        "while",
        "unless",
        "until",
        "between",
        "among",
        "because",
        "whose",
        "these",
        "those",
        "our",
        "your",
    ]
)
_WORD_AT_END = re.compile(r"([^\W\d_][\w’'-]*)[*_\s]*$")
_END = re.compile(r"[.;:?!][)\]”\"’'*_]*(?:\s|$)")
_HISTORY = re.compile(
    r"^\W*(?:ord\b|ordinance\b|amend|added|enacted|source|history|prior|sdcl|cross ref|legal ref|ref\b|stat\b"
    r"|note|editor|see\b|repl|derived|\d{4}\b|l\.\s?l\.)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\S@\S+\W*$|(?:https?:|www\.)\S*\W*$|\d{3}-\d{4}\W*$")
_MOST_WRAPPED = 8
_LONG_LINE = 80  # below this a last line may be an item of a list, a caption or a footer


def broken_off(text: str) -> str | None:
    """Say how the text breaks off, if it does."""
    lines = [line for line in text[-6_000:].split("\n") if line.strip()]
    if not lines:
        return None
    last = _unwrapped(lines)
    if _MORE.search(last[-120:]):
        return f"it ends with an invitation to read on: “…{last[-40:]}”"
    if _DOTS.search(last) and not _DOTS.search(lines[0] if len(lines) > 1 else ""):
        return f"it ends with dots in place of the rest: “…{last[-40:]}”"
    if sentence := _open_structure(text, last):
        return sentence
    return _open_sentence(lines, last)


def _unwrapped(lines: list[str]) -> str:
    """Return the last line, with those before it that it goes on from: a PDF's lines end anywhere."""
    last = lines[-1].strip()
    for before in reversed(lines[-_MOST_WRAPPED:-1]):
        if not last[:1].islower() or before.strip()[-1:] in ".;:":
            break
        last = f"{before.strip()} {last}"
    return last


def _open_structure(text: str, last: str) -> str | None:
    if last.startswith("|"):
        rows = [line.rstrip() for line in text.split("\n") if line.startswith("|")]
        open_rows = sum(not row.endswith("|") for row in rows)  # some codes never close theirs
        cut = open_rows == 1 and len(rows) > 2 and not last.endswith("|")
        return "it breaks off within a table row" if cut else None
    if re.search(r"\]\([^)\s]*$|<[a-z][^<>]*$|</?$", last, re.IGNORECASE):
        return "it breaks off within a link or a tag"
    if len(re.findall(r"^(?:```|~~~)", text, re.MULTILINE)) % 2:
        return "a block that was opened is not closed"
    return None


def _open_sentence(lines: list[str], last: str) -> str | None:
    if last.startswith("#") or last.count("|") > 1 or not any(c.isalpha() for c in last):
        return None
    tail = _END.split(last)[-1].strip()
    said = f"it breaks off within a sentence: “…{last[-60:]}”"
    if not tail or _HISTORY.match(last) or _ADDRESS.search(tail):
        return None
    if tail[-1] in ",([{–—-/&" and len(tail) > 1:
        return said
    word = _WORD_AT_END.search(tail)
    if word and word[1].lower() in _OPEN_WORDS and len(word[1]) > 1:
        return said
    if len(last) < _LONG_LINE and _list_style(lines):
        return None
    return said if _mid_sentence(tail, word) else None


def _list_style(lines: list[str]) -> bool:
    """Tell whether lines of this text end without a mark as a habit: a list, a PDF, a menu."""
    before = [line.strip() for line in lines[:-1][-6:]]
    bare = [line for line in before if line[-1].isalnum() and not line.startswith("#")]
    return not before or 2 * len(bare) >= len(before)


def _mid_sentence(tail: str, word: re.Match[str] | None) -> bool:
    """Tell whether the words after the last full stop run like a sentence and stop."""
    words = tail.split()
    lower = sum(w[0].islower() for w in words)
    if word and word[1][0].islower():
        return lower >= 2 and 2 * lower > len(words)
    if tail[-1] in "%\"”’'":
        return False
    unclosed = tail.count("(") > tail.count(")") and len(words) >= 4
    return (len(words) >= 6 and 10 * lower >= 6 * len(words)) or (
        unclosed and 2 * lower > len(words)
    )


# ------------------------------------------------------------------ a table of contents that promises more

_ENTRY = re.compile(
    r"^\s*(?:[-*+|]\s*)?(?:\[)?(?:§+|sec(?:tion)?s?\.?|chapter|article|part)?\s*"
    r"(\d+(?:[.:–-]\d+)*[A-Za-z]?|[IVXLC]{1,6})[.):]?\s+\S",
    re.IGNORECASE,
)
_CONTENTS = re.compile(
    r"^\W*(?:table of contents|contents|sections?|in this (?:chapter|article|title|part|page)|index)\W*$",
    re.IGNORECASE,
)
_HEAD = re.compile(r"^#{1,6}\s+|^\*\*")


def missing_parts(text: str) -> str | None:
    """Say how many entries of the text's own table of contents have no heading in it."""
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines[:400]) if _CONTENTS.match(line)), None)
    if start is None:
        return None
    promised, after = _entries(lines, start + 1)
    headed = {m[1].casefold() for line in lines[after:] if (m := _entry_of_heading(line))}
    missing = [number for number in promised if number not in headed]
    if len(promised) < 4 or len(missing) < 2 or len(missing) == len(promised):
        return (
            None  # without any of its parts it is a list of links, or a contents list of elsewhere
        )
    if 5 * len(missing) < len(promised):
        return None
    return (
        f"its table of contents names {len(promised)} parts, {len(missing)} of which are not in it"
    )


def _entries(lines: list[str], start: int) -> tuple[list[str], int]:
    """Return the numbers that a contents list names, and the line after it."""
    numbers: dict[str, None] = {}
    for i in range(start, len(lines)):
        line = lines[i]
        if not line.strip():
            continue
        match = None if _HEAD.match(line) or len(line) > 300 else _ENTRY.match(line)
        if match is None:
            return list(numbers), i
        numbers[match[1].casefold()] = None
    return list(numbers), len(lines)


def _entry_of_heading(line: str) -> re.Match[str] | None:
    head = _HEAD.match(line)
    return _ENTRY.match(line[head.end() :]) if head else None


# ------------------------------------------------------------------ language

# The commonest words that carry a sentence, of the languages in which US cities publish and a few more.
# Words that two of the languages share ("a", "in", "on") are left out of the others' lists.
_FUNCTION_WORDS = {
    "en": "the of and to in a or for be shall any by as is that such with not this on are an at from"
    " may which other no it all than if has each under its was must you your we will can who when"
    " where have were been their there",
    "es": "el la los las de del que y en un una por con para se su al lo como más este esta son sus o"
    " no es ser debe",
    "fr": "le la les des du de et en un une pour par dans que qui est sur au aux ce cette ne pas être"
    " sont ou avec",
    "pt": "antes qualquer obra deve quando até sem entre mais esta este isso o os as do da dos das de e em um"
    " uma para por com que não se ao na no nos nas é ou ser são pelo",
    "de": "der die das und den dem des ein eine einer zu mit von für auf ist im nicht sich als auch"
    " werden oder nach bei",
    "it": "il lo la gli le di del della dei delle e che in un una per con non si al da nel nella sono è"
    " o",
    "nl": "de het een en van te dat die in voor met op zijn niet aan door als bij of wordt worden",
    "pl": "przed wraz może jest która który aby oraz na do nie się przez dla od że być lub po za",
    "vi": "và của các có được trong cho là một không với người này theo phải về những",
    "tl": "ang ng mga sa na ay at para ito hindi o kung may isang nang dapat",
    "ht": "nan ak yo pou ki se yon pa la li ou sa gen oswa dwe tout",
    "so": "iyo ka ku ee in waa oo la ah u soo ama waxaa",
    "sv": "och att det som en på är av för med den till inte om ett",
    "la": "et in est non ad ut cum sed ex qui quae quod dolor sit amet",
    "ru": "и в на не что с по для или от к о при",
}  # fmt: skip
_WORDS_OF = {
    code: frozenset(w for w in words.split() if code == "en" or len(w) > 1)
    for code, words in _FUNCTION_WORDS.items()
}
_LETTERS = re.compile(r"[^\W\d_]+")
_OTHER_SCRIPT = re.compile("[\u0370-\u1cff\u2e80-\ud7ff\uf900-\ufdff\ufe70-\ufeff]")
_SAMPLE = 6_000  # characters looked at: a text in another language is so from the start
_FEWEST_WORDS = 15


def other_language(text: str, expected: str = "en") -> str | None:
    """Say that the text is not in the expected language; None if it is, or is too little to tell."""
    if expected not in _WORDS_OF:
        return None
    sample = text[:_SAMPLE]
    letters = sum(map(len, words := _LETTERS.findall(sample)))
    foreign = len(_OTHER_SCRIPT.findall(sample))
    if expected != "ru" and foreign >= 20 and 10 * foreign > 3 * letters:
        return f"{foreign / letters:.0%} of its letters are of another script"
    lower = [w for w in words if w.islower()]
    if len(lower) < _FEWEST_WORDS or 3 * len(lower) < len(words):
        return None
    own = _share(lower, expected)
    name, share = max(
        ((c, _share(lower, c)) for c in _WORDS_OF if c != expected), key=lambda s: s[1]
    )
    if share >= 0.15 and share > 2 * own:
        return f"it reads like “{name}”, not “{expected}”"
    # Lists of uses and names have few such words, too, but stand in capitals or without sentences.
    if own < 0.04 and len(lower) >= 60 and 4 * len(lower) > 3 * len(words) and _sentences(sample):
        return f"only {own:.0%} of its words are common words of “{expected}”"
    return None


def _share(words: Iterable[str], code: str) -> float:
    known = _WORDS_OF[code]
    words = list(words)
    return sum(w in known for w in words) / len(words)


def _sentences(text: str) -> bool:
    return len(re.findall(r"[^\W\d_]{3,}\. [A-ZÀ-Þ]", text)) >= 2
