//! Free space times age over the cost of reading and writing (Rosenblum, Ousterhout: *The Design
//! and Implementation of a Log-Structured File System*, SOSP 1991, §3.5): (1 − u) · age / (1 + u).

use super::{Candidate, Superblocks};

pub(crate) fn choose(superblocks: &Superblocks) -> Option<Candidate> {
    let fullest = superblocks.candidates().map(|candidate| candidate.valid_units).max()?.max(1);
    let benefit = |candidate: &Candidate| {
        let utilisation = f64::from(candidate.valid_units) / f64::from(fullest);
        (1.0 - utilisation) * (candidate.age + 1) as f64 / (1.0 + utilisation)
    };
    superblocks.candidates().max_by(|a, b| benefit(a).total_cmp(&benefit(b)))
}
