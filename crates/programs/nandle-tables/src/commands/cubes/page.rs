//! HTML report of a run.

use std::path::Path;

use nandle_report::{CubesClass, CubesPath, CubesReport, CubesTurning, cubes_html};
use nandle_terminal::{output, result_file};
use nandle_units::format_bytes;

use super::classes::{Class, classes_of};
use super::turning::Turning;
use super::words::sentences;
use super::{Cube, PathRuns, Report};
use crate::error::CliError;

pub(super) fn write(path: &Path, report: &Report) -> Result<(), CliError> {
    let page = cubes_html(&CubesReport {
        input: report.input.clone(),
        rows: report.rows,
        memory_bytes: report.memory_bytes,
        reads: report.reads.clone(),
        remarks: report.remarks.clone(),
        paths: report.paths.iter().map(|path| path_of(path, &report.turning)).collect(),
        turning: report.turning.iter().map(turning_of).collect(),
    });
    result_file::write(path, page.as_bytes())?;
    output::note(&format!("report: {}", path.display()));
    Ok(())
}

fn path_of(path: &PathRuns, turning: &[Turning]) -> CubesPath {
    let actual = |cube: &Cube| {
        let actual = cube.actual.as_ref()?;
        Some((actual.predicted.as_ref()?.value_s, actual.time_s))
    };
    let here = path.cubes.iter().map(|cube| cube.actual.as_ref().map(|actual| actual.time_s));
    let here: Option<f64> = here.sum();
    let total = |target: String| {
        let times = path.cubes.iter().map(|cube| cube.targets.get(&target).map(|played| played.time_s));
        let seconds: Option<f64> = times.sum();
        seconds.map(|seconds| (target, seconds))
    };
    let totals = here.map(|seconds| (HERE.to_owned(), seconds));
    CubesPath {
        name: path.path.clone(),
        sentences: sentences(path, turning),
        totals_s: totals.into_iter().chain(path.targets.iter().cloned().filter_map(total)).collect(),
        classes: classes_of(path).iter().map(class_of).collect(),
        predicted_and_actual_s: path.cubes.iter().filter_map(actual).collect(),
    }
}

fn turning_of(turning: &Turning) -> CubesTurning {
    let devices = turning.devices.iter().map(|device| {
        let times = device.times.iter().map(|time| (time.share_of_jumps, time.page_s));
        (device.target.clone(), times.collect())
    });
    let mut devices: Vec<_> = devices.collect();
    // The page describes the first device as the faster one beyond the turning point.
    let is_second = turning.faster_above.is_some()
        && turning.faster_above == devices.get(1).map(|device| device.0.clone());
    if is_second {
        devices.swap(0, 1);
    }
    CubesTurning {
        page: format_bytes(turning.page_bytes),
        pages: turning.pages,
        devices,
        turning_share: turning.turns_at_share,
    }
}

/// Label of the device with the table.
const HERE: &str = "here";

fn class_of(class: &Class) -> CubesClass {
    let partners = match class.partners {
        1 => "1 partner".to_owned(),
        partners => format!("{partners} partners"),
    };
    let name = format!("{:?} by {:?}, {partners}", class.fact, class.dimension).to_lowercase();
    let here = class.here_s.map(|seconds| (HERE.to_owned(), seconds));
    let targets = class.targets_s.iter().filter_map(|(target, seconds)| Some((target.clone(), (*seconds)?)));
    CubesClass {
        name,
        cubes: class.cubes,
        result_rows: class.result_rows,
        published_rows: class.published_rows.map(|rows| rows as f64),
        wanted_bytes: class.wanted_bytes,
        share_of_jumps: class.share_of_jumps,
        times_s: here.into_iter().chain(targets).collect(),
    }
}
