use std::fs::File;
use std::io::Read as _;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::common::{Outcome, Place};

const SWEEP: &str = "sweep . --file-size 8MiB --patterns random --block-sizes 4KiB,64KiB --queue-depths 4 --time-per-run 700ms";

/// Output that is a terminal.
#[derive(Clone, Copy, PartialEq)]
enum Terminal {
    Output,
    Errors,
}

/// Runs the program with one output on a terminal; returns the terminal's text and the other
/// output.
fn on_terminal(
    place: &Place,
    arguments: &str,
    which: Terminal,
    variables: &[(&str, &str)],
) -> (String, Outcome) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = File::options().read(true).write(true).open(name).unwrap();
    let mut command = place.command(arguments);
    command.env_remove("NO_COLOR").env("TERM", "xterm-256color").envs(variables.iter().copied());
    if which == Terminal::Output {
        command.stdout(Stdio::from(slave));
    } else {
        command.stderr(Stdio::from(slave));
    }
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        // A closed terminal reads as an error, not as end of file.
        let _ = File::from(master).read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let outcome = command.spawn().unwrap().wait_with_output().unwrap().into();
    drop(command);
    (reader.join().unwrap(), outcome)
}

#[test]
fn progress_tells_what_is_measured_and_the_time_left() {
    let (shown, outcome) = on_terminal(&Place::new(), SWEEP, Terminal::Errors, &[]);
    assert!(shown.contains("random read 64KiB, depth 4"), "{shown:?}");
    assert!(shown.contains("50%") && shown.contains("s left"), "{shown:?}");
    assert!(shown.contains("\x1b[36m"), "it has colours: {shown:?}");
    assert_eq!(outcome.rows().len(), 2, "and the result is as ever");
}

#[test]
fn colours_can_be_refused() {
    let (shown, _) = on_terminal(&Place::new(), SWEEP, Terminal::Errors, &[("NO_COLOR", "1")]);
    assert!(
        shown.contains("depth 4") && !shown.contains("\x1b[36m") && !shown.contains("\x1b[2m"),
        "{shown:?}"
    );
    let (help, _) = on_terminal(&Place::new(), "--help", Terminal::Output, &[("NO_COLOR", "1")]);
    assert!(help.contains("Usage") && !help.contains('\x1b'), "{help:?}");
}

#[test]
fn progress_can_be_refused() {
    let (shown, outcome) =
        on_terminal(&Place::new(), &format!("{SWEEP} --no-progress"), Terminal::Errors, &[]);
    assert_eq!(shown, "");
    outcome.done();
    let (shown, _) = on_terminal(&Place::new(), SWEEP, Terminal::Errors, &[("TERM", "dumb")]);
    assert!(!shown.contains('\x1b'), "{shown:?}");
}

#[test]
fn a_terminal_gets_a_table_and_no_progress_in_it() {
    let (shown, outcome) = on_terminal(&Place::new(), SWEEP, Terminal::Output, &[]);
    assert!(shown.contains("pattern") && shown.contains("MB/s") && !shown.contains('%'), "{shown:?}");
    let fits = |line: &str| line.chars().count() <= 80 || !line.contains(' ');
    assert!(shown.lines().all(|line| fits(line.trim())), "{shown}");
    assert_eq!(outcome.done().stderr, "");
}
