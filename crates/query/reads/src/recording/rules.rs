use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Groups, Want};

/// Limit on file length: guards against exhausting memory with other or malicious files.
pub(super) const FILE_BYTES_MAX: u64 = 256 << 20;
/// Longest line: half a million wants of one step.
pub(super) const LINE_BYTES_MAX: u64 = 16 << 20;
/// Limit on unpacked length: twice the length at which all other limits are reached, so only white
/// space can exceed it.
pub(super) const UNPACKED_BYTES_MAX: u64 = 2 << 30;
const FILES_MAX: u64 = 100_000;
const QUERIES_MAX: u64 = 100_000;
const STEPS_MAX: u64 = 8_000_000;
/// They take 192 MB in memory.
const WANTS_MAX: u64 = 8_000_000;
/// Groups of all files.
const GROUPS_MAX: u64 = 4_000_000;
/// Limit on the bytes of all files, and on the temporary data of a query: beyond any device, yet
/// small enough to avoid overflow.
const STORED_BYTES_MAX: u64 = 1 << 60;
/// Total length of all names and texts.
const TEXT_BYTES_MAX: u64 = 64 << 20;

/// Counts of a recording's lines.
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

/// Violated rule of recordings.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Violation {
    /// A limit is exceeded.
    #[error("it has more than {max} {what}, which no recording may have; record fewer queries in a file")]
    TooMany {
        /// Unit of the limit.
        what: &'static str,
        /// The limit.
        max: u64,
    },
    /// A query began within another.
    #[error("a query begins before the one before it is done")]
    QueryInQuery,
    /// A line belongs to no query.
    #[error("a {what} stands outside a query")]
    OutsideQuery {
        /// Kind of the line.
        what: &'static str,
    },
    /// The recording ends within a query.
    #[error("the recording ends before its last query is done")]
    QueryNotDone,
    /// A want names an unknown file.
    #[error("a want is of file {file}, and only {files} are named so far")]
    UnknownFile {
        /// Number of the file.
        file: u32,
        /// Number of files.
        files: usize,
    },
    /// Groups have no bytes.
    #[error("a file is in groups of 0 bytes")]
    EmptyGroups,
    /// A group is empty, lies beyond the end of its file, or overlaps the previous one.
    #[error(
        "a group is from {start_bytes} to {end_bytes} of a file of {file_bytes} bytes: groups have a byte at least, follow each other and \
         lie within"
    )]
    Group {
        /// Start of the group.
        start_bytes: u64,
        /// End of the group.
        end_bytes: u64,
        /// Length of the file.
        file_bytes: u64,
    },
    /// A want is empty, or lies beyond the end of its file.
    #[error(
        "a want is of {length_bytes} bytes at {offset_bytes} of file {file}, which has {file_bytes}: it must have a byte at least, and lie within"
    )]
    OutsideFile {
        /// The file.
        file: u32,
        /// Offset of the want.
        offset_bytes: u64,
        /// Length of the want.
        length_bytes: u64,
        /// Length of the file.
        file_bytes: u64,
    },
}

/// Enforces the rules for writers and readers; counts every line.
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

    /// Ends a query. `spilled_bytes` are the bytes written to and read from temporary space.
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
