"""Text from outside, made so that it can only be read: for the model and for the reader.  Pure.

Law text, questions and drafts are data.  Before a model, whatever could pass for the frame of a prompt
is written in other brackets (`defused`; `restored` undoes it), and what nobody can see is left out.
Before a reader, a sentence that brings links, markup, hidden characters or codes that stand in nothing
it cites is not shown at all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from appliance.corpus.words import terms

# ------------------------------------------------------------------ before a model

# Soft hyphens, zero-width and joining characters, marks and overrides of direction, byte order marks,
# interlinear marks, and the invisible copies of ASCII.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# A frame is made of brackets around numbers and names, and of lines that begin like a speaker's.
_SPEAKER = (
    "system|assistant|user|human|developer|tool|model|instructions?|question|answer|response|prompt"
    "|reply|passages?|rules|inst|sys"
)
_FRAMES = (
    (re.compile(rf"(?i)\[(?=\s{{0,3}}(?:/?(?:{_SPEAKER})|\d{{1,3}})\s{{0,3}}[\]:,])"), "⟦"),
    (re.compile(r"(?<=⟦)([^\[\]\n]{1,40})\]"), r"\1⟧"),
    (re.compile(r"<(?=[|/!?A-Za-z<])"), "⟨"),
    (re.compile(r"(?<=[|/\w\"'>])>"), "⟩"),
    (re.compile(rf"(?im)^([ \t#*>-]{{0,8}}(?:{_SPEAKER})\b[^:\n]{{0,60}}):"), r"\1꞉"),
    (re.compile(r"`{3,}"), lambda m: "ˋ" * len(m[0])),
)
_BACK = str.maketrans("⟦⟧⟨⟩꞉ˋ", "[]<>:`")


def defused(text: str) -> str:
    """Return a text as a model is shown it: without unseen characters, its own frames unmistakable.

    Only brackets, colons of speakers and fences are written otherwise, one character for one.
    """
    shown = visible(text)
    for frame, other in _FRAMES:
        shown = frame.sub(other, shown)
    return shown


def visible(text: str) -> str:
    """Return a text without characters that steer a screen, turn its direction or cannot be seen."""
    return _CONTROL.sub(" ", _UNSEEN.sub("", text))


def restored(text: str) -> str:
    """Return a text that a model copied with its brackets as they stand in the law."""
    return text.translate(_BACK)


# ------------------------------------------------------------------ before a reader

_MARKUP = re.compile(
    r"!\[|\]\(|\]\[|^\s{0,3}\[[^\]\n]{1,80}\]:|<[/!?|A-Za-z]|[|/]>|`|\[/?[A-Z_]{2,20}\]|&(?:#\w+|[a-z]{2,8});"
    r"|\b(?:javascript|vbscript):|\bdata:\w+/|\bfile://",
    re.MULTILINE,
)
_ADDRESS = re.compile(
    r"\w{2,12}://\S+|\bwww\.\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.\w+"
    r"|(?<![\w.-])[\w-]{1,63}(?:\.[\w-]{1,63}){0,5}\.[a-z]{2,18}/\S*"
)
# "CANARY-17X", "a_b": no words of a language, so they must stand somewhere.
_CODE = re.compile(
    r"(?<![\w-])(?:[A-Za-z0-9]{0,40}_\w{1,40}|[A-Z]{2,20}(?:-[A-Z\d]{1,20})+|[A-Za-z]{3,20}\d\w{0,20})\b"
)

# What joins sentences and says nothing of the law.
_JOINING = frozenset(
    terms(
        "yes no depends however also otherwise following follows see code rule rules city passage passages "
        "answer says apply applies generally both either other exception exceptions specific details below "
        "above these cases case summary short stated provided question more information same"
    )
)
_MOST_STRANGE = 1 / 3


def foreign(sentence: str, grounds: Iterable[str]) -> bool:
    """Tell whether a sentence brings markup, unseen characters, or addresses and codes from nowhere.

    `grounds` are the texts that it may take them from: what it cites, and the question.
    """
    if _MARKUP.search(sentence) or _UNSEEN.search(sentence) or _CONTROL.search(sentence):
        return True
    said = "\n".join(grounds).casefold()
    brought = (
        m[0].rstrip(".,;:)").casefold() for p in (_ADDRESS, _CODE) for m in p.finditer(sentence)
    )
    return any(text not in said for text in brought)


def strays(sentence: str, grounds: Collection[str]) -> bool:
    """Tell whether a sentence without a proof says more than joins the others.

    That is, if more than a third of its words stand neither in the grounds nor among joining words.
    """
    said = {term for text in grounds for term in terms(text)} | _JOINING
    words = terms(sentence)
    return sum(word not in said for word in words) > _MOST_STRANGE * len(words)
