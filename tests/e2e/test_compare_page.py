"""In a real browser, without scripts: cities are chosen, compared, and read on a small screen."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import expect

from appliance.web.app import create_app
from appliance.wiring import House

QUESTION = "How long is a building permit good for if the work has not begun?"


@pytest.fixture(scope="module")
async def address(sample_house: House, serve) -> AsyncIterator[str]:
    async with serve(create_app(sample_house)) as address:
        yield address


@pytest.mark.parametrize("width", [1280, 390])
async def test_cities_are_compared_without_scripts(browser, address: str, width: int) -> None:
    context = await browser.new_context(
        java_script_enabled=False, viewport={"width": width, "height": 800}
    )
    try:
        page = await context.new_page()
        await page.goto(f"{address}/compare")
        await page.check('input[value="alder-falls-xx"]')
        await page.check('input[value="brackwater-county-xx"]')
        await page.fill("#question", QUESTION)
        await page.click("button[type=submit]")
        rows = page.locator(".compared tbody tr")
        await expect(rows).to_have_count(2)
        await expect(page.locator('input[value="alder-falls-xx"]')).to_be_checked()
        for row in await rows.all():
            box = await row.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        await page.locator('.compared a[href*="/sections/"]').first.click()
        await expect(page.locator("#quote")).to_be_visible()
    finally:
        await context.close()
