use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use nandle_spill::JoinKind;

use crate::commands::rows::{SpillArgs, one_byte};

/// Join two files whose records have a field in common, neither of which need fit into memory or be sorted.
///
/// The second file is taken into memory as far as it fits, and the first streams past it: name the shorter one second. The result is
/// in no particular order: each record of the first file as it is, and behind it the other fields of a record of the second. Fields are
/// compared as bytes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle join orders.csv customers.csv --csv --on 2=1       customers' fields behind each order\n  nandle join a.txt b.txt --on 1 --kind anti                lines of a.txt whose first word no line of b.txt begins with\n  nandle join big.tsv other.tsv --delimiter '\\t' --on 3=1 --memory 64MiB --profile profile.json --explain -o out.tsv"
)]
pub(crate) struct JoinArgs {
    /// The file whose records the result is made of; - is standard input
    pub(super) left: PathBuf,
    /// The file that is looked up
    pub(super) right: PathBuf,
    /// The numbers of the fields that are equal, from 1 on: of the first file, and of the second where it is another
    #[arg(long, value_name = "LEFT=RIGHT", default_value = "1")]
    pub(super) on: On,
    /// Which records are wanted
    #[arg(long, value_name = "KIND", default_value = "inner")]
    pub(super) kind: KindArg,
    /// Where the result goes; - is standard output, the default. An existing file is replaced when everything is joined
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The byte between fields (\t is the tabulator) [default: blanks between words; , in CSV]
    #[arg(long, short, value_name = "BYTE", value_parser = one_byte)]
    pub(super) delimiter: Option<u8>,
    /// The files are CSV (RFC 4180), and their first records headers
    #[arg(long)]
    pub(super) csv: bool,
    /// There are no headers
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
    /// Pairs of records whose fields are equal
    Inner,
    /// The same, and records of the first file that are in no pair
    Left,
    /// Records of the first file for which there is one in the second, once
    Semi,
    /// Records of the first file for which there is none
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
