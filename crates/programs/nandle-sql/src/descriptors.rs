//! Limit on open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit to the maximum. A spilling join keeps 64 files open per thread, more than the
/// usual limit permits. If that isn't enough, the query reports it.
pub(crate) fn allow_all_there_may_be() {
    let limit = getrlimit(Resource::Nofile);
    _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
