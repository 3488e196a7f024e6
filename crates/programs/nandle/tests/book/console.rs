//! Runs the fenced blocks of a chapter that are marked `console tested`, in order, in one folder.
//!
//! A line that begins with `$ ` is a command for `sh`, with `nandle` on its path; a trailing `\`
//! continues it on the next line. The lines below are its expected output on standard output or
//! error, figures included; spaces and line ends don't count. `…` stands for omitted text. `[exit
//! status N]` gives the status; without it the command must succeed.
//!
//! After a change of a model, `NANDLE_WRITE_BOOK=1` updates the figures of all chapters.

use std::fs;
use std::path::Path;
use std::process::Command;

const FENCE: &str = "```console tested";
const OMISSION: &str = "…";

/// A command and its expected output.
#[derive(Debug, PartialEq, Eq)]
struct Example {
    command: String,
    expected: String,
    status: i32,
}

pub(crate) fn run_chapter(name: &str) {
    let path = super::book().join(name);
    let text = fs::read_to_string(&path).unwrap();
    let examples = examples(&text);
    assert!(!examples.is_empty(), "{name} has no block marked `{FENCE}`");
    let folder = tempfile::tempdir().unwrap();
    let printed: Vec<String> = examples.iter().map(|example| run(example, folder.path())).collect();
    if std::env::var_os("NANDLE_WRITE_BOOK").is_some() {
        write_figures(&path, text, &examples, &printed);
    }
    let text = fs::read_to_string(&path).unwrap();
    for (example, printed) in self::examples(&text).iter().zip(&printed) {
        compare(example, printed);
    }
}

/// A chapter with changed words isn't modified.
fn write_figures(chapter: &Path, mut text: String, examples: &[Example], printed: &[String]) {
    for (example, printed) in examples.iter().zip(printed) {
        if let Some(written) = with_figures_of(&example.expected, printed) {
            text = text.replace(&example.expected, &written);
        }
    }
    fs::write(chapter, text).unwrap();
}

fn run(example: &Example, folder: &Path) -> String {
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
    printed
}

fn compare(example: &Example, printed: &str) {
    let same = |expected: &str, there: &str| expected == there;
    if let Err(missing) = places(&example.expected, printed, same) {
        panic!("$ {}\nthe book says\n{missing}\nat a place where this doesn't:\n{printed}", example.command);
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

/// Ranges in the output that match the stretches between omissions, in order; or the first stretch
/// that is missing.
fn places<'a>(
    expected: &str,
    printed: &'a str,
    are_alike: fn(&str, &str) -> bool,
) -> Result<Vec<&'a str>, String> {
    let printed: Vec<&str> = printed.split_whitespace().collect();
    let expected: Vec<&str> = expected.split_whitespace().collect();
    let (mut begin, mut found) = (0, Vec::new());
    for stretch in expected.split(|word| *word == OMISSION).filter(|stretch| !stretch.is_empty()) {
        let is_here =
            |window: &[&str]| window.iter().zip(stretch).all(|(there, word)| are_alike(word, there));
        let after =
            printed[begin..].windows(stretch.len()).position(is_here).ok_or_else(|| stretch.join(" "))?;
        found.extend(&printed[begin + after..][..stretch.len()]);
        begin += after + stretch.len();
    }
    Ok(found)
}

/// Expected text with the printed figures; `None` if the words differ.
fn with_figures_of<'a>(expected: &'a str, printed: &'a str) -> Option<String> {
    let are_alike = |word: &str, there: &str| word == there || is_figure(word) && is_figure(there);
    let mut printed = places(expected, printed, are_alike).ok()?.into_iter();
    let mut of_word = |word: &'a str| if matches!(word, "" | OMISSION) { Some(word) } else { printed.next() };
    let mut of_line =
        |line: &'a str| Some(line.split(' ').map(&mut of_word).collect::<Option<Vec<_>>>()?.join(" "));
    Some(expected.split('\n').map(&mut of_line).collect::<Option<Vec<_>>>()?.join("\n"))
}

/// Returns true for a number, with surrounding punctuation, or a missing figure.
fn is_figure(text: &str) -> bool {
    text == "–" || text.contains(|c: char| c.is_ascii_digit())
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
fn stretches_must_come_whole_and_in_their_order() {
    let printed = "Random reads, max:  35 718 (35 521–35 888) a second\nprofile: p.json";
    let missing = |expected: &str| places(expected, printed, |a, b| a == b).unwrap_err();
    assert!(
        places("Random reads, max: 35\n 718 (35 521–35 888)\n…\nprofile:", printed, |a, b| a == b).is_ok()
    );
    assert_eq!(missing("Random writes,"), "Random writes,");
    assert_eq!(missing("Random … 719 (35 …"), "719 (35");
    assert_eq!(missing("profile: … Random"), "Random");
}

#[test]
fn figures_are_exchanged_where_they_stand() {
    let printed = "reads  12 a second\nwrites  7.5 MB/s, for long";
    assert_eq!(
        with_figures_of("reads   11\n…\nwrites – MB/s,", printed).unwrap(),
        "reads   12\n…\nwrites 7.5 MB/s,"
    );
    assert_eq!(with_figures_of("reads 11 an hour", printed), None);
}

#[test]
#[should_panic(expected = "the book says\nfour")]
fn a_book_that_says_otherwise_fails() {
    let example = Example { command: "echo three".to_owned(), expected: "four".to_owned(), status: 0 };
    compare(&example, &run(&example, Path::new("/")));
}

#[test]
#[should_panic(expected = "$ exit 3")]
fn a_status_that_is_another_fails() {
    run(&Example { command: "exit 3".to_owned(), expected: String::new(), status: 0 }, Path::new("/"));
}
