use std::path::{Path, PathBuf};

use clap::Args;
use nandle_terminal::args::positive_bytes;

use crate::commands::rows::{KeySpec, SpillArgs, one_byte};

/// Sort files that are larger than memory: lines, CSV, or records of one length.
///
/// The order is that of `sort` in the C locale: bytes are compared as they are. Temporary data go to a file without a name, or to
/// any target, in clusters whose length and number follow from the profile of the device. What is taken of memory is what
/// `--memory` says, whatever the input.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "options that users give one by one")]
#[command(
    after_help = "Examples:\n  nandle sort big.txt -o sorted.txt                         lines, as bytes\n  nandle sort log.tsv --delimiter '\\t' --key 3n,1           by the number in field 3, then field 1\n  nandle sort t.csv --csv --key 2r --profile profile.json   the header stays; clusters by the device\n  nandle sort rows.bin --record 100 --key-bytes 10 --memory 1GiB --explain\n  nandle sort big.txt --temporary model:barracuda-7200.10 --memory 2MiB --explain -o /dev/null\n                                                            how long would that disk take?"
)]
pub(crate) struct SortArgs {
    /// Files, one behind the other; - or none is standard input
    pub(super) files: Vec<PathBuf>,
    /// Where the result goes; - is standard output, the default. An existing file is replaced when everything is sorted
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Fields to sort by, the first counts most: their numbers from 1 on, with n for numbers and r for the reverse order (2n,1r). It is
    /// a list of whole fields; `sort -k 2,2n` is --key 2n here.
    /// Records with equal fields are in the order of their bytes [default: the whole record]
    #[arg(long, short, value_name = "FIELDS", value_delimiter = ',')]
    pub(super) key: Vec<KeySpec>,
    /// The byte between fields (\t is the tabulator) [default: the empty place in front of a word, which belongs to it; , in CSV]
    #[arg(long, short, value_name = "BYTE", value_parser = one_byte)]
    pub(super) delimiter: Option<u8>,
    /// The reverse of the order, but for fields with an n or r of their own
    #[arg(long, short)]
    pub(super) reverse: bool,
    /// Of records with equal keys only the first
    #[arg(long, short)]
    pub(super) unique: bool,
    /// Records with equal keys stay in the order of the input. Without it those of `--record` with `--key-bytes` come in any order
    #[arg(long, short)]
    pub(super) stable: bool,
    /// Only the first records of the result
    #[arg(long, value_name = "RECORDS")]
    pub(super) limit: Option<u64>,
    /// The input is CSV (RFC 4180): fields in quotes may hold delimiters and line ends; the first record is a header and stays
    #[arg(long, conflicts_with = "record")]
    pub(super) csv: bool,
    /// There is no header
    #[arg(long, requires = "csv")]
    pub(super) no_header: bool,
    /// The input is records of so many bytes
    #[arg(long, value_name = "SIZE", value_parser = positive_bytes, conflicts_with_all = ["key", "delimiter"])]
    pub(super) record: Option<u64>,
    /// So many bytes of each record, from its beginning, are its key [default: all]
    #[arg(long, value_name = "SIZE", value_parser = positive_bytes, requires = "record")]
    pub(super) key_bytes: Option<u64>,
    #[command(flatten)]
    pub(super) spill: SpillArgs,
}

impl SortArgs {
    /// File of the result; `None` for standard output.
    pub(super) fn output(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// Returns true if the whole record is the key, unchanged.
    pub(super) fn sorts_whole_records(&self) -> bool {
        self.key.is_empty() && self.record.is_none() && !self.reverse
    }
}
