//! The command line of `bench serve`.

use std::path::PathBuf;

use crate::{Outcome, workspace_root};

#[derive(Debug)]
pub(super) struct Options {
    /// Number of rows, as for `nandle table generate`.
    pub(super) rows: String,
    /// Pages viewed by one user.
    pub(super) views: usize,
    /// Concurrent users.
    pub(super) people: usize,
    /// Rounds of concurrent requests.
    pub(super) rounds: usize,
    pub(super) folder: PathBuf,
}

impl Options {
    pub(super) fn parse(words: &[String]) -> Outcome<Self> {
        let folder = workspace_root().join("target");
        let mut options = Self { rows: "70M".to_owned(), views: 40, people: 20, rounds: 5, folder };
        let (pairs, rest) = words.as_chunks::<2>();
        for [name, value] in pairs {
            match name.as_str() {
                "--rows" => options.rows.clone_from(value),
                "--views" => options.views = value.parse()?,
                "--people" => options.people = value.parse()?,
                "--rounds" => options.rounds = value.parse()?,
                "--in" => options.folder = value.into(),
                other => {
                    return Err(format!(
                        "`serve` takes --rows, --views, --people, --rounds, --in; got {other}"
                    )
                    .into());
                }
            }
        }
        match rest {
            [] => Ok(options),
            [name, ..] => Err(format!("`serve`: {name} needs a value").into()),
        }
    }
}
