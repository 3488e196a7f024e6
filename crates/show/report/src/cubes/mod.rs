//! Page of the Dashboard paper's cubes: each class of cubes by access path and device.

mod turning;

pub use self::turning::CubesTurning;
use crate::figures::{Axis, Bar, Bars, Dots, Figure, Group, Scatter};
use crate::questions::{PageHeading, page, question};
use crate::text::{self, Quantity};

/// Run of the cubes.
#[derive(Debug, Clone, Default)]
pub struct CubesReport {
    /// Name of the table.
    pub input: String,
    /// Rows of the table.
    pub rows: u64,
    /// Memory for reading and counting, in bytes.
    pub memory_bytes: u64,
    /// Policy that turned the wanted ranges into requests.
    pub reads: String,
    /// Remarks for the reader, one sentence each.
    pub remarks: Vec<String>,
    /// Access paths.
    pub paths: Vec<CubesPath>,
    /// B-tree reads with an increasing share of jumps, by page size.
    pub turning: Vec<CubesTurning>,
}

/// Cubes read by one access path.
#[derive(Debug, Clone, Default)]
pub struct CubesPath {
    /// Name of the path.
    pub name: String,
    /// Remarks on the path, one sentence each.
    pub sentences: Vec<String>,
    /// Device names with the time of all cubes in seconds.
    pub totals_s: Vec<(String, f64)>,
    /// Means over the cubes of each class.
    pub classes: Vec<CubesClass>,
    /// Predicted and measured time in seconds of each cube that ran on this machine.
    pub predicted_and_actual_s: Vec<(f64, f64)>,
}

/// Class of cubes with one fact and the same number of partner dimensions.
#[derive(Debug, Clone, Default)]
pub struct CubesClass {
    /// Name of the class.
    pub name: String,
    /// Number of cubes.
    pub cubes: u64,
    /// Mean rows of a result.
    pub result_rows: f64,
    /// Rows that the paper reports.
    pub published_rows: Option<f64>,
    /// Mean bytes that a cube needs.
    pub wanted_bytes: f64,
    /// Share of a B-tree's leaves that don't follow the previous leaf.
    pub share_of_jumps: Option<f64>,
    /// Device names with the mean time of a cube in seconds.
    pub times_s: Vec<(String, f64)>,
}

/// Renders the report on a run of the cubes as a self-contained HTML document.
pub fn cubes_html(report: &CubesReport) -> String {
    let figures = |figure: Option<Figure>| figure.into_iter().collect();
    let mut of_devices =
        question("devices", "Which device is faster, and by which path?", figures(totals(report)));
    of_devices.remarks = sentences(report);
    let questions = vec![
        of_devices,
        question(
            "jumps",
            "At which share of jumps does the faster device change?",
            figures(turning::figure(&report.turning, &DeviceColours::of(report))),
        ),
        question("classes", "How long does a cube take?", figures(classes(report))),
        question("rows", "Are the results as large as the paper's?", figures(rows(report))),
        question("predicted", "Does a cube take as long as predicted?", figures(predicted(report))),
    ];
    let particulars = vec![
        ("Rows", text::plain(report.rows).to_string()),
        ("Memory", Quantity::size(report.memory_bytes).to_string()),
        ("Reads", report.reads.clone()),
    ];
    let (title, remarks) = (report.input.clone(), report.remarks.clone());
    page(&PageHeading { kicker: "Flight cubes", title, particulars, remarks }, questions)
}

fn sentences(report: &CubesReport) -> Vec<String> {
    let of_path =
        |path: &CubesPath| path.sentences.iter().map(|text| format!("{}: {text}", path.name)).collect();
    report.paths.iter().flat_map(|path| -> Vec<String> { of_path(path) }).collect()
}

fn time_text(seconds: f64) -> String {
    Quantity::time_ns(seconds * 1e9).to_string()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of lengths of files")]
fn whole_bytes(mean: f64) -> Quantity {
    Quantity::size(mean.round() as u64)
}

/// Bars of the total time by access path and device.
fn totals(report: &CubesReport) -> Option<Figure> {
    let kinds = DeviceColours::of(report);
    let group = |path: &CubesPath| {
        let bars = path.totals_s.iter().map(|(device, seconds)| kinds.bar(device, *seconds));
        Group { name: text::clean(&path.name), bars: bars.collect() }
    };
    let groups: Vec<Group> = report.paths.iter().map(group).filter(|group| !group.bars.is_empty()).collect();
    let extremes = |path: &CubesPath| -> Option<String> {
        let mut devices: Vec<_> = path.totals_s.iter().collect();
        devices.sort_by(|one, other| one.1.total_cmp(&other.1));
        let (fastest, others) = devices.split_first().filter(|(_, others)| !others.is_empty())?;
        let slower = |(device, seconds): &&(String, f64)| {
            format!("{} {} times that", text::clean(device), text::significant(seconds / fastest.1, 2))
        };
        let slower = others.iter().map(slower).collect::<Vec<_>>().join(", ");
        let (path, fast) = (text::clean(&path.name), text::clean(&fastest.0));
        Some(format!("By {path}, {fast} takes {}, {slower}.", time_text(fastest.1)))
    };
    let finding = report.paths.iter().filter_map(extremes).collect::<Vec<_>>().join(" ");
    bars(
        "totals",
        "All cubes",
        finding,
        "Time of all cubes one after the other, each from an idle device.",
        "Time",
        groups,
    )
}

/// Devices of a report. The position determines the colour, whichever path a device was used for.
struct DeviceColours<'a>(Vec<&'a str>);

impl<'a> DeviceColours<'a> {
    fn of(report: &'a CubesReport) -> Self {
        let mut devices: Vec<&str> = Vec::new();
        for (device, _) in report.paths.iter().flat_map(|path| &path.totals_s) {
            if !devices.contains(&device.as_str()) {
                devices.push(device);
            }
        }
        Self(devices)
    }

    fn bar(&self, device: &str, seconds: f64) -> Bar {
        let kind = self.of_device(device);
        Bar { label: text::clean(device), value: seconds, text: time_text(seconds), kind }
    }

    fn of_device(&self, device: &str) -> usize {
        self.0.iter().position(|one| *one == device).unwrap_or(self.0.len())
    }
}

/// Bars of the mean time by class and access path.
fn classes(report: &CubesReport) -> Option<Figure> {
    let kinds = DeviceColours::of(report);
    let of_path = |path: &CubesPath| -> Vec<Group> {
        let group = |class: &CubesClass| {
            let bars = class.times_s.iter().map(|(device, seconds)| kinds.bar(device, *seconds));
            let jumps = class
                .share_of_jumps
                .map(|share| format!(", {} % of the leaves jump", text::significant(100.0 * share, 4)));
            let wanted = whole_bytes(class.wanted_bytes);
            let name = format!("{}, {}: {wanted}{}", path.name, class.name, jumps.unwrap_or_default());
            Group { name: text::clean(&name), bars: bars.collect() }
        };
        path.classes.iter().map(group).collect()
    };
    let groups: Vec<Group> =
        report.paths.iter().flat_map(of_path).filter(|group| !group.bars.is_empty()).collect();
    let slowest = |path: &CubesPath| {
        let times = path.classes.iter().filter_map(|class| {
            let longest = class.times_s.iter().map(|(_, seconds)| *seconds).max_by(f64::total_cmp)?;
            Some((longest, class))
        });
        let (seconds, class) = times.max_by(|one, other| one.0.total_cmp(&other.0))?;
        Some(format!("By {}, {} takes longest, {}.", text::clean(&path.name), class.name, time_text(seconds)))
    };
    let finding = report.paths.iter().filter_map(slowest).collect::<Vec<_>>().join(" ");
    let note = "Means over the cubes of a fact, a dimension and a number of partners, with the \
        bytes that a cube needs. Each group has its own scale.";
    bars("each", "Classes of cubes", finding, note, "Time of a cube", groups)
}

/// Result rows compared with the published ones.
fn rows(report: &CubesReport) -> Option<Figure> {
    let path = report.paths.first()?;
    let classes: Vec<(&CubesClass, f64)> =
        path.classes.iter().filter_map(|class| Some((class, class.published_rows?))).collect();
    let group = |(class, published): &(&CubesClass, f64)| {
        let bar = |label: &str, rows: f64, kind| Bar {
            label: label.to_owned(),
            value: rows,
            text: text::grouped(&format!("{rows:.0}")),
            kind,
        };
        let bars = vec![bar("here", class.result_rows, 0), bar("published", *published, 1)];
        Group { name: class.name.clone(), bars }
    };
    let ratios = classes.iter().map(|(class, published)| class.result_rows / published);
    let (least, most) =
        ratios.fold((f64::INFINITY, 0.0_f64), |(least, most), ratio| (least.min(ratio), most.max(ratio)));
    let finding = format!(
        "Results have {} to {} times as many rows as the paper's.",
        text::significant(least, 2),
        text::significant(most, 2)
    );
    let note = "The paper's table has 70 million rows; smaller tables have smaller results.";
    bars("sizes", "Result rows", finding, note, "Rows", classes.iter().map(group).collect())
}

fn bars(
    id: &'static str,
    title: &'static str,
    finding: String,
    note: &str,
    quantity: &str,
    groups: Vec<Group>,
) -> Option<Figure> {
    let figure = Bars { id, title, finding, note: note.to_owned(), quantity: quantity.to_owned(), groups };
    (!figure.groups.is_empty()).then_some(Figure::Bars(figure))
}

/// Dots per line, enough to look continuous.
const LINE_DOTS: u32 = 100;

/// Predicted against measured time of each cube that ran on this machine.
fn predicted(report: &CubesReport) -> Option<Figure> {
    let runs: Vec<(f64, f64)> =
        report.paths.iter().flat_map(|path| &path.predicted_and_actual_s).copied().collect();
    let mut errors: Vec<f64> =
        runs.iter().map(|(predicted, actual)| (predicted / actual - 1.0).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let quantile = |part: usize| errors.get((errors.len() * part / 10).min(errors.len().saturating_sub(1)));
    let (median, most) = (quantile(5)?, quantile(9)?);
    let greatest = runs.iter().map(|(one, other)| one.max(*other)).fold(0.0, f64::max);
    let percent = |error: f64| text::significant(100.0 * error, 2);
    let on_line = (0..=LINE_DOTS).map(|dot| greatest * f64::from(dot) / f64::from(LINE_DOTS));
    let points = on_line.map(|seconds| (seconds, seconds)).collect();
    let line = Dots { label: "as predicted".to_owned(), kind: 1, points };
    let cubes = Dots { label: "cubes".to_owned(), kind: 0, points: runs };
    Some(Figure::Scatter(Scatter {
        id: "accuracy",
        title: "Predicted and actual time".to_owned(),
        finding: format!(
            "Half of the predictions are within {} % of a cube's time, nine in ten within {} %.",
            percent(*median),
            percent(*most)
        ),
        note: "Runs on this machine, bypassing the page cache. Predictions include the processor \
            time of the run's steps."
            .to_owned(),
        x: Axis::to("predicted, s".to_owned(), greatest),
        y: Axis::to("actual, s".to_owned(), greatest),
        dots: vec![line, cubes],
        marks: Vec::new(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> CubesReport {
        let class = |name: &str, seconds: f64| CubesClass {
            name: name.to_owned(),
            cubes: 2,
            result_rows: 50.0,
            published_rows: Some(100.0),
            wanted_bytes: 1e6,
            share_of_jumps: Some(0.01),
            times_s: vec![("ssd<b>".to_owned(), seconds), ("array".to_owned(), 2.0 * seconds)],
        };
        let path = CubesPath {
            name: "btree grown".to_owned(),
            sentences: vec!["C41 holds.".to_owned()],
            totals_s: vec![("ssd<b>".to_owned(), 3.0), ("array".to_owned(), 6.0)],
            classes: vec![class("delay by airline", 1.0), class("delay by month", 2.0)],
            predicted_and_actual_s: vec![(1.0, 1.1), (2.0, 2.0), (1.0, 2.0)],
        };
        let turning = CubesTurning {
            page: "8KiB".to_owned(),
            pages: 20_000,
            devices: vec![
                ("ssd<b>".to_owned(), vec![(0.0, 2e-5), (0.01, 2e-5), (1.0, 2e-4)]),
                ("array".to_owned(), vec![(0.0, 1e-5), (0.01, 3e-5), (1.0, 4e-3)]),
            ],
            turning_share: Some(0.0051),
        };
        let (paths, turning) = (vec![path], vec![turning]);
        CubesReport { input: "flights".to_owned(), rows: 1000, paths, turning, ..CubesReport::default() }
    }

    #[test]
    fn page_shows_paths_devices_and_classes() {
        let page = cubes_html(&report());
        for text in [
            "array 2.0 times that",
            "C41 holds",
            "delay by month takes longest, 4.0",
            "0.50 to 0.50 times",
            "within 50 %",
            "of the leaves",
            "array is faster up to 0.51 % of jumps",
        ] {
            assert!(page.contains(text), "{text}");
        }
        assert!(!page.contains("ssd<b>"), "names are no markup");
    }

    #[test]
    fn empty_report_has_no_figures() {
        let page = cubes_html(&CubesReport::default());
        assert!(!page.contains("id=\"totals\"") && !page.contains("id=\"accuracy\""));
    }
}
