"""Records to pages: the Jinja environment, its few filters, and one function a page.

Every value is escaped by Jinja; no filter here makes markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import Response
from fastapi.templating import Jinja2Templates

from appliance.answers.conversation import MOST_TURNS
from appliance.answers.routing import LONGEST_QUESTION
from appliance.answers.validity import dates_of, warning_of
from appliance.ask import Finished
from appliance.calculate import Calculation, Held, Picked
from appliance.calculation_json import number
from appliance.calculators.units import unit_name, written
from appliance.compare import Comparison
from appliance.domain import Abstention, City, Flag, Leg, Reason, Span, StoredSection
from appliance.ports import Coverage
from appliance.web.layout import blocks, quote_blocks, titles_over
from appliance.web.schemas import Problem, coverage_out

HERE = Path(__file__).parent


def title_of(section: StoredSection) -> str:
    """Return a section's heading without the citation that some codes begin it with."""
    return section.heading.removeprefix(section.citation).strip(" .—–-") or section.heading


def is_web_address(url: str | None) -> bool:
    """Tell whether a source can be a link: any other scheme could be a script."""
    return url is not None and url.startswith(("https://", "http://"))


# What is wrong with a sentence, and what a judge says of one, in words for people (as page.js).
_FAULTS = {
    Flag.UNPROVEN: "no exact quote proves it",
    Flag.UNTRACED_NUMBER: "a number of it stands in nothing that it cites",
    Flag.PHANTOM: "it names a section that this code does not have",
    Flag.FOREIGN: "it brings a link, markup or a code that stands in nothing it cites",
}
# What stands over a refusal; nothing over small talk.
_TITLES = {
    Reason.NO_QUESTION: "",
    Reason.COMPARISON: "Several cities",
    Reason.OUT_OF_SCOPE: "No matter of a city's code",
}
_GRADES = {1.0: "say so", 0.5: "say a part of it", 0.0: "do not say so"}

# The legs of a search in words for people.
_WAYS: dict[Leg, str] = {"dense": "meaning", "lexical": "words", "named": "section number"}

_templates = Jinja2Templates(directory=HERE / "templates")
_templates.env.trim_blocks = _templates.env.lstrip_blocks = True
_templates.env.filters |= {
    "title_of": title_of,
    "dates_of": dates_of,
    "warning_of": warning_of,
    "coverage": coverage_out,
    "blocks": blocks,
    "quote_blocks": quote_blocks,
    "titles_over": titles_over,
    "way": _WAYS.__getitem__,
    "written": written,
    "unit_name": unit_name,
    "plain_number": number,
    "fault": _FAULTS.__getitem__,
    "grade": _GRADES.__getitem__,
    "over": lambda reason: _TITLES.get(reason, "No answer from the code"),
}
_templates.env.tests["web_address"] = is_web_address


def question_page(
    request: Request,
    held: Sequence[Coverage],
    *,
    city: str,
    question: str,
    as_of: date | None,
    before: Sequence[str],
    finished: Finished | None,
    problem: Problem | None,
) -> Response:
    """Return the page where questions are asked."""
    outcome = finished.outcome if finished else None
    selected = next((c for c in held if c.city.id == city), held[0] if held else None)
    context = {
        "held": held,
        "selected": selected,
        "question": question,
        "as_of": as_of,
        "conversation": [*before, *([question] if finished else [])][-MOST_TURNS:],
        "today": date.today(),
        "finished": finished,
        "abstention": outcome if isinstance(outcome, Abstention) else None,
        "answer": None if isinstance(outcome, Abstention) else outcome,
        "problem": problem,
        "longest": LONGEST_QUESTION,
    }
    status = problem.status if problem else 200
    return _templates.TemplateResponse(request, "page.html", context, status_code=status)


def comparison_page(
    request: Request,
    held: Sequence[Coverage],
    *,
    chosen: Sequence[str],
    question: str,
    as_of: date | None,
    comparison: Comparison | None,
    problem: Problem | None,
) -> Response:
    """Return the page where several cities are asked one question."""
    context = {
        "held": [c for c in held if c.chunks and c.state.searchable],
        "chosen": chosen,
        "question": question,
        "as_of": as_of,
        "today": date.today(),
        "comparison": comparison,
        "problem": problem,
        "longest": LONGEST_QUESTION,
    }
    status = problem.status if problem else 200
    return _templates.TemplateResponse(request, "compare.html", context, status_code=status)


def section_page(
    request: Request, section: StoredSection, quote: Span | None, city: City, day: date
) -> Response:
    """Return a section's own page, with the laws that change it as known on the day."""
    laid = blocks(section.text, quote)
    context = {"section": section, "blocks": laid, "city": city, "day": day}
    return _templates.TemplateResponse(request, "section.html", context)


def calculate_page(
    request: Request,
    cities: Sequence[Coverage],
    *,
    city: str,
    question: str,
    listed: Sequence[Held],
    picked: Picked | None,
    calculation: Calculation | None,
    problem: Problem | None,
) -> Response:
    """Return the page of calculators: a question, one's inputs, and a result with all its steps."""
    context = {
        "held": [c for c in cities if c.state.searchable],
        "city": city,
        "question": question,
        "listed": listed,
        "picked": picked,
        "calculation": calculation,
        "problem": problem,
        "longest": LONGEST_QUESTION,
    }
    status = problem.status if problem else 200
    return _templates.TemplateResponse(request, "calculate.html", context, status_code=status)


def history_page(
    request: Request, answers: Sequence[Mapping[str, Any]], *, names: Mapping[str, str], days: int
) -> Response:
    """Return the page of one's own questions; `names` are those of the cities."""
    context = {"answers": answers, "names": names, "days": days}
    return _templates.TemplateResponse(request, "history.html", context)


def problem_page(
    request: Request, problem: Problem, headers: dict[str, str] | None = None
) -> Response:
    """Return the page that says in one sentence what is wrong."""
    return _templates.TemplateResponse(
        request, "problem.html", {"problem": problem}, status_code=problem.status, headers=headers
    )
