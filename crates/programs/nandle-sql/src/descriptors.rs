//! How many files may be open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A join that writes its rows to temporary files has 64 of them open for each thread, and the system's usual limit is for programs with few. What the
/// system doesn't allow is said by the query that needs it.
pub(crate) fn allow_all_there_may_be() {
    let limit = getrlimit(Resource::Nofile);
    _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
