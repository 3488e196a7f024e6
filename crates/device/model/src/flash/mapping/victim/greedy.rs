//! Least valid data; ties go to the first.

use super::Candidate;

pub(crate) fn choose(candidates: impl Iterator<Item = Candidate>) -> Option<Candidate> {
    candidates.min_by_key(|candidate| candidate.valid_units)
}
