//! Interactive prompt: multi-line statements, history and name completion.

use std::path::{Path, PathBuf};

use nandle_terminal::{Failure, output};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use crate::shell::Shell;
use crate::whole::is_whole;

const GREETING: &str = "Statements end with a semicolon and may have several lines. SHOW TABLES or \\d lists the tables, DESCRIBE or \\d TABLE \
                        the columns of one, Tab completes names, Ctrl-C ends a statement, \\q or Ctrl-D ends the program.";
const PROMPT: &str = "nandle> ";
/// Common keywords at the start of statements and within them.
const KEYWORDS: [&str; 36] = [
    "ANALYZE", "AND", "AS", "ASC", "BETWEEN", "BY", "CASE", "COUNT", "DESC", "DESCRIBE", "DISTINCT", "ELSE",
    "END", "EXPLAIN", "FROM", "GROUP", "HAVING", "IN", "IS", "JOIN", "LEFT", "LIKE", "LIMIT", "NOT", "NULL",
    "ON", "OR", "ORDER", "SELECT", "SET", "SHOW", "TABLES", "THEN", "UNION", "WHEN", "WHERE",
];

/// Runs statements from the prompt until it ends.
pub(crate) fn run(shell: &mut Shell<'_>) -> Result<(), Failure> {
    let words = Words(shell.names()?.into_iter().chain(KEYWORDS.map(str::to_owned)).collect());
    let config = Config::builder().auto_add_history(true).completion_type(CompletionType::List).build();
    let opened = Editor::with_config(config);
    let mut editor: Editor<Words, FileHistory> = opened.map_err(|error| of_terminal(&error))?;
    editor.set_helper(Some(words));
    let history = history();
    if let Some(path) = &history {
        // Absent the first time.
        _ = editor.load_history(path);
    }
    output::note(GREETING);
    while let Some(text) = next(&mut editor)? {
        if let Err(failure) = shell.run(&text) {
            output::problem(env!("CARGO_PKG_NAME"), &failure.message);
        }
        shell.go_on();
    }
    if let Some(path) = &history {
        keep_history(&mut editor, path);
    }
    Ok(())
}

fn keep_history(editor: &mut Editor<Words, FileHistory>, path: &Path) {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let kept = made.map_err(ReadlineError::from).and_then(|()| editor.save_history(path));
    if let Err(error) = kept {
        output::note(&format!("The history isn't kept in {}: {error}", path.display()));
    }
}

/// Next statements; `None` at the end.
fn next(editor: &mut Editor<Words, FileHistory>) -> Result<Option<String>, Failure> {
    loop {
        match editor.readline(PROMPT) {
            Ok(text) if is_end(&text) => return Ok(None),
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) if is_help(&text) => output::note(GREETING),
            Ok(text) => return Ok(Some(described(&text).unwrap_or(text))),
            // Discards the input so far.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(None),
            Err(error) => return Err(of_terminal(&error)),
        }
    }
}

fn is_end(text: &str) -> bool {
    ["\\q", "exit", "quit"].contains(&text.trim().trim_end_matches(';'))
}

fn is_help(text: &str) -> bool {
    ["\\?", "\\h", "help"].contains(&text.trim().trim_end_matches(';'))
}

/// Translates a psql command to a statement.
fn described(text: &str) -> Option<String> {
    let rest = text.trim().trim_end_matches(';').strip_prefix("\\d")?;
    let rest = rest.strip_prefix('t').unwrap_or(rest).trim_start_matches('+');
    match rest.trim() {
        "" => Some("SHOW TABLES".to_owned()),
        table => rest.starts_with(' ').then(|| format!("DESCRIBE {table}")),
    }
}

fn of_terminal(error: &ReadlineError) -> Failure {
    Failure::failed(format!("reading from the terminal: {error}; use -c or -f"))
}

/// Path by the XDG base directory specification.
fn history() -> Option<PathBuf> {
    let directory = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = directory("XDG_STATE_HOME").or_else(|| Some(directory("HOME")?.join(".local/state")))?;
    Some(state.join("nandle/sql-history"))
}

struct Words(Vec<String>);

impl Words {
    /// Start of the word that ends at `end`, and the completions.
    fn like(&self, line: &str, end: usize) -> (usize, Vec<String>) {
        let before = line.get(..end).unwrap_or_default();
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '"';
        let start = before.rfind(|letter| !is_part(letter)).map_or(0, |place| place + 1);
        // A multi-byte letter isn't a boundary itself.
        let start = (start..=end).find(|place| before.is_char_boundary(*place)).unwrap_or(end);
        let word = bare(before.get(start..).unwrap_or_default());
        if word.is_empty() {
            return (start, Vec::new());
        }
        let begins = |name: &&String| bare(name).starts_with(&word);
        (start, self.0.iter().filter(begins).cloned().collect())
    }
}

/// Unquoted, in lower case.
fn bare(name: &str) -> String {
    name.replace('"', "").to_lowercase()
}

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, end: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.like(line, end))
    }
}

impl Validator for Words {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        let is_whole = is_end(text) || is_help(text) || described(text).is_some() || is_whole(text);
        Ok(if is_whole { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}

impl Helper for Words {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_of_psql_type_is_understood() {
        assert_eq!(described("\\d").as_deref(), Some("SHOW TABLES"));
        assert_eq!(described(" \\dt+; ").as_deref(), Some("SHOW TABLES"));
        assert_eq!(described("\\d flights").as_deref(), Some("DESCRIBE flights"));
        assert_eq!((described("SELECT 1"), described("\\dn")), (None, None));
        assert!(is_help("help;") && !is_help("SELECT help"));
    }

    #[test]
    fn names_are_completed() {
        let words = Words(["flights", "\"Flights\"", "\"FlightDate\"", "FROM"].map(str::to_owned).to_vec());
        assert_eq!(words.like("SELECT * FROM fli", 17), (14, words.0[..3].to_vec()));
        assert_eq!(words.like("SELECT \"FlightD", 15), (7, vec!["\"FlightDate\"".to_owned()]));
        assert_eq!(words.like("SELECT 1 fr", 11), (9, vec!["FROM".to_owned()]));
        assert_eq!(words.like("é→fr", 7), (5, vec!["FROM".to_owned()]));
        assert_eq!(words.like("SELECT ", 7), (7, Vec::new()));
    }
}
