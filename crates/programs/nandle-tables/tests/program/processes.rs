//! Several processes on one table.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Outcome, Place, leftovers, sound_rows};

#[test]
fn of_two_writers_at_once_one_is_refused_or_both_come_in_turn() {
    let place = Place::new();
    place.generate("t", 1000);
    place.run("table generate --rows 500 --parquet files").done();
    let table = place.path("t");
    for _ in 0..10 {
        let before = sound_rows(&table).len();
        let spawn = || {
            let mut command = place.command("table load t files/flights-500-1.parquet");
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let writers = [spawn(), spawn()];
        let outcomes = writers.map(|child| Outcome::from(child.wait_with_output().unwrap()));
        let mut loaded = 0;
        for outcome in outcomes {
            if outcome.code == Some(0) {
                loaded += 1;
            } else {
                outcome.refused(1, &["t: ", "another process writes", "LOCK"]);
            }
        }
        assert!(loaded > 0, "one of them has the lock");
        assert_eq!(sound_rows(&table).len(), before + 500 * loaded);
        assert_eq!(leftovers(&table), [""; 0]);
    }
}

#[test]
fn a_reader_keeps_its_snapshot_while_others_write() {
    let place = Place::new();
    place.generate("t", 30_000);
    place.run("table generate --rows 500 --parquet files").done();
    let line = "scan t --columns Origin,Dest,FlightDate,ArrDelay --format csv";
    let expected = place.run(line).done().stdout;
    assert!(expected.len() > 300_000, "a pipe takes less, so that the reader waits");
    let mut reader = place.command(line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = BufReader::with_capacity(1, reader.stdout.take().unwrap());
    let mut got = String::new();
    // It has its rows now.
    stdout.read_line(&mut got).unwrap();
    let files = place.parquet_files("t");
    place.run("table load t files/flights-500-1.parquet --replace Month").done();
    place.run("table compact t").done();
    place.run("table load t files/flights-500-1.parquet").done();
    let is_waiting = reader.try_wait().unwrap().is_none();
    assert!(is_waiting && files.iter().all(|file| file.exists()), "a reader's files stay");
    stdout.read_to_string(&mut got).unwrap();
    assert!(reader.wait().unwrap().success() && got == expected);
    place.run("table compact t").done();
    assert_eq!(leftovers(&place.path("t")), [""; 0]);
    assert!(files.iter().all(|file| !file.exists()));
}

/// Long work ends soon after Ctrl-C, and leaves only the table.
#[test]
fn interrupted_work_leaves_the_table_as_it_was() {
    let place = Place::new();
    place.generate("t", 300_000);
    let before = sound_rows(&place.path("t"));
    let lines =
        ["table compact t --always --memory 1MiB", "table project t Origin,Dest,ArrDelay --memory 1MiB"];
    for line in lines {
        interrupt_in_the_middle(&place, line, || {})
            .refused(130, &["t: interrupted; the table is as it was"]);
        assert_eq!(leftovers(&place.path("t")), [""; 0], "{line}");
    }
    assert_eq!(sound_rows(&place.path("t")), before);
}

#[test]
fn an_interrupted_adoption_makes_no_table() {
    let place = Place::new();
    place.run("table generate --rows 300000 --parquet files").done();
    let line = format!("table adopt t{}", " files/flights-300000-1.parquet".repeat(150));
    let table = place.path("t");
    let gone = || std::fs::remove_dir_all(&table).unwrap();
    interrupt_in_the_middle(&place, &line, gone).refused(130, &["t: interrupted; no table was made"]);
    assert!(!table.exists());
    std::fs::create_dir(&table).unwrap();
    let emptied = || {
        gone();
        std::fs::create_dir(&table).unwrap();
    };
    interrupt_in_the_middle(&place, &line, emptied).refused(130, &["t: interrupted; no table was made"]);
    let left = std::fs::read_dir(&table).unwrap().count();
    assert_eq!(left, 0, "it was there before, and is empty again");
    place.run("table adopt t files/flights-300000-1.parquet --profile disk.json").done();
    assert_eq!(leftovers(&table), [""; 0]);
}

/// Finds a moment at which the program already handles Ctrl-C and is still working. `again` undoes
/// a run that finished too early.
fn interrupt_in_the_middle(place: &Place, line: &str, again: impl Fn()) -> Outcome {
    let mut wait = Duration::from_millis(300);
    for _ in 0..10 {
        let child = place.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(wait);
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let outcome = Outcome::from(child.wait_with_output().unwrap());
        match outcome.code {
            Some(0) => {
                wait = wait * 2 / 3;
                again();
            }
            None => wait *= 2,
            Some(_) => return outcome,
        }
    }
    panic!("{line}: no moment in its middle was found");
}
