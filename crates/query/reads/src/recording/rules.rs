use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Groups, Want};

/// The longest file of a recording; what is longer is something else, or made to take the memory away.
pub(super) const FILE_BYTES_MAX: u64 = 256 << 20;
/// The longest line: half a million wants of one step.
pub(super) const LINE_BYTES_MAX: u64 = 16 << 20;
/// What a file may unpack to: twice what the most of everything takes, so that only white space can be as long.
pub(super) const UNPACKED_BYTES_MAX: u64 = 2 << 30;
const FILES_MAX: u64 = 100_000;
const QUERIES_MAX: u64 = 100_000;
const STEPS_MAX: u64 = 8_000_000;
/// In memory they are 192 MB.
const WANTS_MAX: u64 = 8_000_000;
/// Groups of all files.
const GROUPS_MAX: u64 = 4_000_000;
/// Of all files together, and of a query's temporary data: more than any device holds, so that sums and rounded sizes stay numbers.
const STORED_BYTES_MAX: u64 = 1 << 60;
/// Of all names and texts together.
const TEXT_BYTES_MAX: u64 = 64 << 20;

/// How much there is of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordingCounts {
    /// Files.
    pub files: u64,
    /// Queries.
    pub queries: u64,
    /// Steps of all queries.
    pub steps: u64,
    /// Wants of all steps.
    pub wants: u64,
}

impl std::fmt::Display for RecordingCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { files, queries, steps, wants } = self;
        write!(f, "{files} files, {queries} queries, {steps} steps, {wants} wants")
    }
}

/// A rule of recordings that is broken, by who writes one or by a file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Violation {
    /// More than a reader takes.
    #[error("it has more than {max} {what}, which no recording may have; record fewer queries in a file")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The limit.
        max: u64,
    },
    /// A query began within another.
    #[error("a query begins before the one before it is done")]
    QueryInQuery,
    /// A step, or an end of a query, that belongs to none.
    #[error("a {what} stands outside a query")]
    OutsideQuery {
        /// Which.
        what: &'static str,
    },
    /// The recording ends within a query.
    #[error("the recording ends before its last query is done")]
    QueryNotDone,
    /// A want of a file that wasn't named before.
    #[error("a want is of file {file}, and only {files} are named so far")]
    UnknownFile {
        /// Its number.
        file: u32,
        /// How many there are.
        files: usize,
    },
    /// Groups of no bytes.
    #[error("a file is in groups of 0 bytes")]
    EmptyGroups,
    /// A group that is empty, beyond the end of its file, or begins before the one before it ends.
    #[error(
        "a group is from {start_bytes} to {end_bytes} of a file of {file_bytes} bytes: groups have a byte at least, follow each other and \
         lie within"
    )]
    Group {
        /// Where it begins.
        start_bytes: u64,
        /// Where it ends.
        end_bytes: u64,
        /// How long its file is.
        file_bytes: u64,
    },
    /// A want of no bytes, or beyond the end of its file.
    #[error(
        "a want is of {length_bytes} bytes at {offset_bytes} of file {file}, which has {file_bytes}: it must have a byte at least, and lie within"
    )]
    OutsideFile {
        /// The file.
        file: u32,
        /// Where the want begins.
        offset_bytes: u64,
        /// How long it is.
        length_bytes: u64,
        /// How long its file is.
        file_bytes: u64,
    },
}

/// Holds writers and readers to the rules: is told of every line, and counts.
#[derive(Debug, Default)]
pub(super) struct Rules {
    file_bytes: Vec<u64>,
    counts: RecordingCounts,
    stored_bytes: u64,
    text_bytes: u64,
    groups: u64,
    in_query: bool,
}

impl Rules {
    pub(super) const fn counts(&self) -> RecordingCounts {
        self.counts
    }

    pub(super) fn file(
        &mut self,
        length_bytes: u64,
        groups: &Groups,
        name: Option<&str>,
    ) -> Result<(), Violation> {
        count(&mut self.counts.files, 1, FILES_MAX, "files")?;
        count(&mut self.stored_bytes, length_bytes, STORED_BYTES_MAX, "bytes of files")?;
        self.text(name)?;
        self.groups(length_bytes, groups)?;
        self.file_bytes.push(length_bytes);
        Ok(())
    }

    pub(super) fn query(&mut self, name: Option<&str>, text: Option<&str>) -> Result<(), Violation> {
        if std::mem::replace(&mut self.in_query, true) {
            return Err(Violation::QueryInQuery);
        }
        count(&mut self.counts.queries, 1, QUERIES_MAX, "queries")?;
        self.text(name)?;
        self.text(text)
    }

    pub(super) fn step(&mut self, wants: &[Want]) -> Result<(), Violation> {
        if !self.in_query {
            return Err(Violation::OutsideQuery { what: "step" });
        }
        count(&mut self.counts.steps, 1, STEPS_MAX, "steps")?;
        count(&mut self.counts.wants, wants.len() as u64, WANTS_MAX, "wants")?;
        wants.iter().try_for_each(|want| self.want(want))
    }

    /// `spilled_bytes` are written to temporary space, or read back.
    pub(super) fn done(&mut self, spilled_bytes: [u64; 2]) -> Result<(), Violation> {
        if !self.in_query {
            return Err(Violation::OutsideQuery { what: "done" });
        }
        for bytes in spilled_bytes {
            count(&mut 0, bytes, STORED_BYTES_MAX, "bytes of temporary data in a query")?;
        }
        self.in_query = false;
        Ok(())
    }

    pub(super) fn end(&self) -> Result<(), Violation> {
        if self.in_query { Err(Violation::QueryNotDone) } else { Ok(()) }
    }

    fn want(&self, want: &Want) -> Result<(), Violation> {
        let file = want.file.0;
        let known = usize::try_from(file).ok().and_then(|index| self.file_bytes.get(index));
        let file_bytes = *known.ok_or(Violation::UnknownFile { file, files: self.file_bytes.len() })?;
        let Want { offset_bytes, length_bytes, .. } = *want;
        let end_bytes = offset_bytes.checked_add(length_bytes);
        if length_bytes == 0 || end_bytes.is_none_or(|end_bytes| end_bytes > file_bytes) {
            return Err(Violation::OutsideFile { file, offset_bytes, length_bytes, file_bytes });
        }
        Ok(())
    }

    fn groups(&mut self, length_bytes: u64, groups: &Groups) -> Result<(), Violation> {
        let listed = match groups {
            Groups::Every(0) => return Err(Violation::EmptyGroups),
            Groups::Unknown | Groups::Every(_) => return Ok(()),
            Groups::Listed(listed) => listed,
        };
        count(&mut self.groups, listed.len() as u64, GROUPS_MAX, "groups")?;
        let mut end_bytes = 0;
        for group in listed {
            if group.is_empty() || group.start < end_bytes || group.end > length_bytes {
                let (start_bytes, end_bytes) = (group.start, group.end);
                return Err(Violation::Group { start_bytes, end_bytes, file_bytes: length_bytes });
            }
            end_bytes = group.end;
        }
        Ok(())
    }

    fn text(&mut self, text: Option<&str>) -> Result<(), Violation> {
        let bytes = text.map_or(0, str::len) as u64;
        count(&mut self.text_bytes, bytes, TEXT_BYTES_MAX, "bytes of names and texts")
    }
}

fn count(counter: &mut u64, more: u64, max: u64, what: &'static str) -> Result<(), Violation> {
    *counter = counter.saturating_add(more);
    if *counter > max { Err(Violation::TooMany { what, max }) } else { Ok(()) }
}
