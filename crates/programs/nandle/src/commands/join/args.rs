use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use nandle_spill::JoinKind;

use crate::commands::rows::{SpillArgs, one_byte};

/// Join two files on a common field; neither needs to be sorted or fit in memory
///
/// The second file is read into memory as far as it fits, and the first is streamed past it, so
/// name the shorter one second. The result is in no particular order: each record of the first file
/// as it is, followed by the other fields of a matching record of the second. Fields are compared
/// as bytes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle join orders.csv customers.csv --csv --on 2=1       append the customer's fields to each order\n  nandle join a.txt b.txt --on 1 --kind anti                lines of a.txt whose first word starts no line of b.txt\n  nandle join big.tsv other.tsv --delimiter '\\t' --on 3=1 --memory 64MiB --profile profile.json --explain -o out.tsv"
)]
pub(crate) struct JoinArgs {
    /// First file, whose records make up the result; - is standard input
    pub(super) left: PathBuf,
    /// Second file, in which the records are looked up
    pub(super) right: PathBuf,
    /// Fields that must be equal, numbered from 1
    ///
    /// One number is the field of both files; two, such as 2=1, are those of the first and of the
    /// second.
    #[arg(long, value_name = "LEFT=RIGHT", default_value = "1")]
    pub(super) on: On,
    /// Records to return
    #[arg(long, value_name = "KIND", default_value = "inner")]
    pub(super) kind: KindArg,
    /// File for the result; - is standard output, the default
    ///
    /// An existing file is replaced only after everything has been joined.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Byte between fields; \t is a tab [default: blanks between words; , in CSV]
    #[arg(long, short, value_name = "BYTE", value_parser = one_byte)]
    pub(super) delimiter: Option<u8>,
    /// Read CSV (RFC 4180) with headers
    #[arg(long)]
    pub(super) csv: bool,
    /// Treat the first record of each CSV file as data
    #[arg(long, requires = "csv")]
    pub(super) no_header: bool,
    #[command(flatten)]
    pub(super) spill: SpillArgs,
}

/// Field numbers, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct On {
    pub(super) left: usize,
    pub(super) right: usize,
}

impl FromStr for On {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let field = |text: &str| text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let (left, right) = text.split_once('=').unwrap_or((text, text));
        match (field(left), field(right)) {
            (Some(left), Some(right)) => Ok(Self { left, right }),
            _ => Err("expected the number of a field from 1 on, or two: 2=1".into()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum KindArg {
    /// Pairs of records with equal fields
    Inner,
    /// Pairs, and records of the first file without a match
    Left,
    /// Records of the first file with a match, once each
    Semi,
    /// Records of the first file without a match
    Anti,
}

impl From<KindArg> for JoinKind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Inner => Self::Inner,
            KindArg::Left => Self::Left,
            KindArg::Semi => Self::Semi,
            KindArg::Anti => Self::Anti,
        }
    }
}

impl JoinArgs {
    /// File of the result; `None` for standard output.
    pub(super) fn output(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }
}
