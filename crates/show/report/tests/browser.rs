//! Tests of the report in a real browser: no script errors, all curves drawn, nothing cut off. They
//! cover both themes, a wide screen, a phone and paper. `NANDLE_SCREENSHOTS=FOLDER` saves
//! screenshots.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

mod chromium;
mod made_up;

use std::path::PathBuf;

use chromium::{Chromium, Page, Theme, skipped};
use nandle_profile::DeviceProfile;
use nandle_report::TraceReport;
use nandle_trace::{Operation, Record, Statistics};
use serde_json::Value;
use tempfile::TempDir;

const WIDTHS: [u32; 2] = [1280, 360];
const THEMES: [Theme; 2] = [Theme::Light, Theme::Dark];

/// Report on disk, open in a page.
struct Visit {
    folder: TempDir,
    file: PathBuf,
    page: Page,
    /// Dropped last.
    _browser: Chromium,
}

impl Visit {
    fn to(profiles: &[DeviceProfile]) -> Self {
        Self::to_page(&nandle_report::html(profiles).unwrap())
    }

    fn to_page(html: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.html");
        std::fs::write(&file, html).unwrap();
        let browser = Chromium::start();
        let page = browser.page(folder.path());
        Self { folder, file, page, _browser: browser }
    }

    /// Checks the page at every width and theme; `plots` is the number of plots to be drawn.
    fn inspect(&mut self, name: &str, plots: usize) {
        for width in WIDTHS {
            for theme in THEMES {
                let place = format!("{name}-{width}-{theme:?}").to_lowercase();
                self.page.load(&self.file, width, theme);
                let folded = self.page.evaluate("inspection.all()");
                self.page.screenshot(&place);
                assert_eq!(folded["cutOff"], Value::Array(Vec::new()), "{place}: cut off while folded");
                let scrolled = "[...document.querySelectorAll('.changes .scroll, .load-figures .scroll')].filter((box) => box.scrollWidth > box.clientWidth + 1).length";
                assert_eq!(self.page.evaluate(scrolled), 0, "{place}: tables of the verdict that scroll");
                self.page.evaluate("inspection.openFolds()");
                let found = self.page.evaluate("inspection.all()");
                self.page.screenshot(&format!("{place}-open"));
                assert_sound(&found, &place, plots);
                assert_unfolds(&mut self.page, &place, plots);
                let complaints = self.page.complaints();
                assert!(complaints.is_empty(), "{place}: {complaints:#?}");
            }
        }
    }
}

/// Opens every table and tooltip; nothing may be cut off.
fn assert_unfolds(page: &mut Page, place: &str, plots: usize) {
    let found = page.evaluate("inspection.unfolded()");
    page.screenshot(&format!("{place}-unfolded"));
    assert_eq!(found["cutOff"], Value::Array(Vec::new()), "{place}: cut off when unfolded");
    assert_eq!(found["tips"], plots, "{place}: plots that show the figures at a position");
}

fn assert_sound(found: &Value, place: &str, plots: usize) {
    let none = Value::Array(Vec::new());
    assert_eq!(found["cutOff"], none, "{place}: cut off");
    assert_eq!(found["lowContrast"], none, "{place}: too little contrast");
    assert_eq!(found["tables"]["faults"], none, "{place}: bars and maps");
    assert_eq!(found["headings"]["tops"], 1, "{place}: one h1");
    assert_eq!(found["headings"]["jumps"], none, "{place}: heading levels jump");
    let drawn = found["plots"].as_array().unwrap();
    assert_eq!(drawn.len(), plots, "{place}: plots with a canvas");
    for plot in drawn {
        assert_eq!(plot["missing"], none, "{place}: curves not drawn: {plot}");
        assert_ne!(plot["curves"], 0, "{place}: no curve is shown: {plot}");
        assert!(plot["texts"]["count"].as_u64() >= Some(5), "{place}: axes without labels: {plot}");
        assert_eq!(plot["texts"]["clipped"], none, "{place}: clipped labels: {plot}");
        assert_eq!(plot["texts"]["overlapping"], none, "{place}: overlapping labels: {plot}");
        assert!(
            plot["width"].as_f64() > Some(0.8 * plot["room"].as_f64().unwrap()),
            "{place}: narrow plot: {plot}"
        );
    }
}

#[test]
fn one_device_is_drawn_completely() {
    if skipped("one_device_is_drawn_whole") {
        return;
    }
    Visit::to(&[made_up::fast()]).inspect("one", 7);
}

/// Verdict, key figures and the titles of all other sections fit on three screens. Mouse and
/// keyboard open the sections.
#[test]
fn one_minute_verdict_fits_on_three_screens() {
    const SCREENS_HIGH: u64 = 3 * 800;
    if skipped("the_verdict_of_a_minutes_probe_fits_three_screens") {
        return;
    }
    let mut visit = Visit::to(&[made_up::fast()]);
    visit.page.load(&visit.file, 1280, Theme::Light);
    let high = visit.page.evaluate("document.scrollingElement.scrollHeight").as_u64().unwrap();
    assert!(high <= SCREENS_HIGH, "{high} pixels");
    let open = "document.querySelectorAll('.fold > details[open]').length";
    assert_eq!(visit.page.evaluate(open), 0, "all else is folded");
    let reached =
        "[...document.querySelectorAll('.fold summary')].every((summary) => summary.tabIndex === 0)";
    assert_eq!(visit.page.evaluate(reached), true, "the keyboard reaches each title");
    visit.page.evaluate("document.querySelector('#reading summary').click()");
    let plots = visit.page.evaluate("inspection.all()")["plots"].clone();
    assert!(
        plots.as_array().unwrap().iter().all(|plot| plot["missing"] == Value::Array(Vec::new())),
        "{plots}"
    );
    visit.page.evaluate("location.hash = '#cells'; inspection.drawn()");
    assert_eq!(visit.page.evaluate(open), 2, "a link to a section opens it");
}

#[test]
fn several_devices_are_drawn_completely() {
    if skipped("several_devices_are_drawn_whole") {
        return;
    }
    let profiles = Vec::from_iter(
        [made_up::fast, made_up::volume, made_up::sata, made_up::partial].map(|made_up| made_up()),
    );
    Visit::to(&profiles).inspect("several", 7);
}

#[test]
fn every_experiment_is_drawn_completely() {
    if skipped("every_experiment_is_drawn_whole") {
        return;
    }
    let mut visit = Visit::to(&[made_up::written()]);
    visit.inspect("written", 17);
    let tables = visit.page.evaluate("inspection.all()")["tables"].clone();
    assert_eq!((&tables["bars"], &tables["maps"]), (&Value::from(8), &Value::from(1)));
    assert_eq!(
        visit.page.evaluate("document.querySelectorAll('.missed').length"),
        3,
        "missed cells are marked"
    );
    let several: Vec<_> =
        [made_up::written, made_up::fast, made_up::written].iter().map(|make| make()).collect();
    Visit::to(&several).inspect("written-several", 12);
}

#[test]
fn replay_is_drawn_completely() {
    if skipped("a_replay_is_drawn_whole") {
        return;
    }
    let mut visit = Visit::to_page(&nandle_report::replay_html(&made_up::replay_file()));
    visit.inspect("replay", 5);
    assert_eq!(visit.page.evaluate("inspection.all()")["tables"]["bars"], 7);
}

#[test]
fn workloads_are_drawn_completely() {
    if skipped("workloads_are_drawn_whole") {
        return;
    }
    Visit::to_page(&nandle_report::workload_html(&made_up::workload_file())).inspect("workload", 0);
    Visit::to_page(&nandle_report::place_html(&made_up::place_file())).inspect("place", 2);
}

#[test]
fn trace_is_drawn_completely() {
    if skipped("a_trace_is_drawn_whole") {
        return;
    }
    let mut statistics = Statistics::new(4096);
    for step in 0..40_000_u64 {
        let page = if step % 3 == 0 { step * 7919 % 997 } else { step * 104_729 % 65_536 };
        statistics
            .add(Record {
                time_us: step * 50,
                operation: Operation::Write,
                address: page * 4096,
                length_bytes: 8192,
                latency_ns: None,
            })
            .unwrap();
    }
    let statistics = statistics.finish();
    let report = TraceReport {
        trace: "made-up.csv.zst",
        format: "csv",
        bad_lines: 1,
        meaning: "It writes.",
        statistics: &statistics,
    };
    let mut visit = Visit::to_page(&nandle_report::trace_html(&report));
    visit.inspect("trace", 5);
    assert_eq!(visit.page.evaluate("inspection.all()")["tables"]["bars"], 1);
}

#[test]
fn partial_profile_has_no_plot_and_no_error() {
    if skipped("a_partial_profile_has_no_plot_and_no_error") {
        return;
    }
    Visit::to(&[made_up::partial()]).inspect("partial", 0);
}

#[test]
fn single_odd_cell_has_labelled_axes() {
    if skipped("a_single_odd_cell_has_axes_with_labels") {
        return;
    }
    let mut visit = Visit::to(&[made_up::with_random_reads(&[(12 << 10, 24, 1e8)])]);
    visit.inspect("sparse", 3);
    let text = visit.page.evaluate("inspection.axes()").to_string();
    assert!(text.contains("\"8KiB\"") && text.contains("\"16\""), "{text}");
}

#[test]
fn hostile_names_stay_text() {
    if skipped("hostile_names_stay_text") {
        return;
    }
    let mut visit = Visit::to(&[made_up::hostile()]);
    visit.inspect("hostile", 7);
    let elements = visit.page.evaluate("document.querySelectorAll('body b, body img, body i').length");
    assert_eq!(elements, 0, "markup from a name became an element");
    assert_ne!(visit.page.evaluate("document.title"), "broken");
    Visit::to(&[made_up::hostile(), made_up::volume()]).inspect("hostile-several", 7);
}

#[test]
fn the_reader_can_choose_hide_step_and_download() {
    if skipped("the_reader_can_choose_hide_step_and_download") {
        return;
    }
    let profile = made_up::fast();
    let mut visit = Visit::to(std::slice::from_ref(&profile));
    visit.page.load(&visit.file, 1280, Theme::Light);
    visit.page.evaluate("inspection.openFolds()");
    choose_hide_and_step(&mut visit.page);
    // An invalid fragment in the address must do no harm.
    visit.page.evaluate("location.hash = '#%'; inspection.drawn()");
    visit.page.evaluate("document.querySelector('[data-download]').click()");
    visit.page.wait_for("Browser.downloadWillBegin");
    let file = visit.folder.path().join("made-up-nvme-3200-test-fixture.profile.json");
    let downloaded = wait_for_profile(&mut visit.page, &file);
    // Compared as text, because parsed floats may differ in the last bit.
    assert_eq!(downloaded, serde_json::to_string_pretty(&profile).unwrap());
    assert!(visit.page.complaints().is_empty());
}

fn choose_hide_and_step(page: &mut Page) {
    let figure = "const figure = document.getElementById('random-against-sequential');";
    let shown = page.evaluate(&format!(
        "{{ {figure} const select = figure.querySelector('select'); select.value = '0';
            select.dispatchEvent(new Event('change'));
            [...figure.querySelectorAll('[data-view]')].filter((table) => !table.hidden).map((table) => table.dataset.view).join() }}"
    ));
    assert_eq!(shown, "0", "the table of the chosen view, and no other, is shown");
    let pressed = page.evaluate(&format!(
        "{{ {figure} const key = figure.querySelector('.key'); key.click(); key.ariaPressed }}"
    ));
    assert_eq!(pressed, "false");
    let left = page.evaluate("inspection.all()");
    let plot =
        left["plots"].as_array().unwrap().iter().find(|plot| plot["id"] == "random-against-sequential");
    assert_eq!(plot.unwrap()["curves"], 1);
    let tip = page.evaluate(&format!(
        "{{ {figure} const box = figure.querySelector('.canvas'); box.focus();
            box.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'ArrowRight', bubbles: true }}));
            inspection.drawn().then(() => {{ const tip = figure.querySelector('.tip'); return tip.hidden ? '' : tip.innerText; }}) }}"
    ));
    let tip = tip.as_str().unwrap();
    assert!(
        tip.contains("4KiB") && tip.contains("B/s"),
        "arrow keys show the figures at a position, got {tip:?}"
    );
}

fn wait_for_profile(page: &mut Page, file: &std::path::Path) -> String {
    for _ in 0..100 {
        if nandle_profile::read_profile(file).is_ok() {
            return std::fs::read_to_string(file).unwrap();
        }
        page.evaluate("new Promise((done) => setTimeout(done, 50))");
    }
    panic!("no profile was downloaded to {}", file.display());
}

#[test]
fn page_prints_in_light_theme_and_recovers() {
    if skipped("it_prints_light_and_comes_back") {
        return;
    }
    let mut visit = Visit::to(&[made_up::fast()]);
    visit.page.load(&visit.file, 1280, Theme::Dark);
    let watch = "addEventListener('beforeprint', () => { window.printed = getComputedStyle(document.documentElement).getPropertyValue('--card').trim(); window.shut = document.querySelectorAll('.fold > details:not([open])').length })";
    visit.page.evaluate(watch);
    let pdf = visit.page.print("print");
    assert!(pdf.starts_with(b"%PDF") && pdf.len() > 50_000, "{} bytes", pdf.len());
    assert_eq!(
        visit.page.evaluate("window.printed"),
        "#ffffff",
        "plots are redrawn in light colours for paper"
    );
    assert_eq!(visit.page.evaluate("window.shut"), 0, "everything is open on paper");
    let open = "document.querySelectorAll('.fold > details[open]').length";
    assert_eq!(visit.page.evaluate(open), 0, "what was opened for paper is folded again");
    visit.page.evaluate("inspection.openFolds()");
    let found = visit.page.evaluate("inspection.all()");
    assert_eq!(
        visit.page.evaluate("document.documentElement.className"),
        "",
        "the screen's colours are back"
    );
    assert_sound(&found, "after printing", 7);
}

#[test]
fn theme_and_width_may_change_while_the_page_is_open() {
    if skipped("the_theme_and_the_width_may_change_while_it_is_open") {
        return;
    }
    let mut visit = Visit::to(&[made_up::fast()]);
    visit.page.load(&visit.file, 1280, Theme::Light);
    visit.page.evaluate("inspection.openFolds()");
    visit.page.prefer(Theme::Dark);
    visit.page.resize(360);
    let found = visit.page.evaluate("inspection.all()");
    assert_sound(&found, "changed while open", 7);
}
