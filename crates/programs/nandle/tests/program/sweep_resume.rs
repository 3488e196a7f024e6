use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{MIB, ONE_CELL, Place, Running};

const SWEEP: &str = "sweep . --file-size 8MiB --patterns random,sequential --block-sizes 4KiB,16KiB,64KiB \
                     --queue-depths 4 --time-per-run 300ms";
const CELLS: usize = 6;

fn cells_in(place: &Place, name: &str) -> usize {
    let Ok(text) = fs::read_to_string(place.path(name)) else { return 0 };
    match serde_json::from_str::<Value>(&text) {
        Ok(file) => file["cells"].as_array().unwrap().len(),
        Err(_) => text.lines().count().saturating_sub(1),
    }
}

/// A sweep with some cells measured.
fn half_way(place: &Place, output: &str) -> Running {
    let running = place.start(&format!("{SWEEP} --output {output}"));
    running.wait_until("two cells are kept", || cells_in(place, output) >= 2);
    running
}

#[test]
fn an_interrupted_sweep_keeps_its_cells_and_goes_on_from_there() {
    let place = Place::new();
    let outcome = half_way(&place, "cells.json").end_after(Signal::INT);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    let before = place.json("cells.json");
    let kept = before["cells"].as_array().unwrap().clone();
    assert!(kept.len() >= 2 && kept.len() < CELLS, "{}", kept.len());
    assert_eq!(before["complete"], false);
    assert_eq!(outcome.rows().len(), kept.len(), "what was measured is printed too");
    let outcome = outcome.says(&["interrupted after", "of 6 cells", "--resume cells.json"]);
    assert!(outcome.stderr.contains(&format!("after {} of", kept.len())), "{}", outcome.stderr);
    let resumed = place.nandle(&format!("{SWEEP} --resume cells.json")).done();
    assert_eq!(resumed.rows().len(), CELLS);
    let after = place.json("cells.json");
    assert_eq!(after["complete"], true);
    assert_eq!(after["cells"].as_array().unwrap()[..kept.len()], kept, "nothing is measured twice");
    assert_eq!(place.names(), ["cells.json"]);
}

/// The command to resume quotes the file's name for a shell.
#[test]
fn a_name_that_is_no_text_is_no_trouble_to_a_sweep() {
    let place = Place::new();
    let name = OsStr::from_bytes(b"cells\xff.json");
    let mut command = place.command(SWEEP);
    command.arg("--output").arg(name).stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = Running::new(command.spawn().unwrap());
    running.wait_until("a cell is kept", || place.path("").join(name).exists());
    let outcome = running.end_after(Signal::INT);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    outcome.says(&[r"--resume $'cells\377.json'"]);
}

#[test]
fn a_resumed_sweep_that_is_interrupted_counts_all_its_cells() {
    let place = Place::new();
    let outcome = half_way(&place, "cells.csv").end_after(Signal::TERM);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    let kept = cells_in(&place, "cells.csv");
    let running = place.start(&format!("{SWEEP} --resume cells.csv"));
    running.wait_until("one more cell is kept", || cells_in(&place, "cells.csv") > kept);
    let outcome = running.end_after(Signal::INT);
    let after = cells_in(&place, "cells.csv");
    outcome.says(&[&format!("interrupted after {after} of 6 cells")]);
    place.nandle(&format!("{SWEEP} --resume cells.csv")).done();
    assert_eq!(cells_in(&place, "cells.csv"), CELLS);
}

#[test]
fn a_finished_sweep_has_nothing_left_to_do() {
    let place = Place::new();
    for output in ["cells.json", "cells.csv"] {
        let sweep = format!("sweep . {ONE_CELL}");
        place.nandle(&format!("{sweep} --output {output}")).done();
        let before = place.read(output);
        let began = std::time::Instant::now();
        let again = place.nandle(&format!("{sweep} --resume {output}")).done();
        assert_eq!(again.rows().len(), 1);
        assert_eq!(place.read(output), before);
        assert!(began.elapsed().as_secs() < 2);
    }
}

#[test]
fn a_larger_sweep_adds_to_the_cells_of_a_smaller_one() {
    let place = Place::new();
    let sweep = "sweep . --file-size 4MiB --patterns random --queue-depths 1 --bytes-per-run 64KiB";
    place.nandle(&format!("{sweep} --block-sizes 4KiB --output a.csv")).done();
    let outcome =
        place.nandle(&format!("{sweep} --block-sizes 4KiB,8KiB --resume a.csv --output b.csv")).done();
    assert_eq!(outcome.rows().len(), 2);
    assert_eq!((cells_in(&place, "a.csv"), cells_in(&place, "b.csv")), (1, 2), "the file resumed from stays");
}

#[test]
fn a_file_that_is_not_there_yet_is_begun_and_that_is_said() {
    let place = Place::new();
    place.nandle(&format!("sweep . {ONE_CELL} --resume new.csv")).done().says(&["new.csv", "not there yet"]);
    assert_eq!(cells_in(&place, "new.csv"), 1);
}

#[test]
fn what_is_no_sweep_is_not_resumed_and_not_overwritten() {
    let place = Place::new();
    for (name, contents) in [
        ("damaged.json", "{\"schema_version\": 1, \"cells\": ["),
        ("other.json", "{\"schema_version\": 1}"),
        ("list.csv", "name,age\nAda,36\n"),
        ("damaged.csv", "target,backend,direct,file_bytes,pattern\n.,io_uring"),
        ("notes.csv", "these are my notes\n"),
    ] {
        place.write(name, contents);
        let outcome = place.nandle(&format!("sweep . {ONE_CELL} --resume {name}"));
        outcome.refused(1, &[name, "not a sweep that can be resumed", "--output"]);
        assert_eq!(place.read(name), contents.as_bytes());
    }
}

#[test]
fn another_targets_sweep_is_not_gone_on_with() {
    let place = Place::new();
    place.write_noise("data", 4 * MIB);
    for output in ["cells.json", "cells.csv"] {
        place.nandle(&format!("sweep . {ONE_CELL} --output {output}")).done();
        let before = place.read(output);
        let resume = |target: &str, options: &str| {
            let cells = "--patterns random --block-sizes 4KiB --queue-depths 1 --bytes-per-run 64KiB";
            place.nandle(&format!("sweep {target} {cells} {options} --resume {output}"))
        };
        resume("data", "").refused(1, &[output, &format!("its target is {}", place.name()), "data"]);
        resume(".", "--file-size 8MiB").refused(1, &[output, "its file size is 4MiB", "8MiB"]);
        resume(".", "--file-size 4MiB --buffered")
            .refused(1, &[output, "its access is direct I/O", "buffered I/O"]);
        assert_eq!(place.read(output), before);
    }
}
