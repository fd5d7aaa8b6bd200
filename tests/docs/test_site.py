"""The site is built without a warning; in a browser, from the file system, its pages are whole, searchable, legible."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}

# The ratio of luminances of WCAG 2: of each text and the nearest opaque background behind it.
PALE = """
const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const numbers = s => s.match(/[\\d.]+/g).map(Number);
const luminance = s => {
  const [red, green, blue] = numbers(s).map(channel);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue };
const opaque = s => { const n = numbers(s); return n.length < 4 || n[3] > 0.9 };
const behind = e => { for (; e; e = e.parentElement) { const b = getComputedStyle(e).backgroundColor;
  if (opaque(b)) return b } return "rgb(255, 255, 255)" };
const found = [];
for (const e of document.querySelectorAll("article *, .sidebar-tree *")) {
  if (![...e.childNodes].some(n => n.nodeType == 3 && n.textContent.trim()) || !e.offsetParent) continue;
  const style = getComputedStyle(e), [a, b] = [luminance(style.color), luminance(behind(e))].sort((x, y) => y - x);
  const large = parseFloat(style.fontSize) >= 24 || parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700;
  if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5)) found.push(e.textContent.trim().slice(0, 40));
}
return found;
"""


class References(HTMLParser):
    """The ids of a page, what it refers to, and its pictures without words."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.ids, self.targets, self.silent = set[str](), list[str](), list[str]()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids |= {each for each in (given.get("id"), given.get("name")) if each}
        self.targets += [each for each in (given.get("href"), given.get("src")) if each]
        if tag == "img" and not given.get("alt"):
            self.silent.append(given.get("src") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built in a copy, as `make docs` builds it."""
    copy = tmp_path_factory.mktemp("site")
    for each in ROOT.iterdir():
        if each.name != "docs" and not each.name.startswith("."):
            if each.suffix == ".md":
                shutil.copy(each, copy)  # an include takes the place of a file for that of its links
            else:
                (copy / each.name).symlink_to(each)
    shutil.copytree(ROOT / "docs", copy / "docs", ignore=shutil.ignore_patterns("_build", "generated"))
    call = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", "docs/_build/html"]
    done = subprocess.run(call, cwd=copy, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return copy / "docs" / "_build" / "html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not (CHROMIUM and DRIVER):
        pytest.skip("needs chromium and chromedriver")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for each in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900"):
        options.add_argument(each)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


def pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


@pytest.mark.long
def test_no_link_is_broken_and_every_picture_has_words(site: Path) -> None:
    of = {page: References(page) for page in pages(site)}
    assert len(of) > 20
    for page, references in of.items():
        assert not references.silent, page
        for address, fragment in map(urldefrag, references.targets):
            if "://" in address or address.startswith(("mailto:", "data:")):
                continue
            target = (page.parent / unquote(address.partition("?")[0])).resolve() if address else page
            assert target.exists(), (page, address)
            assert not fragment or target not in of or unquote(fragment) in of[target].ids, (page, address, fragment)


@pytest.mark.long
def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loaded = [
        line for page in pages(site) for line in page.read_text().splitlines() if "<script" in line or "<link" in line
    ]
    assert loaded
    assert not [line for line in loaded if 'src="http' in line or 'rel="stylesheet" type="text/css" href="http' in line]


def varied(site: Path) -> list[Path]:
    """Every page that is written by hand, and some of each folder of generated ones."""
    generated = [page for page in pages(site) if "generated" in page.parts]
    return [page for page in pages(site) if page not in generated] + generated[::8]


@pytest.mark.long
def test_pages_fit_a_phone_and_raise_no_error(site: Path, browser: Any) -> None:
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    for page in varied(site):
        browser.get(page.as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= PHONE["width"], page
        assert not [each for each in browser.get_log("browser") if each["level"] == "SEVERE"], page
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.long
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_is_legible(site: Path, browser: Any, theme: str) -> None:
    for name in ("generated/papers/index.html", "index.html", "learn/table.html", "do/referee.html"):
        browser.get((site / name).as_uri())
        browser.execute_script(f"document.body.dataset.theme = '{theme}'")
        assert browser.execute_script(PALE) == [], name
    browser.execute_script("document.querySelector('article p').style.color = '#777'")
    assert browser.execute_script(PALE)


@pytest.mark.long
def test_the_search_finds_a_page_from_the_file_system(site: Path, browser: Any) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.wait import WebDriverWait

    browser.get(f"{(site / 'search.html').as_uri()}?q=quantisation")
    found = WebDriverWait(browser, 300).until(lambda it: it.find_elements(By.CSS_SELECTOR, "#search-results li a"))
    assert "Quantisation" in [each.text for each in found]
    assert not browser.get_log("browser")
