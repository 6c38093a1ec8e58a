"""In a real browser: an answer from a section that a later law changes says so, and so does its proof."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from datetime import date
from pathlib import Path

import pytest
from playwright.async_api import expect

from appliance.ingest import ingest
from appliance.settings import Settings
from appliance.web.app import create_app
from appliance.wiring import open_house

CORPUS = [
    {
        "jurisdiction": "elm-hollow-xx",
        "id": "elm-1.1",
        "citation": "Elm Hollow Code § 1.1",
        "heading": "Fences",
        "path": ["Title 1"],
        "text": "A fence in a front yard shall not be higher than four feet above the ground.",
    },
    {
        "jurisdiction": "elm-hollow-xx",
        "ID": 9007,
        "LocalLaw": "2025/007",
        "Name": "On fences",
        "EnactmentDate": "2025-03-01T00:00:00Z",
        "Text": "Section 1. Section 1.1 of the Elm Hollow code is amended to read as follows:\n§ 1.1 A fence "
        "in a front yard shall not be higher than [four] six feet above the ground.\n"
        "§ 2. This local law takes effect 120 days after it becomes law.\n",
    },
]


@pytest.fixture(scope="module")
def corpus() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pbx-") as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "elm.jsonl"
        path.write_text("".join(json.dumps(r) + "\n" for r in CORPUS), "utf-8")
        yield path


@pytest.fixture(scope="module")
async def address(corpus: Path, serve) -> AsyncIterator[str]:
    async with open_house(Settings(home=corpus.parent / "home")) as house:
        await ingest(
            house.loader,
            house.encoder,
            [corpus],
            city=None,
            today=date.today(),
            tell=lambda _: None,
        )
        async with serve(create_app(house)) as address:
            yield address


@pytest.mark.parametrize(
    ("day", "words"),
    [
        ("2025-01-01", None),
        ("2025-04-01", "Amended by Local Law 7 of 2025 (takes effect on 2025-06-29)"),
        ("2026-01-01", "Amended by Local Law 7 of 2025 (in force since 2025-06-29)"),
    ],
)
async def test_a_card_and_its_proof_name_the_law_that_changes_the_section(
    browser,
    address: str,
    day: str,
    words: str | None,
) -> None:
    page = await browser.new_page()
    try:
        await page.goto(address)
        await page.fill("#as_of", day)
        await page.fill("#question", "How high may a fence be under section 1.1?")
        await page.press("#question", "Enter")
        card = page.locator(".card", has_text="§ 1.1").first
        await expect(card).to_contain_text("the source does not say since when this applies")
        if words is None:
            assert await card.locator(".warned").count() == 0
            return
        await expect(card.locator(".warned")).to_contain_text(words)
        await card.locator("a[data-proof]").click()
        await expect(page.locator("#proof-law .warned")).to_contain_text(words)
    finally:
        await page.close()
