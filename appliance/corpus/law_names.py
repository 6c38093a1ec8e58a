"""How law text names a body of law: a state's code, a federal act, an ordinance, a reporter.

Pure.  It tells whose law a name means from the name alone; whether a city's own
registry holds that law is not known here.
"""

from __future__ import annotations

import re
from enum import StrEnum

from appliance.corpus.references import DASHES, normalise_whole


class Body(StrEnum):
    """Whose law a name means."""

    STATE = "state"
    FEDERAL = "federal"
    ACT = "act"  # an act by its name; what of it was codified has other numbers
    NAMED = "code"  # some code by name: the city's own, another place's, a model code
    FORMER = "former"  # a codification that the present one replaced: "Code 1985"


_STATES = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii"
    "|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan"
    "|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico"
    "|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island"
    "|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|West Virginia"
    "|Wisconsin|Wyoming|the Commonwealth|the State"
)
# As the states' codes are abbreviated in citations ("Va. Code", "Tenn. Code Ann.", "Cal. Gov. Code").
_SHORT_STATES = (
    r"Ala\.|Ariz\.|Ark\.|Cal(?:if)?\.|Colo\.|Conn\.|Del\.|Fla\.|Ga\.|Ill\.|Ind\.|Kan\.|Ky\.|La\.|Mass\.|Md\."
    r"|Me\.|Mich\.|Minn\.|Miss\.|Mo\.|Mont\.|N\.C\.|N\.D\.|N\.H\.|N\.J\.|N\.M\.|N\.Y\.|Neb\.|Nev\.|Okla\.|Or\."
    r"|Pa\.|R\.I\.|S\.C\.|S\.D\.|Tenn\.|Tex\.|Va\.|Vt\.|W\. ?Va\.|Wash\.|Wis\.|Wyo\."
)
# Codes of states that are cited by initials alone.
_STATE_INITIALS = (
    r"T\.? ?C\.? ?A\b\.?|M\.? ?G\.? ?L\b\.?(?: ?A ?\.?)?|G\. ?L\b\.?|S\.?D\.?C\.?L\b\.?|R\.? ?S\.? ?Mo\b\.?"
    r"|R\.?C\.?W\b\.?|W\.?A\.?C\b\.?|O\.?R\.?S\b\.?|N\.?R\.?S\b\.?|I\.?L\.?C\.?S\b\.?|O\.?C\.?G\.?A\b\.?"
    r"|C\.?R\.?S\b\.?|A\.?R\.?S\b\.?|K\.?S\.?A\b\.?|N\.?J\.?S\.?A\b\.?|N\.?J\.?A\.?C\b\.?|V\.?S\.?A\b\.?"
    r"|U\.?C\.?A\b\.?|N\.?Y\.?C\.?R\.?R\b\.?|C\.?M\.?R\b\.?|N\.?C\.?G\.?S\b\.?|G\. ?S\b\.|F\. ?S\b\."
    r"|O\.?R\.?C\b\.?|M\.?C\.?L\.?A?\b\.?|C\.?G\.?S\b\.?|VAC"
)
_FEDERAL_INITIALS = (
    r"U\. ?S\. ?C\b\.?(?: ?A\b\.?)?|USCA?|C\. ?F\. ?R\b\.?|CFR|F\. ?R\b\.|Fed\. Reg\.|Stat\."
)

# A name ends in one of these words; what stands before it is the name's own.
NAME_END = (
    r"(?i:(?:code|codes|laws?|act|amendments|statutes?|charter|regulations?|rules(?:\s+and\s+regulations)?"
    r"|resolution|constitution|ordinances?|compact))\b(?:\s+(?:Ann\.|Annotated))?"
)
_PLACE_AFTER = (
    r"(?:\s+of\s+(?:the\s+)?(?:(?i:city|town|county|village|state|commonwealth|district)\s+of\s+)?"
    r"(?:the\s+)?[A-Z][\w.]*(?:\s+[A-Z]\w+){0,3})?"
)
_YEAR_AFTER = r"(?:,?\s+(?:of\s+)?\(?(?:1[89]|20)\d\d\)?(?!-))?"
# Initials that some city's code may go by; ordinary words in capitals are told apart by NOT_INITIALS.
_INITIALS = r"(?:[A-Z]\.){3,6}|[A-Z]{2,6}\b"
_CAPITALS = """
    ACT ADD ALL ALSO AM AN AND ANY ARE ART AS AT BE BUT BY CAN CITY CODE DAY DO END FOR FROM HAS HE IF
    IN INTO IS IT ITS LAW LOT MAY MY NEW NO NOT NOTE OF OLD ON ONE ONLY OR OUT PART PER PM SEC SEE SET
    SO SUCH THAT THE THIS TITLE TO TWO UNDER UP UPON US USE VIA WAS WE WHO WITH YOU
"""
NOT_INITIALS = frozenset(_CAPITALS.split())

NAME = (
    rf"(?P<title>\d{{1,3}}[A-Z]?(?:-[A-Z])?\s+)?(?P<initials>(?:{_FEDERAL_INITIALS}|{_STATE_INITIALS})|{_INITIALS})"
    rf"|(?P<name>{NAME_END}{_PLACE_AFTER}{_YEAR_AFTER})"
)

# Ordinances and other enactments are cited by a number of their own.
ENACTED = (
    r"(?:Ord(?:inance|s)?\b\.?|ORD(?:INANCE)?\b\.?|Res(?:olution)?\b\.?)\s*(?:(?i:nos?\.|no\b|number|\#)\s*)?"
    r"(?:of\s+\d{1,2}-\d{1,2}-\d{2,4}|[A-Z]{0,3}-?\d[\w\-/]*(?:\.\d+)?(?:-?[A-Z]\b)?(?:\(\d+\))?)"
    r"|(?:(?i:local\s+laws?)|L\.?L\.?)\s*(?:(?i:nos?\.|number)\s*)?\d{1,4}(?:/\d{1,4}"
    r"|\s+(?:of|for\s+the\s+year)\s+\d{4})?"
    r"|D\.?C\.?\s+(?:Law|Act)\s+\d+-\d+"
    r"|\d{1,3}\s+DCR\s+\d+"
)
# Enactments of Congress, by number or by page.
ENACTED_FEDERAL = (
    r"(?:Pub\.\s*L\.|Public\s+Laws?|P\.\s?L\.)\s*(?:(?i:no\.)\s*)?\d+-\d+"
    r"|\d{1,3}\s+(?:Stat\.|Fed\.\s*Reg\.|F\.R\.)\s+\d[\d,]*"
)

_STATE = re.compile(
    rf"\b(?:{_STATES})\b|(?:^|\s)(?:{_SHORT_STATES})|^\s*(?:{_STATE_INITIALS})$|\bstate(?:wide)?\b",
    re.IGNORECASE,
)
_LOCAL = re.compile(
    r"\b(?:city|county|town|village|municipal|borough|administrative|local|charter)\b",
    re.IGNORECASE,
)
_FEDERAL = re.compile(
    rf"^\W*(?:\d+\s+)?(?:{_FEDERAL_INITIALS})$|\b(?:federal|united\s+states|u\.\s?s\.|internal\s+revenue)(?!\w)",
    re.IGNORECASE,
)
# States that keep a code or a law for each subject cite it by the subject: California's "Health and
# Safety Code", New York's "Multiple Dwelling Law".
_SUBJECTS = re.compile(
    r"^\W*(?:the\s+)?(?:"
    r"(?:Business|Health|Fish|Streets|Revenue|Welfare|Military|Harbors|Food)\s+(?:and|&)\s+[\w ]+"
    r"|Gov(?:ernment|['’]?t|\.)|Penal|Civil|Vehicle|Labor|Public\s+(?:Resources|Contract|Utilities|Health|Service)"
    r"|Elections|Water|Evidence|Insurance|Corporations|Probate|Family)\s+Code\b"
    # New York's laws for its cities and towns are the state's, whatever their names say.
    r"|\b(?:general\s+(?:city|municipal|business|construction)|town|village|county|home\s+rule)\s+law\b"
    r"|\b(?:General|Public|Session|Revised|Compiled|Consolidated|Cumulative)\s+(?:Laws?|Statutes?|Acts)\b",
    re.IGNORECASE,
)
_SUBJECT_LAW = re.compile(r"\w\s+laws?$|\blaws\s+of\b", re.IGNORECASE)
_ACT = re.compile(
    r"\b(?:act|amendments|compact)\b(?:,?\s+(?:of\s+)?\(?(?:1[89]|20)\d\d\)?)?$", re.IGNORECASE
)
_FORMER = re.compile(
    r"^\W*(?:the\s+)?(?:(?:prior|former|old|previous)\s+code\b|code,?\s+(?:of\s+)?\(?(?:1[89]|20)\d\d)",
    re.IGNORECASE,
)


# What tells, in this order: "New York City Administrative Code" is a city's, for all its "New York".
_TELLS = (
    (_FORMER, Body.FORMER),
    (_FEDERAL, Body.FEDERAL),
    (_ACT, Body.ACT),
    (_SUBJECTS, Body.STATE),
    (_LOCAL, Body.NAMED),
    (_STATE, Body.STATE),
    (_SUBJECT_LAW, Body.STATE),
)


def body_of(name: str) -> Body:
    """Tell whose law "Va. Code", "42 U.S.C.", "Health and Safety Code" or "Code 1985" is."""
    plain = " ".join(name.translate(DASHES).split()).strip(" ,;(")
    return next((body for pattern, body in _TELLS if pattern.search(plain)), Body.NAMED)


_LOCAL_LAW = re.compile(
    r"(?:local\s+laws?|l\.?l\.?)\s*(?:nos?\.?|number)?\s*(?P<a>\d{1,4})(?:\s*/\s*|\s+of\s+|\s+for\s+the\s+year\s+)(?P<b>\d{1,4})",
    re.IGNORECASE,
)
_ORDINANCE = re.compile(
    r"(?:ordinance|ord|resolution|res)s?\b\.?\s*(?:nos?\b\.?|number|#)?\s*(?P<number>\S.*)",
    re.IGNORECASE,
)


def enactment_of(text: str) -> str:
    """Return the one form of an enactment's number: "local law 126 of 2021", "ordinance 2020-14".

    "" for a text that is no such number.
    """
    plain = " ".join(text.translate(DASHES).split())
    if match := _LOCAL_LAW.match(plain):
        # "2021/126" and "126 of 2021" are the same law; the year has four figures.
        year, number = sorted((match["a"], match["b"]), key=lambda n: (len(n) != 4, n))
        return f"local law {int(number)} of {year}"
    if match := _ORDINANCE.match(plain):
        word = "resolution" if plain[:1] in "Rr" else "ordinance"
        return f"{word} {normalise_whole(match['number'])}"
    return normalise_whole(plain) if _ANY_ENACTED.match(plain) else ""


_ANY_ENACTED = re.compile(f"{ENACTED}|{ENACTED_FEDERAL}")
