//! Result files that only this program writes.

use nandle_terminal::result_file::Content;

/// Header of a file of rejects.
pub(crate) const REJECTS_HEADER: [&str; 4] = ["file", "line", "reason", "row"];

/// Rejected rows of a load.
pub(crate) const REJECTS: Content = Content {
    kind: "file of rejects",
    start_bytes: 64,
    is_one: |there| there.starts_with(b"file,line,reason,row\n"),
};
