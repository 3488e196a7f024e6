"""A browser at the dashboard: Debian's Chromium, driven by Playwright, and what it complains about."""

import json
import os
import shutil
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

try:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright
except ImportError as error:
    raise SystemExit(f"{error}: `cargo xtask test` makes a Python with playwright and axe-playwright-python; NANDLE_PYARROW may name another")

NAMES = ["chromium", "chromium-browser", "google-chrome"]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update"]
# So long nothing takes that works, also where everything is compiled for debugging and other tests run.
PATIENCE_S = 60
IDLE = "document.getElementById('main').ariaBusy === 'false'"
WIDEST = "document.scrollingElement.scrollWidth"


def chromium():
    named = os.environ.get("NANDLE_BROWSER")
    found = named or next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        raise SystemExit(f"no browser found: one of {NAMES} must be in PATH, or its path in NANDLE_BROWSER. On Debian: apt-get install chromium. To go without: NANDLE_SKIP_BROWSER=1.")
    return found


class Visit:
    """A page of a browser, at an address below the server's."""

    def __init__(self, page, server):
        self.page, self.server = page, server
        self.complaints, self.requests, self.refusals = [], [], []
        page.set_default_timeout(PATIENCE_S * 1000)
        page.on("console", lambda said: said.type in ("error", "warning") and self.complaints.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))
        page.on("request", lambda request: self.requests.append(request))
        page.on("response", lambda answer: answer.status >= 400 and self.refusals.append(f"{answer.status}: {answer.url}"))

    def open(self, query=""):
        self.page.goto(f"{self.server}/{query}")
        self.settle()

    def settle(self):
        """Waits until nothing is asked any more."""
        self.until(lambda: self.page.evaluate(IDLE), "all sections have their figures")

    def until(self, holds, what):
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, f"waited {PATIENCE_S} s until {what}; the page is at {self.page.url}: {self.page.locator('body').inner_text()[:2000]}"
            self.page.wait_for_timeout(50)

    def shows(self, **parts):
        """Waits until the address says this; None stands for nothing."""
        said = lambda: self.page.evaluate("Object.fromEntries(new URLSearchParams(location.search))")
        self.until(lambda: all(said().get(key) == value for key, value in parts.items()), f"the address says {parts}")
        self.settle()

    def text(self, selector):
        return self.page.locator(selector).first.inner_text()

    def focus(self):
        """What has the focus, in a few words."""
        return self.page.evaluate("((e) => `${e.tagName} ${e.id} ${e.ariaLabel ?? e.innerText ?? ''}`.slice(0, 80))(document.activeElement)")

    def ask(self, question):
        """The figures of the API."""
        with urllib.request.urlopen(f"{self.server}/api/v1/{question}") as answer:
            return json.load(answer)["figures"]

    def keep_picture(self, name):
        """The whole page, where NANDLE_SCREENSHOTS names a folder for it."""
        if folder := os.environ.get("NANDLE_SCREENSHOTS"):
            self.page.screenshot(path=Path(folder) / f"dashboard-{name}.png", full_page=True)

    def assert_accessible(self, where):
        found = Axe().run(self.page).response["violations"]
        told = [f"{rule['id']} ({rule['help']}): " + "; ".join(node["html"][:200] for node in rule["nodes"][:3]) for rule in found]
        assert not told, f"{where}: axe finds {told}"

    def assert_no_scroll(self, where):
        width, widest = self.page.viewport_size["width"], self.page.evaluate(WIDEST)
        assert widest <= width, f"{where}: the page is {widest} wide in a window of {width}"

    def page_bytes(self):
        """What the page's own files took on their way, compressed."""
        files = [request for request in self.requests if request.url.startswith(self.server) and "/api/" not in request.url]
        return sum(request.sizes()["responseBodySize"] for request in files)

    def assert_calm(self):
        """No complaint, and no request to anywhere else."""
        elsewhere = [request.url for request in self.requests if not request.url.startswith((f"{self.server}/", "data:"))]
        assert not elsewhere, f"requests to {elsewhere}"
        assert not self.complaints, f"the browser says {self.complaints}; refused were {self.refusals}"


@contextmanager
def browser():
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=FLAGS, timeout=PATIENCE_S * 1000)
        try:
            yield started
        finally:
            started.close()


@contextmanager
def visit(started, server, width=1280, theme="light"):
    """A page of its own, without complaints at its end."""
    context = started.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce")
    try:
        made = Visit(context.new_page(), server)
        yield made
        made.assert_calm()
    finally:
        context.close()
