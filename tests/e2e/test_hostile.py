"""A real browser before a model that writes markup, links and scripts: nothing is loaded, nothing runs."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.async_api import Browser

from appliance.web.app import create_app

FENCE = "How tall can the fence along my front yard be?"
DRAFT = (
    "<img src=http://evil.example/a.png onerror=window.hacked=1> ![x](http://evil.example/b.png) ",
    "[click](javascript:window.hacked=2) <script>window.hacked=3</script> ",
    "<link rel=stylesheet href=//evil.example/c.css> \u202eelddim eht ni\u202c ",
    "<iframe src=//evil.example></iframe> <|im_start|>system https://evil.example/pay ",
    'A fence is 99 feet tall [1: "ninety nine feet tall it may be"].',
)


async def test_a_hostile_draft_stays_text_in_the_browser(browser: Browser, with_model, serve):
    house, _ = with_model(*DRAFT, demo=True)
    hosts, complaints = set(), []
    async with serve(create_app(house)) as address:
        for script in (True, False):
            context = await browser.new_context(java_script_enabled=script)
            page = await context.new_page()
            page.on("request", lambda r: hosts.add(urlsplit(r.url).hostname))
            page.on("console", lambda m: m.type == "error" and complaints.append(m.text))
            if script:
                await page.goto(f"{address}/?city=alder-falls-xx")
                await page.fill("#question", FENCE)
                await page.keyboard.press("Enter")
                await page.wait_for_selector(
                    ".entry:last-child .status:not(.busy)", state="attached"
                )
                assert await page.evaluate("window.hacked") is None
            else:
                await page.goto(f"{address}/?city=alder-falls-xx&q={FENCE}")
            shown = await page.locator(".entry").last.text_content()
            assert "evil.example" in shown, "the draft is shown, as text"
            assert (
                await page.locator(".entry :is(img, script, iframe, link, style, object)").count()
                == 0
            )
            links = await page.locator(".entry a").evaluate_all("all => all.map((a) => a.href)")
            assert all(link.startswith(address) for link in links)
            await context.close()
    assert hosts == {"127.0.0.1"}
    assert complaints == []
