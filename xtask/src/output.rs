//! The one place that prints.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "chores talk to a terminal, and only here")]

/// Prints a line of the chore's result.
pub(crate) fn say(line: &str) {
    println!("{line}");
}

/// Prints a line that a reader must not miss.
pub(crate) fn complain(line: &str) {
    eprintln!("{line}");
}

/// Passes another program's output on as it is.
pub(crate) fn echo(text: &str) {
    print!("{text}");
}

/// Announces a step, so that a long log can be searched.
pub(crate) fn headline(step: &str) {
    println!("\n==> {step}");
}
