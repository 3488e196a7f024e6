//! Words that were banned, with the field's own in their place: one word has one meaning across the workspace, and things are the
//! subjects of sentences, not persons. Comments, names and documents alike; a mark or `_` ends a word. What begins with a capital
//! is the name of a type or constant, and looked for in code alone.
//!
//! What isn't renamed yet is allowed folder by folder. The list only shrinks: an entry that isn't needed any more is a finding.

use super::workspace::{SourceFile, Workspace};
use super::{Finding, Rule};

pub(super) const RULE: Rule =
    Rule { says: "banned words are gone, but for what a shrinking list still allows", check };

/// A banned word or phrase, and what to write.
const BANNED: &[(&str, &str)] = &[
    ("Beside", "HostFiles"),
    ("Conductible", "DynExperiment"),
    ("Contender", "Candidate"),
    ("DEAR", "EXPENSIVE_RATIO"),
    ("DeadUnburied", "DeadSlotsNotPersisted"),
    ("Ground", "ExperimentEnv"),
    ("HOPELESS", "SKIP_LARGER_RATIO"),
    ("Hurry", "UrgentGuard"),
    ("Lack", "MissingFigure"),
    ("Spell", "Phase"),
    ("Way", "what it is: StagingConfig, CommitScenario"),
    ("Wishes", "Selection"),
    ("beside_the_clock", "untimed"),
    ("bring home", "destage"),
    ("brought home", "destaged"),
    ("bury_the_dead", "persist_dead_slots"),
    ("count_instead_of", "adopt_renewed_extents"),
    ("dear", "expensive"),
    ("dearer", "more expensive"),
    ("homed", "destaged"),
    ("homing", "destaging"),
    ("is_in_a_hurry", "flush_is_urgent"),
    ("is_tired_of_waiting", "clearing_timed_out"),
    ("look_again", "recheck"),
    ("nobody", "the thing that doesn't"),
    ("settle", "complete, reclaim, quiesce, conclude"),
    ("settled", "completed, reclaimed, quiesced, concluded"),
    ("settles", "completes, reclaims, quiesces, concludes"),
    ("settling", "completing, reclaiming, quiescing, concluding"),
    ("somebody", "the thing that does"),
    ("someone", "the thing that does"),
    ("whoever", "the thing that does"),
];

/// Folders that still have some of them.
const ALLOWED: &[(&str, &[&str])] = &[
    ("crates/device/io/", &["nobody"]),
    ("crates/device/model/", &["nobody", "somebody", "someone"]),
    ("crates/device/target/", &["nobody", "somebody"]),
    ("crates/device/units/", &["nobody"]),
    ("crates/measure/probe/", &["nobody", "settled", "whoever"]),
    ("crates/measure/profile/", &["dear", "somebody"]),
    ("crates/programs/nandle/", &["bring home", "dearer", "nobody", "somebody", "whoever"]),
    ("crates/prove/crash/", &[]),
    ("crates/prove/replay/", &["homed"]),
    ("crates/show/report/", &["homed"]),
    (
        "crates/storage/pages/",
        &["bring home", "brought home", "homed", "nobody", "settling", "somebody", "whoever"],
    ),
];

/// Where a word has its place because the field has it: the heads of a disk settle on a track.
const OF_THE_FIELD: &[(&str, &[&str])] = &[
    ("crates/device/model/src/disk/", HEADS),
    ("crates/device/model/tests/claims_disks.rs", HEADS),
    ("crates/device/model/tests/measured_traces.rs", HEADS),
];
const HEADS: &[&str] = &["settle", "settled", "settles", "settling"];

/// What was written before, what other programs wrote, and this list.
const UNCHECKED: &[&str] = &["CHANGELOG.md", "benches/", LIST];
const LIST: &str = "xtask/src/style/words.rs";

/// A banned word, and where it stands.
struct Use<'a> {
    path: &'a str,
    line: usize,
    word: &'static str,
    better: &'static str,
}

fn check(workspace: &Workspace) -> Vec<Finding> {
    let uses = uses(workspace);
    let forbidden = uses.iter().filter(|found| !is_allowed(found.path, found.word));
    let forbidden = forbidden.map(|Use { path, line, word, better }| {
        Finding::new(path, *line, format!("`{word}` is banned: write {better}"))
    });
    let unused = if workspace.paths.contains(LIST) { no_longer_needed(&uses) } else { Vec::new() };
    forbidden.chain(unused).collect()
}

fn uses(workspace: &Workspace) -> Vec<Use<'_>> {
    let sources = workspace.files.iter().map(|file| (file.path.as_str(), file.text.as_str()));
    let documents =
        workspace.documents.iter().map(|document| (document.path.as_str(), document.text.as_str()));
    let texts = sources.chain(documents).filter(|(path, _)| is_checked(path));
    let words = texts.flat_map(|(path, text)| words_in(path, text));
    let code = workspace.files.iter().filter(|file| is_checked(&file.path));
    words.chain(code.flat_map(types_in)).collect()
}

fn is_checked(path: &str) -> bool {
    !UNCHECKED.iter().any(|prefix| path.starts_with(prefix))
}

fn words_in<'a>(path: &'a str, text: &'a str) -> impl Iterator<Item = Use<'a>> {
    text.lines().enumerate().flat_map(move |(at, line)| {
        let here = BANNED.iter().filter(move |(word, _)| !is_type(word) && has_word(line, word));
        here.map(move |(word, better)| Use { path, line: at + 1, word, better })
    })
}

fn types_in(file: &SourceFile) -> impl Iterator<Item = Use<'_>> {
    file.lexed.tokens.iter().filter_map(|token| {
        let (word, better) = BANNED.iter().find(|(word, _)| is_type(word) && token.text == *word)?;
        Some(Use { path: &file.path, line: token.line, word, better })
    })
}

fn is_type(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_uppercase())
}

fn is_allowed(path: &str, word: &str) -> bool {
    is_listed(ALLOWED, path, word) || is_listed(OF_THE_FIELD, path, word)
}

fn is_listed(list: &[(&str, &[&str])], path: &str, word: &str) -> bool {
    list.iter().any(|(folder, words)| path.starts_with(folder) && words.contains(&word))
}

/// Whether the word stands in the line with no letter or digit next to it.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(start, _)| {
        let before = line.get(..start).and_then(|text| text.chars().next_back());
        let after = line.get(start + word.len()..).and_then(|text| text.chars().next());
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

/// Entries of the list whose folder doesn't have the word any more.
fn no_longer_needed(uses: &[Use<'_>]) -> Vec<Finding> {
    let entries = ALLOWED.iter().flat_map(|(folder, words)| words.iter().map(move |word| (*folder, *word)));
    let counted: Vec<&Use> =
        uses.iter().filter(|found| !is_listed(OF_THE_FIELD, found.path, found.word)).collect();
    let is_gone = |(folder, word): &(&str, &str)| {
        !counted.iter().any(|found| found.path.starts_with(folder) && found.word == *word)
    };
    let message = |(folder, word)| format!("{folder} has no `{word}` any more: take it off the list");
    entries.filter(is_gone).map(|entry| Finding::new(LIST, 1, message(entry))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        check(&Workspace::sample(&[(path, text)])).len()
    }

    #[test]
    fn banned_words_are_found_in_comments_names_and_documents() {
        assert_eq!(findings("crates/a.rs", "// nobody waits\nfn settle_all() {}"), 2);
        assert_eq!(findings("docs/a.md", "Pages are brought home."), 1);
        assert_eq!(findings("crates/a.rs", "struct Lack;"), 1);
    }

    #[test]
    fn other_words_are_free() {
        assert_eq!(findings("crates/a.rs", "// Way ahead: a settlement\nfn beside(lack: u8) {}"), 0);
        assert_eq!(findings("CHANGELOG.md", "nobody"), 0);
    }

    #[test]
    fn a_word_that_a_folder_has_no_more_leaves_the_list() {
        let entries: usize = ALLOWED.iter().map(|(_, words)| words.len()).sum();
        assert_eq!(no_longer_needed(&[]).len(), entries);
    }

    #[test]
    fn only_banned_words_are_allowed() {
        for word in ALLOWED.iter().flat_map(|(_, words)| *words) {
            assert!(BANNED.iter().any(|(banned, _)| banned == word), "{word}");
        }
    }
}
