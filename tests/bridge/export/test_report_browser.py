"""A report in a real browser: no error, no horizontal scroll on a phone, rows sort and filter, contrast is enough."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bridge.export.report.pages import ResultPage, ShownErratum, Summary, counts, failed_html, overview_html
from symbolic.statements.catalogue import find_result
from tests.bridge.export.cases import RESULT, comparison

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
PHONE, DESKTOP = (390, 844), (1280, 900)
SETTLED = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
# Each text with its colour and the first background behind it that is not transparent.
COLOURS = """
const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
return [...document.querySelectorAll("body *")]
  .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()))
  .filter((e) => e.getClientRects().length && !["SCRIPT", "STYLE", "OPTION"].includes(e.tagName))
  .map((e) => {
    let behind = e;
    while (behind && parts(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
    return [parts(getComputedStyle(e).color), parts(getComputedStyle(behind || document.body).backgroundColor),
            e.textContent.slice(0, 40)];
  });
"""


def luminance(colour: list[float]) -> float:
    """As WCAG 2 defines it."""
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in (each / 255 for each in colour[:3])]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: list[float], other: list[float]) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One page of each sort."""
    folder, record = tmp_path_factory.mktemp("site"), comparison()
    erratum = ShownErratum("constant", "Lemma 1: `x_i <= 1`", [("Repair", "`x_i <= 2`"), ("", "It survives.")], "x --y")
    html, problems = ResultPage(find_result(RESULT), record, [erratum], "boundsmith compare", RESULT).html()
    assert not problems
    (folder / f"{RESULT}.html").write_text(html)
    (folder / f"{RESULT}.json").touch()
    one = Summary(RESULT, "heads by `W*`", "Wang et al. 2024", RESULT, counts(record), {"constant": 1})
    lost = replace(one, id="own.lost", file="lost", claim="lost", counts={}, errata={}, problem="no memory")
    (folder / "index.html").write_text(overview_html([one, lost], "0.1.0"))
    (folder / "lost.html").write_text(failed_html(lost))
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("Debian's chromium and chromium-driver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def opened(browser: Any, path: Path, size: tuple[int, int] = DESKTOP, scheme: str = "light") -> Any:
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get(path.as_uri())
    return browser


@pytest.mark.parametrize("page", ["index.html", f"{RESULT}.html", "lost.html"])
def test_pages_fit_and_can_be_read(browser: Any, site: Path, page: str) -> None:
    for size, scheme in ((PHONE, "light"), (DESKTOP, "dark")):
        opened(browser, site / page, size, scheme)
        browser.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        width, room = browser.execute_script(SETTLED)
        assert width <= room
        texts = browser.execute_script(COLOURS)
        assert len(texts) > 5
        assert [
            (words, round(contrast(ink, paper), 2)) for ink, paper, words in texts if contrast(ink, paper) < 4.5
        ] == []
    assert browser.get_log("browser") == []


def shown(browser: Any, cell: str) -> list[str]:
    script = f"return [...document.querySelectorAll('table.sortable tbody tr:not([hidden]) {cell}')].map(e => %s)"
    return list(browser.execute_script(script % "e.dataset.value ?? e.textContent.trim()"))


def test_rows_are_sorted_and_filtered(browser: Any, site: Path) -> None:
    opened(browser, site / f"{RESULT}.html")
    rows = len(comparison().rows)
    names = browser.execute_script("return [...document.querySelectorAll('thead th')].map(e => e.textContent)")
    place = names.index("derived") + 1
    heading = browser.find_element("css selector", f"thead th:nth-child({place}) button")
    for downwards in (False, True):
        heading.click()
        found = [float(each) for each in shown(browser, f"*:nth-child({place})") if each not in ("", "-")]
        assert found == sorted(found, reverse=downwards)
        assert len(set(found)) > 2
    verdict = browser.find_element("css selector", "select[name=verdict]")
    verdict.send_keys("violated")
    violated = {row.quantity for row in comparison().rows if "violated" in row.verdict.values()}
    assert set(shown(browser, "th")) == violated
    assert browser.find_element("css selector", "output").text == f"{len(shown(browser, 'th'))} of {rows} rows"
    verdict.send_keys("all")
    browser.find_element("css selector", "input[type=search]").send_keys("MASK")
    assert {"mask" in each for each in shown(browser, "th")} == {True}
