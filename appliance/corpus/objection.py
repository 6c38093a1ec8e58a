"""The closed set of reasons for which the gate turns a text away, each with its meaning.

Knows no rule: the rules are in `walls`, `damage`, `places` and `fingerprints`, and `gate` asks them.
"""

from __future__ import annotations

from enum import StrEnum


class Objection(StrEnum):
    """Why a text may not enter the corpus; the value is the stable slug of the printed reason."""

    BINARY = "binary"
    UNDECODED = "undecoded"
    TOO_LONG = "too-long"
    MARKUP = "markup"
    EMPTY = "empty"
    UNPARSABLE = "unparsable"
    CHANGED = "changed"
    BOT_WALL = "bot-wall"
    SOFT_404 = "soft-404"
    ERROR_PAGE = "error-page"
    UNCONFIGURED = "unconfigured"
    LOGIN_WALL = "login-wall"
    CONSENT_WALL = "consent-wall"
    APP_SHELL = "app-shell"
    NAVIGATION = "navigation"
    STALE = "stale"
    WRONG_CITY = "wrong-city"
    WRONG_LANGUAGE = "wrong-language"
    MOJIBAKE = "mojibake"
    TRUNCATED = "truncated"
    TABLES_LOST = "tables-lost"
    DUPLICATE = "duplicate"
    NEAR_DUPLICATE = "near-duplicate"
    MUTATED_COPY = "mutated-copy"

    def because(self, sentence: str) -> str:
        """Return the reason as it is printed and stored: the slug, then what was seen."""
        return f"{self.value}: {sentence}"


MEANINGS = {
    Objection.BINARY: "The bytes are not text.",
    Objection.UNDECODED: "The text was decoded wrongly before it came here.",
    Objection.TOO_LONG: "No law is that long.",
    Objection.MARKUP: "A web page or script stands where law text should.",
    Objection.EMPTY: "There is no text.",
    Objection.UNPARSABLE: "No parser could read the file; the sentence says why.",
    Objection.CHANGED: "The text is not the one whose digest its file declares.",
    Objection.BOT_WALL: "The publisher's guard against robots answered instead of the page.",
    Objection.SOFT_404: "The page says that it does not exist, whatever its status said.",
    Objection.ERROR_PAGE: "The publisher's server failed, and its message was saved as the page.",
    Objection.UNCONFIGURED: "The publisher does not know this city, or serves an empty site.",
    Objection.LOGIN_WALL: "The page asks for a name and password instead of showing the text.",
    Objection.CONSENT_WALL: "The page asks for a click of consent instead of showing the text.",
    Objection.APP_SHELL: "The page is an empty frame that a browser would fill by script.",
    Objection.NAVIGATION: "The page holds menus and links, or a few words, but no text of its own.",
    Objection.STALE: "The page says that it is an archived or replaced version, or is too old.",
    Objection.WRONG_CITY: "The text speaks of another place's code.",
    Objection.WRONG_LANGUAGE: "The text is not in the language that was expected.",
    Objection.MOJIBAKE: "Characters were garbled by a wrong encoding.",
    Objection.TRUNCATED: "The text breaks off, or announces parts that it does not hold.",
    Objection.TABLES_LOST: "The page had tables whose values are not in the text.",
    Objection.DUPLICATE: "The same text was accepted before.",
    Objection.NEAR_DUPLICATE: "Nearly the same text was accepted before.",
    Objection.MUTATED_COPY: "The same text with other numbers was accepted before: a trap for robots.",
}
