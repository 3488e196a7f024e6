//! Tournament tree of losers (Knuth, *The Art of Computer Programming* 3, §5.4.1) with offset-value
//! [codes](crate::rows::code). Each inner node stores the source that lost there. The loser's code
//! is relative to the winner's key.

use std::cmp::Ordering;

use super::source::Source;
use crate::rows::code::{self, Code};

const NONE: usize = usize::MAX;

pub(super) struct Tree {
    /// Code of each source's current key, relative to the last key it lost to.
    codes: Vec<Code>,
    /// Loser of each node, or `NONE` before two sources have met there. Node 0 stores the overall
    /// winner.
    nodes: Vec<usize>,
}

impl Tree {
    /// Creates a tree for `sources` sources; each must still [enter](Self::enter).
    pub(super) fn new(sources: usize) -> Self {
        Self { codes: vec![Code::END; sources], nodes: vec![NONE; sources.max(1)] }
    }

    pub(super) fn code(&self, source: usize) -> Code {
        self.codes.get(source).copied().unwrap_or(Code::END)
    }

    /// Returns the source with the least key, once all have entered.
    pub(super) fn winner(&self) -> Option<usize> {
        self.nodes.first().copied().filter(|winner| *winner != NONE)
    }

    /// Enters the first row of a source.
    pub(super) fn enter(&mut self, source: usize, code: Code, sources: &[Source]) {
        self.climb(source, code, sources);
    }

    /// Enters the winner's next row; `code` is relative to its previous row.
    pub(super) fn replay(&mut self, source: usize, code: Code, sources: &[Source]) {
        debug_assert_eq!(self.winner(), Some(source), "only the winner goes on");
        self.climb(source, code, sources);
    }

    fn climb(&mut self, source: usize, code: Code, sources: &[Source]) {
        let Self { codes, nodes } = self;
        let Some(own) = codes.get_mut(source) else { unreachable!("{source} is a source") };
        *own = code;
        let mut climber = source;
        let mut node = usize::midpoint(source, sources.len());
        while node > 0 {
            let Some(loser) = nodes.get_mut(node) else { unreachable!("{node} is an inner node") };
            if *loser == NONE {
                *loser = climber;
                return;
            }
            let waiting = *loser;
            if is_before(codes, sources, waiting, climber) {
                *loser = climber;
                climber = waiting;
            }
            node /= 2;
        }
        if let Some(winner) = nodes.first_mut() {
            *winner = climber;
        }
    }
}

/// Returns true if `one` sorts before `other`. Equal keys follow the order of their sources.
fn is_before(codes: &mut [Code], sources: &[Source], one: usize, other: usize) -> bool {
    let (first, second) = (one.min(other), one.max(other));
    let Ok([first_code, second_code]) = codes.get_disjoint_mut([first, second]) else {
        unreachable!("{first} and {second} are two sources")
    };
    // Codes decide most comparisons without reading the keys.
    let order = if first_code == second_code && *first_code != Code::END {
        let (Some(first), Some(second)) = (sources.get(first), sources.get(second)) else {
            unreachable!("{first} and {second} are sources")
        };
        code::compare((first_code, first.key()), (second_code, second.key()))
    } else {
        (*first_code).cmp(second_code)
    };
    let first_wins = order != Ordering::Greater;
    first_wins == (one == first)
}
