//! A tree of losers with offset-value codes: Knuth, *The Art of Computer Programming* 3, §5.4.1, and the codes of
//! [`code`](crate::rows::code). Each inner node keeps the source that lost there; its code is relative to the one that won.

use std::cmp::Ordering;

use super::source::Source;
use crate::rows::code::{self, Code};

const NONE: usize = usize::MAX;

pub(super) struct Tree {
    /// Of each source's present key, relative to the last one that it was compared with and lost to.
    codes: Vec<Code>,
    /// The losers; `NONE` where no two have met yet. Node 0 has the winner of all.
    nodes: Vec<usize>,
}

impl Tree {
    /// For so many sources, none of which has [entered](Self::enter).
    pub(super) fn new(sources: usize) -> Self {
        Self { codes: vec![Code::END; sources], nodes: vec![NONE; sources.max(1)] }
    }

    pub(super) fn code(&self, source: usize) -> Code {
        self.codes.get(source).copied().unwrap_or(Code::END)
    }

    /// The source with the least key, when all have entered.
    pub(super) fn winner(&self) -> Option<usize> {
        self.nodes.first().copied().filter(|winner| *winner != NONE)
    }

    /// A source has its first row.
    pub(super) fn enter(&mut self, source: usize, code: Code, sources: &[Source]) {
        self.climb(source, code, sources);
    }

    /// The winner has its next row, with a code relative to the one that won.
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

/// Whether the key of `one` comes before that of `other`: equal keys in the order of their sources.
fn is_before(codes: &mut [Code], sources: &[Source], one: usize, other: usize) -> bool {
    let (first, second) = (one.min(other), one.max(other));
    let Ok([first_code, second_code]) = codes.get_disjoint_mut([first, second]) else {
        unreachable!("{first} and {second} are two sources")
    };
    // Most are told apart by their codes, without a look at the keys.
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
