//! Book of claims: runs the tests that compare models with published figures and collects the line
//! that each prints. Nothing is stored, so the book is never out of date. The tests are
//! `crates/device/model/tests/claims_*.rs`, [`OF_TEMPORARY_DATA`] and [`OF_CUBES`].

use std::fs;
use std::process::Output;

use serde::Deserialize;

use crate::command::cargo;
use crate::{Outcome, output, workspace_root};

/// Prefix of a claim's line in the output of a test.
const PREFIX: &str = "claim: ";
/// Verdicts, best first. A figure encoded in a parameter is no evidence for a model, so it comes
/// last.
const VERDICTS: [&str; 5] = ["met", "partly", "contradictory", "not met", "encoded"];

/// Tests of temporary data that hold claims.
const OF_TEMPORARY_DATA: [&str; 2] = ["claims", "duality"];
/// Tests of cubes that hold claims.
const OF_CUBES: [&str; 1] = ["claims"];

/// One line of the book.
#[derive(Debug, Deserialize)]
struct Claim {
    id: String,
    paper: String,
    precondition: String,
    tolerance: String,
    model: String,
    verdict: String,
    reason: String,
}

/// Runs the tests and prints the book.
///
/// # Errors
/// A test failed, so that a model no longer does what its entry says; or a line is none.
pub(crate) fn run() -> Outcome {
    let ran = [
        run_tests("nandle-model", test_files()?)?,
        run_tests("nandle-spill", OF_TEMPORARY_DATA.map(str::to_owned).into())?,
        run_tests("nandle-flights", OF_CUBES.map(str::to_owned).into())?,
    ];
    let texts: Vec<_> = ran.iter().map(|ran| String::from_utf8_lossy(&ran.stdout)).collect();
    let claims = book(&texts.join("\n"))?;
    for claim in &claims {
        output::say(&claim.text());
    }
    output::say(&summary(&claims));
    let failed: Vec<_> = ran.iter().filter(|ran| !ran.status.success()).collect();
    if failed.is_empty() {
        return Ok(());
    }
    for ran in failed {
        output::complain(&String::from_utf8_lossy(&ran.stderr));
    }
    Err("a claim's test failed, so its entry above does not hold; `cargo test -p nandle-model -p nandle-spill -p nandle-flights` says which"
        .into())
}

/// Runs some test programs of a package, one test after the other.
fn run_tests(package: &str, tests: Vec<String>) -> Outcome<Output> {
    let mut arguments = vec!["test".to_owned(), "--quiet".into(), "--package".into(), package.to_owned()];
    arguments.extend(tests.into_iter().flat_map(|test| ["--test".to_owned(), test]));
    arguments.extend(["--", "--nocapture", "--test-threads=1"].map(str::to_owned));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Ok(cargo(&arguments).output()?)
}

/// The names of the test programs that hold claims.
fn test_files() -> Outcome<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(workspace_root().join("crates/device/model/tests"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".rs").filter(|name| name.starts_with("claims_")).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// The lines of the book, in natural order of their claims.
fn book(text: &str) -> Outcome<Vec<Claim>> {
    // With captured output off, the test harness may put its dots before a line.
    let lines = text.lines().filter_map(|line| line.split_once(PREFIX).map(|(_, json)| json));
    let mut claims = lines.map(serde_json::from_str).collect::<Result<Vec<Claim>, _>>()?;
    if let Some(claim) = claims.iter().find(|claim| !VERDICTS.contains(&claim.verdict.as_str())) {
        return Err(
            format!("{} has the verdict {:?}; there are {VERDICTS:?}", claim.id, claim.verdict).into()
        );
    }
    claims.sort_by_key(|claim| (number(&claim.id), claim.id.clone()));
    Ok(claims)
}

/// 10 of `C10 random`; claims without a number come last.
fn number(id: &str) -> u32 {
    let digits: String = id.chars().skip(1).take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|_| id.starts_with('C')).unwrap_or(u32::MAX)
}

fn summary(claims: &[Claim]) -> String {
    let count = |verdict: &str| claims.iter().filter(|claim| claim.verdict == verdict).count();
    let counts: Vec<String> =
        VERDICTS.iter().map(|verdict| format!("{} {verdict}", count(verdict))).collect();
    format!("{} entries: {}", claims.len(), counts.join(", "))
}

impl Claim {
    fn text(&self) -> String {
        let Self { id, paper, precondition, tolerance, model, verdict, reason } = self;
        let because = if reason.is_empty() { String::new() } else { format!("  because    {reason}\n") };
        format!(
            "{id}: {verdict}\n  paper      {paper}\n  model      {model}\n  when       {precondition}\n  tolerance  \
             {tolerance}\n{because}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_among_others_and_sorted() {
        let line = |id: &str| {
            format!(
                "claim: {{\"id\":\"{id}\",\"paper\":\"p\",\"precondition\":\"w\",\"tolerance\":\"t\",\"model\":\"m\",\
                 \"verdict\":\"met\",\"reason\":\"\"}}"
            )
        };
        let text = format!("running 3 tests\n{}\n..{}\n{}\n", line("uFLIP"), line("C10"), line("C9"));
        let claims = book(&text).unwrap();
        assert_eq!(claims.iter().map(|claim| claim.id.as_str()).collect::<Vec<_>>(), ["C9", "C10", "uFLIP"]);
        assert_eq!(summary(&claims), "3 entries: 3 met, 0 partly, 0 contradictory, 0 not met, 0 encoded");
        assert!(book("claim: nothing").is_err());
    }

    #[test]
    fn every_claim_is_counted_under_its_verdict_alone() {
        let claim = |verdict: &str| {
            format!(
                "claim: {{\"id\":\"C1\",\"paper\":\"p\",\"precondition\":\"w\",\"tolerance\":\"t\",\"model\":\"m\",\
             \"verdict\":\"{verdict}\",\"reason\":\"\"}}\n"
            )
        };
        let claims = book(&(claim("encoded") + &claim("met") + &claim("encoded"))).unwrap();
        assert_eq!(summary(&claims), "3 entries: 1 met, 0 partly, 0 contradictory, 0 not met, 2 encoded");
        assert!(book(&claim("more or less")).is_err(), "a verdict that no summary counts");
    }

    #[test]
    fn the_tests_of_claims_are_found() {
        assert!(test_files().unwrap().contains(&"claims_diat".to_owned()));
    }
}
