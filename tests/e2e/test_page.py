"""The page in a real browser: by keyboard alone, on a phone, against hostile law text, offline."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from fastapi import FastAPI
from playwright.async_api import Browser, BrowserContext, Page, expect

from appliance.serving.model_server import ServerState
from appliance.web.app import create_app
from appliance.wiring import House

FENCE = "How tall can the fence along my front yard be?"
NONSENSE = "Who won the world cup in 1998?"


@pytest.fixture(scope="module")
async def address(sample_house: House, serve) -> AsyncIterator[str]:
    async with serve(create_app(sample_house)) as address:
        yield address


@dataclass
class Witness:
    """What a browser complained of and whom it called."""

    complaints: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)


async def visit(context: BrowserContext, url: str) -> tuple[Page, Witness]:
    """Open a page and note every console error, policy violation and request."""
    page, witness = await context.new_page(), Witness()
    page.set_default_timeout(15_000)
    page.on(
        "console", lambda m: m.type in ("error", "warning") and witness.complaints.append(m.text)
    )
    page.on("pageerror", lambda error: witness.complaints.append(str(error)))
    page.on("request", lambda r: witness.hosts.add(urlsplit(r.url).hostname))
    await page.goto(url)
    return page, witness


@pytest.fixture
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    context = await browser.new_context(
        viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
    )
    yield context
    await context.close()


@pytest.fixture
async def opened(context: BrowserContext, address: str) -> AsyncIterator[Page]:
    """Yield the page; afterwards it must have been quiet and have called nobody else."""
    page, witness = await visit(context, address)
    await page.wait_for_selector("[role=combobox]")
    yield page
    assert witness.complaints == []
    assert witness.hosts == {"127.0.0.1"}


async def ask(page: Page, question: str) -> None:
    await page.fill("#question", question)
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".entry:last-child .status:not(.busy)", state="attached")


async def marked(page: Page, place: str) -> str:
    texts = await page.locator(f"{place} mark").all_text_contents()
    return "".join(texts)


# ------------------------------------------------------------------ asking


async def test_a_question_is_asked_and_proven_by_keyboard_alone(opened: Page):
    await expect(opened.locator("#question")).to_be_focused()
    await opened.keyboard.type(FENCE)
    await opened.keyboard.press("Enter")
    await opened.wait_for_selector(".status:not(.busy)")
    await expect(opened.locator("#question")).to_be_focused()
    for _ in range(40):
        await opened.keyboard.press("Shift+Tab")
        if await opened.evaluate("document.activeElement.matches('a[data-proof]')"):
            break
    link = await opened.evaluate_handle("document.activeElement")
    await opened.keyboard.press("Enter")
    await opened.wait_for_selector("dialog[open] mark")
    await opened.keyboard.press("Escape")
    await expect(opened.locator("dialog#proof")).not_to_be_visible()
    assert await opened.evaluate("link => document.activeElement === link", link)


async def test_shift_enter_makes_a_line_and_enter_sends(opened: Page):
    await opened.keyboard.type("hens")
    await opened.keyboard.press("Shift+Enter")
    await opened.keyboard.type("roosters")
    assert await opened.input_value("#question") == "hens\nroosters"
    await opened.keyboard.press("Enter")
    await expect(opened.locator(".entry h2")).to_contain_text("hens")


async def test_the_highlight_of_every_citation_is_its_quote(opened: Page):
    citations = await citations_of(opened, FENCE)
    await ask(opened, FENCE)
    links = opened.locator(".card a[data-proof]")
    assert await links.count() == len(citations) > 1
    for i, citation in enumerate(citations):
        await links.nth(i).click()
        await expect(opened.locator("#proof-title")).to_have_text(
            citation["heading"].removeprefix(citation["section"]).strip()
        )
        assert await marked(opened, "#proof-law") == citation["quote"]
        first = opened.locator("#proof-law mark:not(.syntax)").first
        await expect(first).to_be_in_viewport()


async def citations_of(page: Page, question: str) -> list[dict[str, str]]:
    """Return the citations of a question, asked beside the page."""
    reply = await page.context.request.post(
        f"{page.url.split('?')[0]}api/ask", data={"city": "alder-falls-xx", "question": question}
    )
    citations: list[dict[str, str]] = (await reply.json())["citations"]
    return citations


async def test_a_table_of_the_code_is_shown_as_a_table(opened: Page):
    await ask(opened, FENCE)
    table = opened.locator(".card table").first
    await expect(table.locator("th").nth(1)).to_have_text("| Front yard ")
    assert await table.locator("th").nth(1).inner_text() == "Front yard"


async def test_an_abstention_says_what_was_searched_what_is_near_and_whom_to_ask(opened: Page):
    await ask(opened, NONSENSE)
    box = opened.locator(".abstained")
    await expect(box).to_contain_text(
        re.compile(r"Searched [1-9]\d+ passages by meaning, words, section number")
    )
    await expect(box).to_contain_text("Alder Falls Building Office")
    nearest = box.locator(".nearest a").first
    number = (await nearest.get_attribute("href") or "").split("/")[2].split("?")[0]
    read = "number => fetch(`/api/sections/${number}`).then((answer) => answer.json())"
    section = await opened.evaluate(read, number)
    await nearest.click()
    begins = section["text"].split()[:4]
    assert begins
    await expect(opened.locator("#proof-law")).to_contain_text(" ".join(begins))


async def test_earlier_answers_stay_above(opened: Page):
    await ask(opened, FENCE)
    await ask(opened, NONSENSE)
    await expect(opened.locator(".entry h2")).to_have_text([FENCE, NONSENSE])


async def test_a_topic_is_a_question_that_can_be_clicked(opened: Page):
    await opened.locator(".starters a").first.click()
    await expect(opened.locator(".entry h2")).to_contain_text("What does the code say about")
    await expect(opened.locator(".card").first).to_be_visible()


async def test_a_refused_question_is_one_sentence(context, address: str):
    page, _ = await visit(context, address)  # Chromium itself complains of the refused request
    await page.wait_for_selector("[role=combobox]")
    await page.fill("#question", "???")
    await page.keyboard.press("Enter")
    await expect(page.locator(".failed")).to_contain_text("The question is empty")


# ------------------------------------------------------------------ the city


async def test_a_city_is_found_by_typing_and_remembered(opened: Page, context, address: str):
    box = opened.get_by_role("combobox", name="City")
    await box.click()
    await expect(opened.get_by_role("option")).to_have_count(3)
    await box.fill("brack")
    await expect(opened.get_by_role("option")).to_have_count(1)
    await opened.keyboard.press("Enter")
    await expect(box).to_have_value("Brackwater County (fictional)")
    await expect(opened.locator("#place")).to_have_text("Brackwater County (fictional)")
    assert "city=brackwater-county-xx" in opened.url
    again, _ = await visit(context, address)
    await expect(again.locator("#place")).to_have_text("Brackwater County (fictional)")


async def test_the_city_list_obeys_arrows_and_escape(opened: Page):
    box = opened.get_by_role("combobox", name="City")
    await box.focus()
    await opened.keyboard.press("ArrowDown")
    await opened.keyboard.press("ArrowDown")
    await expect(box).to_have_attribute("aria-activedescendant", "option-1")
    await opened.keyboard.press("Escape")
    await expect(box).to_have_attribute("aria-expanded", "false")
    await expect(box).to_have_value("Alder Falls (fictional)")


# ------------------------------------------------------------------ a model


async def test_a_models_words_are_replaced_by_verified_text_with_marks(context, with_model, serve):
    house, _ = with_model(
        "A front fence is ",
        'limited [1: "No fence, wall or hedge shall be higher than the limit"]. **Bold** <b>x</b>',
    )
    async with serve(create_app(house)) as address:
        page, witness = await visit(context, address)
        await ask(page, FENCE)
        await expect(page.locator(".answer")).to_have_text("A front fence is limited 1.")
        await page.locator(".withheld summary").click()
        await expect(page.locator(".withheld li")).to_contain_text("**Bold** <b>x</b>")
        await page.locator(".seal").click()
        await page.wait_for_selector("dialog[open] mark")
        assert (
            await marked(page, "#proof-law")
            == "No fence, wall or hedge shall be higher than the limit"
        )
        await page.keyboard.press("Escape")
        await expect(page.locator(".seal")).to_be_focused()
        assert witness.complaints == []


async def test_support_is_a_badge_of_its_own_and_what_nothing_proves_is_withheld(
    context, with_model, serve
):
    house, _ = with_model(
        'A front fence is limited [1: "No fence, wall or hedge shall be higher than the limit"]. ',
        "You must paint it green.",
    )
    async with serve(create_app(house)) as address:
        page, witness = await visit(context, address)
        await ask(page, FENCE)
        await expect(page.locator(".answer")).to_have_text("A front fence is limited 1.")
        await expect(page.locator(".support li")).to_contain_text("the quotes do not say so")
        withheld = page.locator("details.withheld")
        await expect(withheld.locator("summary")).to_have_text("1 sentence of the model withheld")
        await expect(withheld.locator("li")).to_be_hidden()
        await withheld.locator("summary").click()
        await expect(withheld.locator("li")).to_contain_text("no exact quote proves it")
        assert witness.complaints == []


async def test_a_follow_up_is_read_with_the_question_before_it(opened: Page):
    await ask(opened, FENCE)
    await ask(opened, "And in the back yard?")
    last = opened.locator(".entry:last-child")
    await expect(last.locator(".small").first).to_have_text(
        f"Read as: {FENCE} And in the back yard?"
    )
    await expect(last.locator(".card").first).to_be_visible()


async def test_a_question_after_nonsense_is_answered(context, address: str):
    page, _ = await visit(context, address)  # which tells of the refusal on its console
    await page.wait_for_selector("[role=combobox]")
    await page.fill("#question", "🏠🏠")
    await page.keyboard.press("Enter")
    await expect(page.locator(".entry:last-child .failed")).to_contain_text("is empty")
    await ask(page, FENCE)
    await expect(page.locator(".entry:last-child .card").first).to_be_visible()


async def test_a_follow_up_needs_no_javascript(browser: Browser, address: str):
    context = await browser.new_context(java_script_enabled=False)
    page = await context.new_page()
    await page.goto(address)
    for question in (FENCE, "And in the back yard?"):
        await page.fill("#question", question)
        await page.get_by_role("button", name="Ask", exact=True).click()
    await expect(page.locator(".entry .small").first).to_have_text(
        f"Read as: {FENCE} And in the back yard?"
    )
    await context.close()


async def test_a_demo_models_words_are_folded_away(context, with_model, serve):
    house, _ = with_model("Fences are fun.", demo=True)
    async with serve(create_app(house)) as address:
        page, _ = await visit(context, address)
        await ask(page, FENCE)
        assert await page.locator(".card").count() > 1
        details = page.locator("details.model")
        await expect(details.locator("p")).not_to_be_visible()
        await details.locator("summary").click()
        await expect(details.locator("p")).to_have_text("Fences are fun.")
        await expect(details.locator("summary")).to_contain_text("demo model, not advice")


async def test_the_stop_button_ends_the_models_work(context, with_model, serve):
    house, chat = with_model("Once upon a time", hangs=True)
    async with serve(create_app(house)) as address:
        page, _ = await visit(context, address)
        await page.fill("#question", FENCE)
        await page.keyboard.press("Enter")
        await expect(page.locator(".checking")).to_have_text("Once upon a time")
        await page.get_by_role("button", name="Stop").click()
        await expect(page.locator(".status")).to_have_text("Stopped.")
        await expect(page.locator(".checking")).to_have_count(0)
        await expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    assert chat.closed.is_set()


async def test_the_chip_follows_the_model_server(context, sample_house, serve):
    states = iter(
        [
            ServerState(phase="installing", detail="installing 43 %", served=None, seconds=1.0),
            ServerState(phase="failed", detail="no room", served=None, seconds=9.0),
        ]
    )
    last = ServerState(phase="failed", detail="no room", served=None, seconds=9.0)
    app: FastAPI = create_app(sample_house, model_state=lambda: next(states, last))
    async with serve(app) as address:
        page, _ = await visit(context, address)
        await expect(page.locator("#model")).to_have_text("model: installing 43 %")
        await expect(page.locator("#model")).to_have_text("quotes mode")


# ------------------------------------------------------------------ places to show it


@pytest.mark.parametrize("question", [FENCE, NONSENSE], ids=["answer", "abstention"])
async def test_nothing_is_wider_than_a_phone_of_360(browser: Browser, address: str, question: str):
    context = await browser.new_context(viewport={"width": 360, "height": 740})
    page, _ = await visit(context, address)
    await page.wait_for_selector("[role=combobox]")
    assert await overflow(page) <= 0
    await ask(page, question)
    assert await overflow(page) <= 0
    await page.locator("a[data-proof]").first.click()
    await page.wait_for_selector("dialog[open] .law p")
    assert (
        await page.evaluate("document.querySelector('dialog').getBoundingClientRect().width") == 360
    )
    assert await overflow(page) <= 0
    await page.keyboard.press("Escape")
    await expect(page.locator("a[data-proof]").first).to_be_focused()
    await context.close()


async def overflow(page: Page) -> int:
    width: int = await page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return width


async def test_the_printed_page_has_answer_and_citations_and_no_controls(opened: Page):
    await ask(opened, FENCE)
    await opened.emulate_media(media="print")
    await expect(opened.locator(".card").first).to_be_visible()
    await expect(opened.locator("#ask")).not_to_be_visible()
    await expect(opened.locator(".legal")).to_be_visible()


async def test_the_page_answers_without_javascript(browser: Browser, address: str):
    context = await browser.new_context(java_script_enabled=False)
    page, witness = await visit(context, address)
    await page.select_option("#city", "alder-falls-xx")
    await page.fill("#question", FENCE)
    await page.click("#send")
    await expect(page.locator(".card").first).to_contain_text("42 inches")
    await page.locator(".card a").first.click()
    await expect(page.locator("#quote")).to_be_in_viewport()
    assert witness.complaints == []
    await context.close()


# ------------------------------------------------------------------ hostile text


async def test_hostile_law_text_is_shown_as_text_and_its_quote_is_exact(context, address: str):
    page, witness = await visit(context, f"{address}/?city=troll-bridge-xx")
    await page.wait_for_selector("[role=combobox]")
    await expect(page.locator("#place")).to_have_text("Troll <b>Bridge</b> (fictional)")
    await ask(page, "What toll in goats may a troll collect under a bridge?")
    card = page.locator(".card").first
    await expect(card.locator("h3")).to_contain_text('<img src=x onerror="window.hacked=1">')
    quote = await card.locator(".law").text_content()
    await card.locator("a[data-proof]").click()
    await page.wait_for_selector("dialog[open] mark")
    assert await marked(page, "#proof-law") == quote
    await expect(page.locator("#proof-law")).to_contain_text("<script>window.hacked=1</script>")
    await expect(page.locator("#proof-facts")).to_contain_text(
        "the source does not say since when this applies"
    )
    await expect(page.locator("#proof-source")).not_to_be_visible()
    isolation = "e => getComputedStyle(e).unicodeBidi"
    assert await page.locator("#proof-law p").first.evaluate(isolation) == "isolate"
    assert await card.locator("h3 bdi").evaluate(isolation) == "isolate"
    assert await page.evaluate("window.hacked") is None
    assert await page.locator("main img, main script, dialog img").count() == 0
    assert witness.complaints == []


async def test_a_quote_after_astral_characters_is_marked_exactly_on_its_own_page(
    context, address: str
):
    page, witness = await visit(context, f"{address}/?city=troll-bridge-xx")
    await page.wait_for_selector("[role=combobox]")
    await ask(page, "What toll in goats may a troll collect under a bridge?")
    href = await page.locator(".card a[data-proof]").first.get_attribute("href")
    start, end = map(int, re.findall(r"(?:start|end)=(\d+)", href))
    section = int(re.findall(r"/sections/(\d+)", href)[0])
    text = await page.evaluate(
        f"fetch('/api/sections/{section}').then(r => r.json()).then(s => s.text)"
    )
    from_sign = text.index("\U0001f309 that states")
    for a, b in ((start, end), (from_sign, from_sign + 20)):
        await page.goto(f"{address}/sections/{section}?start={a}&end={b}#quote")
        assert await marked(page, "main") == text[a:b]
    assert await page.evaluate("window.hacked") is None
    assert witness.complaints == []


async def test_the_browser_itself_refuses_to_make_markup_of_text(context, address: str):
    page, witness = await visit(context, address)
    refused = await page.evaluate(
        "() => { try { document.body.innerHTML = '<b>x</b>'; return false } catch { return true } }"
    )
    assert refused
    assert "TrustedHTML" in witness.complaints[0]
