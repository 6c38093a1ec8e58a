"""One's own questions in a real browser: there after asking, gone after the button, without scripts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from appliance.web.app import create_app
from appliance.wiring import House

FENCE = "How tall can the fence along my front yard be?"


@pytest.mark.parametrize("width", [1280, 390])
async def test_questions_are_kept_for_this_browser_and_forgotten_at_its_word(
    browser: Browser, sample_house: House, serve, width: int
):
    async with serve(create_app(sample_house)) as address:
        context = await browser.new_context(
            viewport={"width": width, "height": 900}, java_script_enabled=False
        )
        other = await browser.new_context(java_script_enabled=False)
        page = await context.new_page()
        for question in (FENCE, "May I keep hens, and how many of them?"):
            await page.goto(f"{address}/?city=alder-falls-xx&q={question}")
        await page.get_by_role("link", name="Yours").click()
        await expect(page.locator(".asked-before > li")).to_have_count(2)
        await expect(page.locator("main")).to_contain_text(FENCE)
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        if folder := os.environ.get("SHOTS_OF_PAGES"):
            await page.screenshot(path=Path(folder) / f"history-{width}.png", full_page=True)
        strange = await other.new_page()
        await strange.goto(f"{address}/history")
        await expect(strange.locator("main")).to_contain_text("Nothing was asked")
        await page.get_by_role("button", name="Forget this").first.click()
        await expect(page.locator(".asked-before > li")).to_have_count(1)
        await page.get_by_role("button", name="Forget all").click()
        await expect(page.locator("main")).to_contain_text("Nothing was asked")
        await context.close()
        await other.close()
