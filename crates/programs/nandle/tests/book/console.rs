//! Runs the fenced blocks of a chapter that are marked `console tested`, in one folder, one after the other.
//!
//! A line that begins with `$ ` is a command for `sh`, with `nandle` on its path; a `\` at its end goes on in the next line. The lines below it are what it prints, on
//! standard output or error, up to the next command: their words must come in that order. Figures don't count, because a
//! model may get better; nor do spaces and ends of lines. `…` stands for what is left out. `[exit status N]` is the status;
//! without it the command must succeed.

use std::fs;
use std::path::Path;
use std::process::Command;

const FENCE: &str = "```console tested";

/// A command and what the book says of it.
#[derive(Debug, PartialEq, Eq)]
struct Example {
    command: String,
    expected: String,
    status: i32,
}

pub(crate) fn run_chapter(name: &str) {
    let text = fs::read_to_string(super::book().join(name)).unwrap();
    let examples = examples(&text);
    assert!(!examples.is_empty(), "{name} has no block marked `{FENCE}`");
    let folder = tempfile::tempdir().unwrap();
    for example in examples {
        run(&example, folder.path());
    }
}

fn run(example: &Example, folder: &Path) {
    let program = Path::new(env!("CARGO_BIN_EXE_nandle")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("({}) 2>&1", example.command)])
        .env("PATH", path)
        .current_dir(folder)
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(example.status), "$ {}\n{printed}", example.command);
    if let Some(missing) = first_missing(&example.expected, &printed) {
        panic!("$ {}\nthe book says `{missing}` at a place where this doesn't:\n{printed}", example.command);
    }
}

fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_inside = line == FENCE;
        } else if !is_inside {
        } else if let Some(example) = examples.last_mut().filter(|example| example.command.ends_with('\\')) {
            example.command.extend(["\n", line]);
        } else if let Some(command) = line.strip_prefix("$ ") {
            examples.push(Example { command: command.to_owned(), expected: String::new(), status: 0 });
        } else if let Some(example) = examples.last_mut() {
            match line.strip_prefix("[exit status ").and_then(|rest| rest.strip_suffix(']')) {
                Some(status) => example.status = status.parse().unwrap(),
                None => example.expected.extend([line, "\n"]),
            }
        }
    }
    examples
}

/// The first word of what is expected that doesn't come after those before it.
fn first_missing<'a>(expected: &'a str, printed: &str) -> Option<&'a str> {
    let mut printed = printed.split_whitespace();
    expected.split_whitespace().filter(|word| is_word(word)).find(|word| !printed.any(|there| there == *word))
}

/// Whether it is neither a figure nor what stands for an omission.
fn is_word(text: &str) -> bool {
    text != "…" && text != "–" && text != "*" && !text.contains(|c: char| c.is_ascii_digit())
}

#[test]
fn commands_have_what_follows_them() {
    let text = "text\n```console tested\n$ a |\\\n  b\none\n…\n$ false\n[exit status 1]\n```\n```console\n$ not run\n```\n";
    let example = |command: &str, expected: &str, status| Example {
        command: command.to_owned(),
        expected: expected.to_owned(),
        status,
    };
    assert_eq!(examples(text), [example("a |\\\n  b", "one\n…\n", 0), example("false", "", 1)]);
}

#[test]
fn words_must_come_in_their_order_and_figures_need_not() {
    let printed = "Random reads, max:  35 718 (35 521–35 888) a second\nprofile: p.json";
    assert_eq!(first_missing("Random reads, max: 4 (3–5) a second\n…\nprofile:", printed), None);
    assert_eq!(first_missing("Random writes,", printed), Some("writes,"));
    assert_eq!(first_missing("profile: Random", printed), Some("Random"));
}

#[test]
#[should_panic(expected = "the book says `four`")]
fn a_book_that_says_otherwise_fails() {
    let example = Example { command: "echo three".to_owned(), expected: "four".to_owned(), status: 0 };
    run(&example, Path::new("/"));
}

#[test]
#[should_panic(expected = "$ exit 3")]
fn a_status_that_is_another_fails() {
    run(&Example { command: "exit 3".to_owned(), expected: String::new(), status: 0 }, Path::new("/"));
}
