//! Banned words and their replacements. One word has one meaning across the workspace, and
//! sentences don't personify things. The rule covers comments, names and documents; punctuation or
//! `_` ends a word. A capitalised entry is the name of a type or constant and is looked for in code
//! alone.

use super::workspace::{SourceFile, Workspace};
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule { says: "banned words are gone", check };

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

/// Exceptions: the heads of a disk settle on a track, and `pages_homed` is a key in the first
/// version of a published format.
const IN_PLACE: &[(&str, &[&str])] = &[
    ("crates/device/model/src/disk/", HEADS),
    ("crates/device/model/tests/claims_disks.rs", HEADS),
    ("crates/device/model/tests/measured_traces.rs", HEADS),
    ("crates/prove/replay/src/outcome.rs", KEY_OF_VERSION_1),
    ("crates/prove/replay/tests/files.rs", KEY_OF_VERSION_1),
];
const HEADS: &[&str] = &["settle", "settled", "settles", "settling"];
const KEY_OF_VERSION_1: &[&str] = &["homed"];

/// Earlier text, other programs' text, and this list.
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
    let forbidden = uses(workspace).into_iter().filter(|found| !is_in_place(found.path, found.word));
    let finding = |Use { path, line, word, better }| {
        Finding::new(path, line, format!("`{word}` is banned: write {better}"))
    };
    forbidden.map(finding).collect()
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

fn is_in_place(path: &str, word: &str) -> bool {
    IN_PLACE.iter().any(|(folder, words)| path.starts_with(folder) && words.contains(&word))
}

/// Returns true if the word is in the line without an adjacent letter or digit.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(start, _)| {
        let before = line.get(..start).and_then(|text| text.chars().next_back());
        let after = line.get(start + word.len()..).and_then(|text| text.chars().next());
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
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
    fn a_word_in_its_place_is_no_finding() {
        assert_eq!(findings("crates/device/model/src/disk/mod.rs", "// The heads settle."), 0);
        assert_eq!(findings("crates/device/model/src/flash/mod.rs", "// The heads settle."), 1);
        for word in IN_PLACE.iter().flat_map(|(_, words)| *words) {
            assert!(BANNED.iter().any(|(banned, _)| banned == word), "{word}");
        }
    }
}
