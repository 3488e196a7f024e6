use std::path::{Path, PathBuf};

use clap::Args;
use nandle_terminal::args::positive_bytes;

use crate::commands::rows::{KeySpec, SpillArgs, one_byte};

/// Sort files larger than memory: lines, CSV, or records of fixed length
///
/// The order is that of `sort` in the C locale: by byte values. Temporary data goes to an unnamed
/// file, or to any target, in clusters whose size and number are derived from the profile of the
/// device. Memory use is limited by --memory, whatever the size of the input.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "options that users give one by one")]
#[command(
    after_help = "Examples:\n  nandle sort big.txt -o sorted.txt                         whole lines, compared as bytes\n  nandle sort log.tsv --delimiter '\\t' --key 3n,1           by the number in field 3, then by field 1\n  nandle sort t.csv --csv --key 2r --profile profile.json   keep the header; clusters that suit the device\n  nandle sort rows.bin --record 100 --key-bytes 10 --memory 1GiB --explain\n  nandle sort big.txt --temporary model:barracuda-7200.10 --memory 2MiB --explain -o /dev/null\n                                                            predict the time on that disk"
)]
pub(crate) struct SortArgs {
    /// Files to sort, concatenated; - or none is standard input
    pub(super) files: Vec<PathBuf>,
    /// File for the result; - is standard output, the default
    ///
    /// An existing file is replaced only after everything has been sorted.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Fields to sort by, the most significant first [default: the whole record]
    ///
    /// Fields are numbered from 1, with n for numbers and r for reverse order, such as 2n,1r. The
    /// list names whole fields: `sort -k 2,2n` is --key 2n here. Records with equal fields are
    /// ordered by their bytes.
    #[arg(long, short, value_name = "FIELDS", value_delimiter = ',')]
    pub(super) key: Vec<KeySpec>,
    /// Byte between fields; \t is a tab [default: blanks, which belong to the word after them; , in
    /// CSV]
    #[arg(long, short, value_name = "BYTE", value_parser = one_byte)]
    pub(super) delimiter: Option<u8>,
    /// Reverse the order, except for fields with their own n or r
    #[arg(long, short)]
    pub(super) reverse: bool,
    /// Keep only the first of records with equal keys
    #[arg(long, short)]
    pub(super) unique: bool,
    /// Keep the input order of records with equal keys
    ///
    /// Otherwise, with --record and --key-bytes, records with equal keys come in any order.
    #[arg(long, short)]
    pub(super) stable: bool,
    /// Return only the first records of the result
    #[arg(long, value_name = "RECORDS")]
    pub(super) limit: Option<u64>,
    /// Read CSV (RFC 4180)
    ///
    /// Quoted fields may contain delimiters and line ends. The first record is a header and stays
    /// first.
    #[arg(long, conflicts_with = "record")]
    pub(super) csv: bool,
    /// Treat the first record of CSV as data
    #[arg(long, requires = "csv")]
    pub(super) no_header: bool,
    /// Read records of this length
    #[arg(long, value_name = "SIZE", value_parser = positive_bytes, conflicts_with_all = ["key", "delimiter"])]
    pub(super) record: Option<u64>,
    /// Length of the key at the start of each record [default: the whole record]
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
