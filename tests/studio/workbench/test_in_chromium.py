"""The page in a browser: what somebody does with it, and what it never asks for."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from sdrag.studio.cli.app import app as command

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
SECONDS = 120
COMMAND = "from sdrag.studio.cli import main; main()"
TEXT = (
    "The witness Jonathan Meyers saw a grey van. <img src='http://192.0.2.1/x'>\n"
    "<script>document.title = 'taken over'</script> The safe was opened with a stolen "
    "key. One man listened while another turned the dial. Meyers left with Petra Olsen "
    "at noon."
)

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is missing")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM.exists() and DRIVER.exists()),
    reason="chromium and chromium-driver are missing",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("workbench")
    (folder / "policy.yaml").write_text("constraints:\n")
    (folder / "documents").mkdir()
    (folder / "documents" / "a.txt").write_text(TEXT)
    (folder / "documents" / "b.txt").write_text(
        "Petra Olsen sold the van to Jonathan Meyers."
    )
    (folder / "documents" / "c.txt").write_text("The quay opens at six.")
    return folder


@pytest.fixture(scope="module")
def address(place: Path):
    """The workbench, running; its address with the token."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", COMMAND, "workbench", "policy.yaml"),
            *("--documents", "documents", "--port", "0"),
        ],
        cwd=place,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    stop = threading.Timer(5 * SECONDS, process.kill)
    stop.start()
    yield process.stdout.readline().removeprefix("Open ").strip()
    stop.cancel()
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def browser(place: Path):
    """Chromium without a window, which notes every request that it makes."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--no-first-run",
        "--window-size=1300,900",
    ):
        options.add_argument(argument)
    downloads = {
        "download.default_directory": str(place / "downloads"),
        "profile.default_content_setting_values.automatic_downloads": 1,
    }
    options.add_experimental_option("prefs", downloads)
    options.set_capability(
        "goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"}
    )
    service = webdriver.ChromeService(str(DRIVER))
    opened = webdriver.Chrome(options=options, service=service)
    yield opened
    opened.quit()


@pytest.fixture
def page(browser, address):
    """The page in a tab of its own: a tab that was given the token keeps it."""
    browser.switch_to.new_window("tab")
    browser.get(address)
    return Page(browser)


class Page:
    """What somebody does on the page."""

    def __init__(self, browser) -> None:
        self.browser = browser

    def all(self, selector: str) -> list:
        return self.browser.find_elements("css selector", selector)

    def one(self, selector: str):
        return self.browser.find_element("css selector", selector)

    def wait(self, what):
        """Wait until something is so; return it."""
        from selenium.common.exceptions import (  # noqa: PLC0415 -- an extra
            StaleElementReferenceException,
        )
        from selenium.webdriver.support.wait import WebDriverWait  # noqa: PLC0415

        waiting = WebDriverWait(
            self.browser, SECONDS, 0.1, [StaleElementReferenceException]
        )
        return waiting.until(lambda _: what())

    def click(self, selector: str) -> None:
        """Click as a script does: where a thing is on the screen does not matter."""
        click = "arguments[0].click(); return true"
        self.wait(lambda: self.browser.execute_script(click, self.one(selector)))

    def write(self, policy: str) -> None:
        """Put a text into the editor, as typing does."""
        self.browser.execute_script(
            "const e = arguments[0]; e.value = arguments[1];"
            "e.dispatchEvent(new Event('input'))",
            self.one("#editor"),
            policy,
        )

    def hidden(self) -> list[str]:
        """Return what is coloured; where colours overlap, in pieces."""
        marks = self.all(".document mark.hidden")
        return [mark.get_property("textContent") for mark in marks]


POLICY = """\
constraints:
  - id: names
    text: Remove names of witnesses
    unless: {roles: [clerk]}
  - id: safe
    text: Hide how the safe was opened
"""


def test_a_policy_is_written_checked_coloured_and_kept(page, place):
    """From an empty policy to one that `sdrag check` passes, in one go."""
    page.wait(lambda: page.one("#editor").is_enabled())
    _wrong_then_right(page)
    _why(page)
    _words(page)
    _slider(page)
    _audiences(page)
    _added(page, place)
    _question(page)
    _links(page)
    _downloads(page, place)
    _nothing_left_loopback(page)


def _wrong_then_right(page):
    """A problem is told with its line while typing; a constraint colours."""
    page.write("constraints:\n  - {txt: a}\n")
    page.wait(lambda: "line 2" in page.one("#problems").text)
    page.write(POLICY)
    page.wait(lambda: "Jonathan Meyers" in "".join(page.hidden()))
    assert "hides people's names" in page.one("#understood").text
    # What the document says in markup is text in the page.
    assert "<script>" in page.one(".document").text
    assert page.browser.title == "sdrag workbench"
    assert "token" not in page.browser.current_url


def _why(page):
    """A click on a colour says which constraint, and who found it."""
    page.click(".document mark.hidden")
    why = page.wait(lambda: page.one("#why").text)
    assert "names" in why
    assert "Remove names of witnesses" in why
    assert "a detector found a mention of the type PERSON" in why


def _words(page):
    """A click lets words stay; words that are selected go."""
    before = page.one("#editor").get_property("value")
    page.click("#why button")
    page.wait(lambda: "keep:" in page.one("#editor").get_property("value"))
    assert "`keep` under" in page.one("#message").text
    page.browser.execute_script(
        "const p = document.querySelector('.document').lastChild, r = new Range();"
        "r.setStart(p, 0); r.setEnd(p, 5); const s = getSelection();"
        "s.removeAllRanges(); s.addRange(r)"
    )
    page.wait(lambda: page.one("#selected").is_displayed())
    page.click("#must-go")
    page.wait(lambda: "examples:" in page.one("#editor").get_property("value"))
    page.write(before)
    page.wait(lambda: "Jonathan Meyers" in "".join(page.hidden()))


def _slider(page):
    """A lower sensitivity hides less, and how to keep it is said."""
    before = page.wait(lambda: len("".join(page.hidden())))
    page.browser.execute_script(
        "const s = document.getElementById('sensitivity'); s.value = 0;"
        "s.dispatchEvent(new Event('input'))"
    )
    page.wait(lambda: len("".join(page.hidden())) < before)
    assert "sensitivity: low" in page.one("#sensitivity-note").text
    page.browser.execute_script(
        "const s = document.getElementById('sensitivity'); s.value = 1;"
        "s.dispatchEvent(new Event('input'))"
    )
    page.wait(lambda: len("".join(page.hidden())) == before)


def _audiences(page):
    """Two roles are next to one another."""
    page.click("#compare")
    page.browser.execute_script(
        "const r = document.getElementById('roles-2'); r.value = 'clerk';"
        "r.dispatchEvent(new Event('input'))"
    )
    page.wait(
        lambda: len(page.all(".view")) == 2 and "clerk" in page.one("#views").text
    )
    first, second = page.wait(lambda: [view.text for view in page.all(".view .legend")])
    assert "names" in first
    assert "names" not in second
    page.click("#compare")
    page.wait(lambda: len(page.all(".view")) == 1)


def _added(page, place):
    """A pasted text and a chosen file are shown; a binary one is refused."""
    page.click("#paste")
    page.one("#pasted").send_keys("The witness Mara Whitlock sang.")
    page.click("#add-pasted")
    page.wait(lambda: "Mara Whitlock" in "".join(page.hidden()))
    (place / "d.md").write_text("The witness Ida Halvorsen danced.")
    page.one("#choose").send_keys(str(place / "d.md"))
    page.wait(lambda: "Ida Halvorsen" in "".join(page.hidden()))
    (place / "e.txt").write_bytes(b"\x89PNG\0")
    page.one("#choose").send_keys(str(place / "e.txt"))
    page.wait(lambda: "e.txt: The file is no text" in page.one("#message").text)
    count = len(page.all("#shown option"))
    page.click("#forget")
    page.wait(lambda: len(page.all("#shown option")) == count - 1)


def _question(page):
    """What a hijacked model receives, plain and wrapped."""
    page.click("#question-tab")
    page.one("#question").send_keys("Who saw the van?\n")
    page.wait(lambda: len(page.all("#answers .view")) == 2)
    plain, wrapped = page.wait(
        lambda: [view.text for view in page.all("#answers .view")]
    )
    assert "Meyers" in plain
    assert "Meyers" not in wrapped


def _links(page):
    """What masking would take out of the documents."""
    page.click("#links-tab")
    page.click("#find-links")
    page.wait(lambda: "Jonathan Meyers" in page.one("#links").text)


def _downloads(page, place):
    """The policy that was written passes `sdrag check`; the report shows the files."""
    folder = place / "downloads"
    page.click("#download-report")
    page.wait((folder / "report.html").exists)
    assert "<h3>a.txt</h3>" in (folder / "report.html").read_text()
    assert "unredacted" in page.one("#message").text
    page.click("#download-policy")
    page.wait((folder / "policy.yaml").exists)
    checked = CliRunner().invoke(command, ["check", str(folder / "policy.yaml")])
    assert checked.exit_code == 0, checked.output
    assert (folder / "policy.yaml").read_text() == POLICY


def _nothing_left_loopback(page):
    """Every request that the page made is in the browser's own log."""
    asked = []
    for entry in page.browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(message["params"]["request"]["url"])
    own = [url for url in asked if re.match(r"https?:", url)]
    assert len(own) > 20
    assert {urlsplit(url).hostname for url in own} == {"127.0.0.1"}
    assert not [url for url in own if "token" in urlsplit(url).query]
    faults = [e["message"] for e in page.browser.get_log("browser")]
    assert not [one for one in faults if "Content Security Policy" in one], faults


def test_without_the_token_the_page_shows_nothing(browser, address, page):
    """Another tab has no token, and says how to get one."""
    browser.switch_to.new_window("tab")
    browser.get(address.partition("#")[0])
    page.wait(lambda: "token is missing" in page.one("#message").text)

    assert not page.one("#editor").is_enabled()
    assert page.all(".document") == []


def test_every_control_has_a_name_and_is_reached_by_keyboard(browser, page):
    """A screen reader says what each control is for."""
    page.wait(lambda: page.one("#editor").is_enabled())
    page.write(POLICY)
    page.wait(page.hidden)

    nameless = [
        control.get_attribute("outerHTML")
        for control in page.all("button, input, select, textarea, meter, mark[role]")
        if control.is_displayed() and not control.accessible_name
    ]
    assert nameless == []
    stops = page.all(".document mark[tabindex='0']")
    assert len(stops) == 1
    stops[0].send_keys("\ue014")  # the right arrow
    second = page.all(".document mark")[1].get_property("textContent")
    assert browser.switch_to.active_element.get_property("textContent") == second
    browser.switch_to.active_element.send_keys("\ue007")  # enter
    page.wait(lambda: page.one("#reason").is_displayed())
    browser.switch_to.active_element.send_keys("\ue00c")  # escape
    page.wait(lambda: not page.one("#reason").is_displayed())
