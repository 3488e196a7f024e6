"""What an airport's manager does with the dashboard: `manager.py PART http://127.0.0.1:PORT`."""

import re
import sys

from visit import Visit, browser, visit

YEAR = "from=2008-01&to=2008-12"
# With fewer flights than in all months most delays aren't known.
ALL = "from=2000-01&to=2011-08"
IAH = f"?airport=IAH&{YEAR}"
MINUS = str.maketrans("−", "-")


def minutes(text):
    """The figures of minutes in a sentence."""
    return [float(found) for found in re.findall(r"(-?[\d.]+)\s*min", text.translate(MINUS))]


def latest_airline(here):
    """The airline with the longest mean delay here, by the API."""
    rows = here.ask(f"airlines?airport=IAH&{YEAR}")["airlines"]
    known = [row for row in rows if row["here"]["mean_delay_minutes"] is not None]
    return max(known, key=lambda row: row["here"]["mean_delay_minutes"])


def assert_answers(here):
    """Which airline is late at IAH in 2008, and whether that is usual: in one sentence."""
    row = latest_airline(here)
    said = here.text("#airlines .finding")
    assert f"({row['airline']})" in said, said
    own, other = row["here"]["mean_delay_minutes"], row["elsewhere"]["mean_delay_minutes"]
    assert [round(own, 1), round(other, 1)] == minutes(said)[:2], f"{said}: {own}, {other}"
    usual = "about as" if abs(own - other) < 2 else "more than" if own > other else "less than"
    assert usual in said and "elsewhere" in said, said


def story(started, server):
    """From the start page to a city pair, with the mouse, and back."""
    with visit(started, server) as here:
        page = here.page
        here.open()
        assert "How do" in here.text("h1")
        assert 10_000 < here.page_bytes() <= 200 << 10, f"the page has {here.page_bytes()} bytes"
        page.locator("#from").select_option("2008-01")
        here.shows(**{"from": "2008-01"})
        page.locator("#to").select_option("2008-12")
        here.shows(**{"from": "2008-01", "to": "2008-12", "airport": None})
        page.locator("#choose .link", has_text="IAH").click()
        here.shows(airport="IAH")
        assert here.text("h1") == "Flights from IAH"
        assert_answers(here)
        page.locator("#choose-late").click()
        here.shows(measure="late")
        assert page.locator("#choose-late").get_attribute("aria-pressed") == "true"
        page.locator("#series summary", has_text="table").click()
        page.locator("#series .link", has_text="March 2008").click()
        here.shows(**{"from": "2008-03", "to": "2008-03"})
        page.go_back()
        here.shows(**{"from": "2008-01", "to": "2008-12", "measure": "late"})
        worst = here.ask(f"pairs?airport=IAH&{YEAR}")["pairs"][0]["airport"]
        page.locator("#pairs .link", has_text=worst).first.click()
        here.shows(other=worst)
        assert here.focus().startswith("H2") and worst in here.text("#pair .finding")
        page.go_back()
        here.shows(other=None, airport="IAH")
        assert page.locator("#pair").is_hidden()
        page.go_forward()
        here.shows(other=worst)
        address = page.url
    # The address is all that somebody else needs.
    with visit(started, server) as there:
        there.page.goto(address)
        there.settle()
        assert worst in there.text("#pair .finding") and there.text("h1") == "Flights from IAH"


FOCUSABLE = "a[href], button, input, select, summary, [tabindex='0']"
# All that can have the focus, numbered, so that a test sees which had it.
NUMBERED = f"""[...document.querySelectorAll("{FOCUSABLE}")].filter((e) => e.checkVisibility() && !e.disabled)
    .map((e, number) => (e.dataset.stop = number, `${{e.tagName}} ${{e.id}} ${{e.innerText.slice(0, 30)}}`))"""
STOP = "[document.activeElement.dataset.stop, document.activeElement.matches(':focus-visible'), getComputedStyle(document.activeElement).outlineStyle]"


def tab_to(here, selector, times=400):
    for _ in range(times):
        if here.page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
        here.page.keyboard.press("Tab")
    raise AssertionError(f"Tab doesn't reach {selector} in {times} steps; the focus is at {here.focus()}")


def assert_all_reached(here):
    """Tab comes to each control once, in their order, and one sees where it is."""
    here.page.reload()
    here.settle()
    stops = here.page.evaluate(NUMBERED)
    reached = []
    for _ in range(len(stops) + 2):
        here.page.keyboard.press("Tab")
        stop, is_visible, outline = here.page.evaluate(STOP)
        if stop is None:
            break
        assert is_visible and outline != "none", f"no outline at {stops[int(stop)]}"
        reached.append(int(stop))
    assert reached == list(range(len(stops))), f"not reached: {[stops[i] for i in set(range(len(stops))) - set(reached)]}, in the order {reached}"


def keyboard(started, server):
    """The same without a mouse."""
    with visit(started, server) as here:
        press, write = here.page.keyboard.press, here.page.keyboard.type
        here.open()
        tab_to(here, "#airport")
        write("iah")
        press("Enter")
        here.shows(airport="IAH")
        # Letters choose in a list as they do everywhere; some browsers ask when the list is left.
        for field, text, month in (("from", "Jan 2008", "2008-01"), ("to", "Dec 2008", "2008-12")):
            tab_to(here, f"#{field}")
            write(text)
            press("Tab")
            here.shows(**{field: month})
        assert_answers(here)
        tab_to(here, "#series .plot")
        press("ArrowRight")
        assert "January 2008" in here.text("#series .tip")
        tab_to(here, "#map")
        press("ArrowUp")
        code = here.text("#map .tip strong").split()[0]
        press("Enter")
        here.shows(other=code)
        assert code in here.text("#pair .finding")
        tab_to(here, "#pair .link")
        press("Enter")
        here.shows(other=None)
        assert_all_reached(here)


def map_points(started, server):
    """The map has what the table has."""
    with visit(started, server) as here:
        page = here.page
        here.open(f"?airport=IAH&{ALL}")
        figures = {row["airport"]: row["figures"] for row in here.ask(f"pairs?airport=IAH&{ALL}")["pairs"]}
        points = page.locator("#map .point").evaluate_all(
            "(all) => all.map((e) => ({ code: e.dataset.airport, kind: e.classList[1], radius: Math.round(e.getBoundingClientRect().width * 10) }))")
        assert {point["code"] for point in points} == set(figures), "each airport has a point"
        assert len({point["kind"] for point in points}) > 4, "delays differ, and so do colours"
        radii = [point["radius"] for point in sorted(points, key=lambda point: figures[point["code"]]["flights"])]
        assert radii == sorted(radii) and radii[-1] > radii[0]
        for point in points:
            delay = figures[point["code"]]["mean_delay_minutes"]
            step = "unknown" if delay is None else f"step-{sum(delay >= limit for limit in (0, 5, 10, 15, 20))}"
            assert point["kind"] == step, f"{point}: {delay}"
        code = max(figures, key=lambda code: figures[code]["flights"])
        assert_hovered(here, code, figures[code])
        page.locator(f"#map [data-airport={code}]").click(force=True)
        here.shows(other=code)
        assert page.locator("#map .point.marked").get_attribute("data-airport") == code
        assert page.locator("#pairs tr.own th").text_content().startswith(code)
    with visit(started, server) as here:
        assert_absent_named(here)


def assert_hovered(here, code, figures):
    point = here.page.locator(f"#map [data-airport={code}]")
    point.hover(force=True)
    tip = here.text("#map .tip")
    assert code in tip and f"{figures['flights']:,} flights" in tip, tip
    here.page.locator("#pairs tbody tr").nth(1).hover()
    row = here.page.locator("#pairs tbody th").nth(1).inner_text().split()[0]
    assert here.page.locator("#map .point.marked").get_attribute("data-airport") == row
    here.page.mouse.move(0, 0)
    assert here.page.locator("#map .tip").is_hidden()


def assert_absent_named(here):
    """Airports of which the map doesn't know where they lie are said below it."""
    def answer(route):
        body = route.fetch().json()
        body["figures"]["pairs"][0]["airport"] = "0X0"
        route.fulfill(json=body)

    here.page.route("**/api/v1/pairs?*", answer)
    here.open(IAH)
    assert "0X0" in here.text("#not-on-map")
    assert here.page.locator("#map [data-airport='0X0']").count() == 0


DETAILS = "(open) => document.querySelectorAll('details').forEach((details) => (details.open = open))"


def assert_sound(here, where, query, with_axe):
    here.open(query)
    here.page.evaluate(DETAILS, True)
    here.assert_no_scroll(where)
    if with_axe:
        here.assert_accessible(where)
    here.page.evaluate(DETAILS, False)
    here.keep_picture(where)


def looks(started, server):
    """On a phone, a desk and a wall, light and dark: nothing is wider than the window, and axe's rules hold."""
    airport = f"{IAH}&other=ATL&measure=late"
    for width in (360, 1280, 3840):
        for theme in ("light", "dark"):
            with visit(started, server, width, theme) as here:
                assert_sound(here, f"airport-{width}-{theme}", airport, (width, theme) in ((360, "light"), (1280, "dark")))
    with visit(started, server, 360, "dark") as here:
        assert_sound(here, "start-360-dark", f"?airport=QQQ&{YEAR}", True)
        assert "QQQ has no flights" in here.text("#notices")


def sign_in(started, server):
    """A wrong token is refused, the right one leads to what was asked for."""
    with visit(started, server, 360, "dark") as here:
        page = here.page
        page.goto(f"{server}/{IAH}")
        here.assert_no_scroll("signing in")
        here.assert_accessible("signing in")
        page.locator("#token").fill("another-token-of-plain-letters")
        page.keyboard.press("Enter")
        here.until(lambda: "isn't the token" in here.text("body"), "a wrong token is refused")
        page.locator("#token").fill("a-token-of-27-plain-letters")
        page.keyboard.press("Enter")
        here.until(lambda: page.locator("#headline .card").count() == 5, "there are figures")
        here.shows(airport="IAH")
        # Browsers complain about pages with a status of 401 or 403, as the one on which one signs in has it.
        here.complaints = [said for said in here.complaints if "status of 40" not in said]


HIDDEN = """(hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def tabs(started, server):
    """A browser has six connections to a server; a tab that isn't seen has none of them, and asks again when it is seen."""
    with visit(started, server) as here:
        here.open(IAH)
        here.page.evaluate(HIDDEN, True)
        for _ in range(6):
            other = Visit(here.page.context.new_page(), server)
            other.open(IAH)
            other.page.evaluate(HIDDEN, True)
        followed = lambda: sum(request.url.endswith("/events") for request in here.requests)
        assert followed() == 1, followed()
        here.page.evaluate(HIDDEN, False)
        here.until(lambda: followed() == 2, "it follows the versions again")
        here.settle()


SOURCES = """const Source = EventSource;
    window.EventSource = class extends Source { constructor(address) { super(address); window.source = this; } };"""
NEWS = "window.source.dispatchEvent(new MessageEvent('version', { data: 'snapshot-0-of-another-table' }))"


def news(started, server):
    """When there are new data, folds that are open stay open, and the focus stays where it is."""
    with visit(started, server) as here:
        page = here.page
        page.add_init_script(SOURCES)
        here.open(f"{IAH}&other=ATL")
        for fold in ("#series .as-table", "#pairs .cost"):
            page.locator(f"{fold} summary").click()
        asked = lambda: sum(request.url.endswith("/overview") for request in here.requests)
        for place, name in (("#pairs .cost summary", "SUMMARY"), ("#series .as-table .link >> nth=2", "BUTTON"), ("#series .plot", "DIV"), ("#from", "SELECT from")):
            page.locator(place).focus()
            before, focus = asked(), here.focus()
            assert focus.startswith(name), focus
            page.evaluate(NEWS)
            here.until(lambda: asked() > before, "it asks again")
            here.settle()
            assert here.focus().startswith(name), f"the focus was at {focus} and is at {here.focus()}"
            opened = page.evaluate("[...document.querySelectorAll('details[open]')].map((e) => `${e.closest('section').id} ${e.className}`)")
            assert opened == ["series as-table", "pairs cost"], opened


def begun_again(started, server):
    """When the first question fails, trying again begins."""
    with visit(started, server) as here:
        page, overview = here.page, "**/api/v1/overview"
        again = page.get_by_role("button", name="Try again")
        page.route(overview, lambda route: route.abort())
        page.goto(f"{server}/{IAH}")
        asked = lambda: sum(request.url.endswith("/overview") for request in here.requests)
        # The version that it is told has it ask once more by itself.
        here.until(lambda: asked() >= 2 and again.count() == 1, "it can't begin")
        page.wait_for_timeout(500)
        page.unroute(overview)
        again.click()
        here.until(lambda: "flights" in here.text("#data-state"), "it says what there is")
        here.until(lambda: page.locator("#headline .card").count() == 5, "there are figures")
        here.complaints = [said for said in here.complaints if "ERR_FAILED" not in said]


PARTS = {part.__name__: part for part in (story, keyboard, map_points, tabs, news, begun_again, looks, sign_in)}

if __name__ == "__main__":
    name, address = sys.argv[1:]
    with browser() as chromium:
        PARTS[name](chromium, address)
