"""What kind of document a page is: its title first, its body only where the title leaves a choice.  Pure.

The label is a feature for ranking, never a filter: a page of the wrong label is still found.  A title
without a word about fees never makes a fee schedule, however many amounts the body names, and a title
that names a guide stays a guide.  Knows nothing of where a page came from; judges English only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, get_args

from models.boosted import likeliest, shipped

Kind = Literal["fee_schedule", "guide", "regulation", "definition", "form", "minutes", "page"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LAW_KINDS: tuple[Kind, ...] = ("definition", "fee_schedule", "regulation")


def kind_of(title: str, body: str, *, among: Sequence[Kind] = KINDS) -> Kind:
    """Return the kind of a document; a source that tells more narrows it with `among`.

    (A code's own sections, say, are among LAW_KINDS.)

    >>> kind_of("Chapter 17.20 Fences", "")
    'regulation'
    """
    kinds = tuple(kind for kind in kinds_by_title(title) if kind in among) or tuple(among)
    return kinds[0] if len(kinds) == 1 else kind_by_body(body, kinds)


# ------------------------------------------------------------------ the title


# The site's own name before or after the title: "Fence Permits | Webster Groves, MO".
_SITE = re.compile(
    r"\s[|–—-]\s(?:the )?(?:city|town|village|county|borough|township) of [^|]*$"
    r"|\s[|–—-]\s[\w .'-]+(?:, [a-z]{2}| (?:city|county))$"
    r"|^(?:the )?(?:city|town|village|county|borough|township) of [\w .'-]+?\s?[|:–—-]\s"
)
# What a title may end with without saying anything: a year, a date of effect, a file's format.
_TAIL = re.compile(
    r"[\s,;:.(–—-]*(?:\b(?:fy|fiscal year|year|effective|eff\.|revised|rev\.|adopted|updated|as of)"
    r"\s*(?:[a-z]{3,9}\.?\s)?[\d\s,./-]*\d|\b\d{4}(?:\s?[-–/]\s?\d{2,4})?|\bpdf|\bdocx?)[\s).]*$"
)
# How codes number: § 12-3, Sec. 9, 17.04.020, 72-84.0:, ARTICLE II, Title 5, Ordinance No. 12.
_NUMBERED = re.compile(
    r"(?!(?:19|20)\d\d[-/](?:\d\d|\d{4})\b)"  # a year is no number of a section: 2025-26
    r"(?:(?:§+|sec(?:tion|s)?\b\.?|subsection|(?:sub)?(?:chapter|article|part|division|title)s?|ch\.|art\."
    r"|appendix|exhibit|schedule|ord(?:inance|\.)|resolution|local law|public law|bill)"
    r"\s*(?:no\.?|number|#)?\s*(?:[a-z]?\d[\w.:-]*|[ivxlc]+\b|[a-z]\b)"
    r"|\d+[a-z]?(?:[.:-]\d+[a-z]?)+(?![\w/]))"
)
_NAMELESS = re.compile(
    r"[^a-z]*|\W*(?:untitled|document|index|scan(?:ned)?|file|layout|img)[\W\d]*"
)
_DATED = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{2,4}\b")

# Words that settle the kind by themselves.
_INDEX = r"\bagendas\b|\b(?:agenda|minutes)\b\s*(?:&|and|/|,)\s*(?:agenda|minutes)\b"
_MEETING = (
    r"(?<!\d )\bminutes\b|\bagendas?\b|\bmeeting (?:notes|summary|packet|transcript|record)\b"
)
_ASKS = (
    r"\?|^(?:how|what|when|where|who|why|do|does|can|is|are|should)\b|\bhow to\b|\bfaqs?\b"
    r"|\bfrequently asked\b"
)
_SCHEDULE = (
    r"\bfee schedules?\b|\bmaster fee|\bfees? (?:list|table|chart|summary|book)\b|\brate schedule\b"
    r"|\bschedule of (?:[\w/&]+ ){0,4}(?:fees?|rates|charges)\b|\btable of fees\b"
)
_TEACHES = (
    r"\bguides?\b|\bguidebook\b|\bhand-?outs?\b|\bhandbooks?\b|\bmanuals?\b|\bbrochures?\b"
    r"|\bpamphlets?\b|\bcheck-?lists?\b|\binstructions?\b|\btips?\b|\bstep.by.step\b"
    r"|\b(?:fact|info|information|tip|help|cheat) ?sheets?\b|\bbulletins?\b|\bflow ?charts?\b"
    r"|\bgetting started\b|\bbefore you\b|\bexplained\b|\bbasics\b|\b101\b|\bapply for\b|\bget an?\b"
)
_DEFINES = (
    r"\bdefinitions?\b|\bglossary\b|\bdefined\b|\bmeanings? of\b|\bterms used\b|\bterminology\b"
)
_STAFF = r"\bcode (?:enforcement|compliance|officers?|violations?|complaints?|services)\b"
_CONTACT = (
    r"^(?:home|home ?page|welcome\b.*|about|news|search|site ?map|log ?in|sign in|privacy"
    r"|accessibility|links|directions|resources|services|maps?|documents|departments)$"
    r"|\bcontacts? (?:us|information|info|list)?$|\babout us\b|\bnewsletters?\b|\bstaff directory\b"
    r"|\b(?:office|business|city hall) hours\b|\bpress release\b|\bpage not found\b|\bcovid"
    r"|\bonline portal\b|\bcareers\b|\bjob openings\b|\bcalendar\b|\bupcoming events\b"
)
# Words that leave a choice.
_FEE = r"\bfees?\b|\brates\b|\bcharges\b|\bfines and penalties\b"
_ABOUT_FEES = (
    r"\bpay(?:ing|ment)?\b|\bwaivers?\b|\brefunds?\b|\bcalculator\b|\bestimat|\bstud(?:y|ies)\b"
)
_FORM = (
    r"\bapplication\b|\bform\b|\baffidavits?\b|\bworksheets?\b|\bpetition\b|\bquestionnaire\b"
    r"|\bcertification of\b|\b(?:agent|owner) authorization\b|\backnowledge?ment\b"
)
_FORMS = r"\bforms\b|\bapplications\b"
_WAY = (
    r"\bprocess(?:es)?\b|\bprocedures?\b|\brequirements?\b|\bguidelines?\b|\bsteps\b|\bapplying for\b"
    r"|\bobtaining\b|\bgetting\b"
)
_LAW = (
    r"\bordinances?\b|\bcodes?\b|\bby-?laws?\b|\bregulations?\b|\bcharter\b|\bstatutes?\b"
    r"|\bresolutions?\b|\bstandards\b|\brules\b|\ban act\b|\blocal laws?\b|\bamend(?:ing|ments?)\b"
    r"|§|\b(?:chapter|section|article|title) \d"
)
_SESSION = r"\bmeetings?\b|\bhearings?\b"
_BODY = r"\bboards?\b|\bcommission\b|\bcommittee\b|\bcouncil\b|\bmeeting\b|\bhearing\b|\bzba\b"
_DATE = (
    r"\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.? \d{1,2}\b"
    r"|\b\d{4}[-/ ]\d{1,2}[-/ ]\d{1,2}\b|\b\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\b"
)
_DESK = (
    r"\bcontacts?\b|\bstaff\b|\bdirectory\b|\bdepartments?\b|\bdivisions?\b|\bemployment\b|\bjobs?\b"
    r"|\bevents?\b|\bhours\b|\blocations?\b|\bcommissions?\b|\bcommittees?\b|\bboards?\b|\bcouncil\b"
    r"|\bmayor\b|\boffices?\b|\bportal\b|\bnews\b|\bservices\b|\bmaps?\b"
)
# A city's page of a permit explains it, unless it turns out to be the form.
_PERMITS = (
    r"\bpermit(?:s|ting)?\b|\binspections?\b|\breviews?\b|\bremodel(?:s|ing)?\b|\brenovations?\b"
)
_LICENCES = r"\blicen[cs](?:es?|ing)\b|\bvariances?\b|\bcertificates? of\b|\bzoning\b"

# What is longer is a paragraph that a reader of titles took for one; its beginning says what it is.
_TITLE = 300

# Of an unnumbered title the first line that fits decides; several kinds leave the choice to the body,
# and the last of them is taken where the body shows none.
_BY_WORDS: tuple[tuple[str, tuple[Kind, ...]], ...] = (
    (_INDEX, ("minutes", "page")),
    (_MEETING, ("minutes",)),
    (_ASKS, ("guide",)),
    (_DEFINES, ("definition",)),
    (_SCHEDULE, ("fee_schedule",)),
    (_TEACHES, ("guide",)),
    (rf"(?:{_FEE}).*\b(?:application|form)$", ("form",)),
    (rf"(?:{_FEE}).*(?:{_FORMS})|(?:{_FORMS}).*(?:{_FEE})", ("fee_schedule", "form", "page")),
    (rf"(?:{_FEE}).*(?:{_FORM})|(?:{_FORM}).*(?:{_FEE})", ("fee_schedule", "regulation", "form")),
    (rf"(?:{_FEE}).*(?:{_ABOUT_FEES})|(?:{_ABOUT_FEES}).*(?:{_FEE})", ("regulation", "guide")),
    (_FEE, ("fee_schedule", "regulation", "guide", "page")),
    (_CONTACT, ("page",)),
    (_STAFF, ("regulation", "guide", "page")),
    (_WAY, ("regulation", "guide")),
    (_FORMS, ("form", "page")),
    (_FORM, ("form",)),
    (rf"(?:{_BODY}).*(?:{_DATE})|(?:{_DATE}).*(?:{_BODY})", ("minutes", "page")),
    (_SESSION, ("minutes", "regulation", "page")),
    (_LAW, ("regulation", "guide", "page")),
    (_DESK, ("regulation", "guide", "page")),
    (_PERMITS, ("form", "guide")),
    (_LICENCES, ("form", "regulation", "guide")),
)
# Words that say nothing of the kind: the body speaks, but of fees only where the title does.
_UNSAID: tuple[Kind, ...] = ("definition", "regulation", "minutes", "form", "guide", "page")


def kinds_by_title(title: str) -> tuple[Kind, ...]:
    """Return the kinds that a title leaves open: one if it is clear, all if there is no title."""
    whole = _SITE.sub("", " ".join(title[:_TITLE].casefold().replace("_", " ").split()))
    numbered = None if _DATED.match(whole) else _NUMBERED.match(whole)
    if numbered:
        return _law_kinds(whole[numbered.end() :])
    plain = _TAIL.sub("", whole) or whole
    if _NAMELESS.fullmatch(plain):
        return ("definition", "fee_schedule", "regulation", "minutes", "form", "guide", "page")
    return next((kinds for pattern, kinds in _BY_WORDS if re.search(pattern, plain)), _UNSAID)


def _law_kinds(heading: str) -> tuple[Kind, ...]:
    """Return the kinds of a numbered heading.  A code may hold a schedule of fees and a glossary."""
    if re.search(_DEFINES, heading):
        return ("definition",)
    if re.search(_SCHEDULE, heading) and "amend" not in heading:
        return ("fee_schedule",)
    if re.search(_FEE, heading):
        return ("fee_schedule", "regulation")
    if not re.search(r"[a-z]{3}", heading):
        return ("definition", "fee_schedule", "regulation")
    return ("regulation",)


# ------------------------------------------------------------------ the body

# What the body shows, each counted once a page or by the hundred words.  These are the features that
# the learners of `permitbox bench trees` are given, too.
_SIGNS: dict[str, re.Pattern[str]] = {
    "shall": re.compile(r"\bshall\b"),
    "law": re.compile(  # how laws speak, and web pages do not
        r"\b(?:shall|pursuant to|hereby|herein|hereof|hereunder|thereof|thereto|therein|thereunder"
        r"|notwithstanding|provided,? (?:however|further|that)|unlawful|subsections?|subdivisions?"
        r"|(?:this|such) (?:section|chapter|article|title|part|subtitle|subchapter|code|ordinance"
        r"|division|act|rule))\b|§"
    ),
    "you": re.compile(r"\byou(?:r|'re|'ll)?\b"),
    "please": re.compile(
        r"\b(?:please|submit|download|click|visit|call|e-?mail|contact us|apply online|bring)\b"
    ),
    "amounts": re.compile(r"\$\s?\d|\b(?:dollars|cents)\b"),
    "fees": re.compile(r"\b(?:fees?|charges?|rates?|deposits?|surcharges?)\b"),
    "means": re.compile(
        r"\b(?:means?|shall mean|is defined as|includes?|has the meaning|refers? to)\b"
    ),
    "opens": re.compile(  # how a list of terms begins
        r"\b(?:following (?:words|terms|definitions|phrases|meanings?)|for (?:the )?purposes? of this"
        r"|meanings? (?:given|ascribed|respectively|indicated|set forth)|the term"
        r"|have the (?:following )?meanings?)\b"
    ),
    "quoted": re.compile(r"[\"“][a-z][^\"”\n]{1,60}[\"”]"),
    "cites": re.compile(r"§|\b(?:sub)?(?:section|chapter|article|paragraph|title|ordinance|ord\.)"),
    "blanks": re.compile(r"_{3,}|☐|□|\[ \]"),
    "sign_here": re.compile(
        r"\b(?:signature|print(?:ed)? name|applicant(?:'s)? name|phone|e-?mail address|owner's name"
        r"|job address|date:|for office use)\b"
    ),
    "meeting": re.compile(
        r"\b(?:call(?:ed)? to order|roll call|seconded|moved (?:by|to)|adjourn(?:ed|ment)?|ayes?|nays?"
        r"|motion (?:by|made|carried|passed|was|to (?:approve|adjourn))|quorum|public comment"
        r"|members? present|absent|minutes of|agenda)\b"
    ),
    "digits": re.compile(r"\d+"),
    "tables": re.compile(r"^\|", re.MULTILINE),
    "links": re.compile(r"\]\(|https?://"),
    "questions": re.compile(r"\?"),
    "history": re.compile(
        r"\b(?:enacted|repealed|amended|passed|d\.c\. law|ord\. (?:no|of)|prior code|code 19\d\d"
        r"|stat\.)"
    ),
}
# How paragraphs of a law begin: (a), (1), 12-3.4; guides number with "1." instead.
_LETTERED_LINE = re.compile(r"[ \t>*-]*(?:\((?:\w{1,2}|[ivx]+)\)|\d+(?:[.-]\d+)+)\s")
_DEFINED_LINE = re.compile(
    r"[ \t]*(?:[-*(]|\(?\w{1,3}[.)]\s)*\s*(?:\*{1,2}|[\"“'‘_])?[a-z][^.:\n]{1,60}?"
    r"(?:\*{1,2}|[\"”'’_])?[.:,]?\s*(?:\([^)]*\)\s*)?"
    r"(?:—|–|:\s|\bmeans?\b|\bshall (?:mean|include)\b|\bis (?:defined|any|an?|the)\b|\bincludes?\b)"
)

# A sign beyond this length of text is rare, and giant records cost time: the beginning tells.
_READ = 20_000


def signs(body: str) -> dict[str, float]:
    """Return what a body shows: its length, shares of lines, and signs by the hundred words."""
    text = body[:_READ].casefold().replace("’", "'")
    words = max(1, len(text.split()))
    lines = [line for line in text.splitlines() if line.strip()]
    found = {name: 100 * len(p.findall(text)) / words for name, p in _SIGNS.items()}
    found["defined"] = sum(bool(_DEFINED_LINE.match(x)) for x in lines) / max(1, len(lines))
    found["lettered"] = sum(bool(_LETTERED_LINE.match(x)) for x in lines) / max(1, len(lines))
    found["line"] = words / max(1, len(lines))
    found["words"] = float(words)
    return {name: round(value, 3) for name, value in found.items()}


def kind_by_body(body: str, kinds: Sequence[Kind] = KINDS) -> Kind:
    """Return the one of `kinds` that a body shows best.

    Bounds find out whether a page is law at all; which kind of law, learned trees tell better.
    """
    shown = signs(body)
    ruled = _by_bounds(shown, kinds)
    law = [kind for kind in LAW_KINDS if kind in kinds]
    if ruled not in law or len(law) == 1:
        return ruled
    told = likeliest(shipped("page_kind"), shown, among=law)
    return next(kind for kind in law if kind == told)


def kind_by_rules(body: str, kinds: Sequence[Kind] = KINDS) -> Kind:
    """Return the first of `kinds` that a body shows by the bounds alone, or the last of them."""
    return _by_bounds(signs(body), kinds)


def _by_bounds(shown: dict[str, float], kinds: Sequence[Kind]) -> Kind:
    return next((kind for kind in kinds if _SHOWN[kind](shown)), kinds[-1])


# The bounds were set by reading pages, before the learners: eval/ledger/008-kinds.md.
_SHOWN: dict[Kind, Callable[[dict[str, float]], bool]] = {
    "minutes": lambda shown: shown["meeting"] >= 1.0,
    "form": lambda shown: shown["blanks"] >= 1.0 or shown["sign_here"] >= 2.0,
    "definition": lambda shown: (
        shown["means"] >= 1.0 and (shown["defined"] >= 0.4 or shown["opens"] >= 0.5)
    ),
    "fee_schedule": lambda shown: shown["amounts"] >= max(1.0, shown["you"] + shown["please"]),
    "regulation": lambda shown: (
        shown["law"] + shown["history"] + 4 * shown["lettered"]
        >= max(1.0, 2 * (shown["you"] + shown["please"]))
    ),
    "guide": lambda shown: shown["you"] + shown["please"] >= 1.0,
    "page": lambda _: True,
}
