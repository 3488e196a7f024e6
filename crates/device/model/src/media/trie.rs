//! Persistent map from block numbers. Clones share all nodes, and a change copies only the nodes on
//! its path (Driscoll, Sarnak, Sleator, Tarjan: *Making data structures persistent*, 1989).
#![allow(clippy::indexing_slicing, reason = "a place is a number's four bits, and a node has sixteen places")]

use std::ops::Range;
use std::sync::Arc;

const BITS: u32 = 4;
const FAN_OUT: usize = 1 << BITS;

/// Map with keys below the count given to [`Trie::for_keys`].
#[derive(Debug, Clone)]
pub(super) struct Trie<T> {
    root: Option<Arc<Node<T>>>,
    /// Levels of branches above the leaves.
    height: u32,
}

#[derive(Debug, Clone)]
enum Node<T> {
    Branch([Option<Arc<Node<T>>>; FAN_OUT]),
    Leaf([Option<T>; FAN_OUT]),
}

impl<T: Clone> Trie<T> {
    pub(super) fn for_keys(count: u64) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let new = Self { root: None, height: bits.div_ceil(BITS).saturating_sub(1) };
        debug_assert!(new.has_place_for(count.saturating_sub(1)), "{count} keys in {} levels", new.height);
        new
    }

    pub(super) fn get(&self, key: u64) -> Option<&T> {
        debug_assert!(self.has_place_for(key), "key {key} with {} levels of branches", self.height);
        let mut node = self.root.as_deref()?;
        let mut height = self.height;
        loop {
            match node {
                Node::Leaf(values) => return values[place(key, 0)].as_ref(),
                Node::Branch(children) => node = children[place(key, height)].as_deref()?,
            }
            height -= 1;
        }
    }

    /// Returns true if the trie has a place for the key.
    fn has_place_for(&self, key: u64) -> bool {
        key.checked_shr((self.height + 1) * BITS).unwrap_or(0) == 0
    }

    /// Inserts or removes a value; returns the previous one.
    pub(super) fn set(&mut self, key: u64, value: Option<T>) -> Option<T> {
        debug_assert!(self.has_place_for(key), "key {key} with {} levels of branches", self.height);
        set(&mut self.root, self.height, key, value)
    }

    /// Keys with values in a range, in order.
    pub(super) fn keys(&self, range: Range<u64>) -> Vec<u64> {
        let mut found = Vec::new();
        if let Some(root) = &self.root {
            collect(root, self.height, 0, &range, &mut found);
        }
        debug_assert!(found.is_sorted_by(|one, next| one < next), "keys come in order");
        debug_assert!(found.iter().all(|key| range.contains(key)), "{found:?} lie within {range:?}");
        found
    }
}

fn set<T: Clone>(slot: &mut Option<Arc<Node<T>>>, height: u32, key: u64, value: Option<T>) -> Option<T> {
    if slot.is_none() && value.is_none() {
        return None;
    }
    match Arc::make_mut(slot.get_or_insert_with(|| Arc::new(Node::empty(height)))) {
        Node::Leaf(values) => std::mem::replace(&mut values[place(key, 0)], value),
        Node::Branch(children) => set(&mut children[place(key, height)], height - 1, key, value),
    }
}

fn collect<T>(node: &Node<T>, height: u32, first: u64, range: &Range<u64>, found: &mut Vec<u64>) {
    let span = 1 << (height * BITS);
    let starts = (0..FAN_OUT as u64).map(|index| first + index * span);
    let within = |start: &u64| *start < range.end && start.saturating_add(span) > range.start;
    match node {
        Node::Leaf(values) => {
            let there = starts.zip(values).filter(|(key, value)| within(key) && value.is_some());
            found.extend(there.map(|(key, _)| key));
        }
        Node::Branch(children) => {
            for (start, child) in starts.zip(children).filter(|(start, _)| within(start)) {
                if let Some(child) = child {
                    collect(child, height - 1, start, range, found);
                }
            }
        }
    }
}

impl<T> Node<T> {
    fn empty(height: u32) -> Self {
        match height {
            0 => Self::Leaf(Default::default()),
            _ => Self::Branch(Default::default()),
        }
    }
}

fn place(key: u64, height: u32) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "four bits")]
    let place = ((key >> (height * BITS)) & (FAN_OUT as u64 - 1)) as usize;
    place
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map_and_its_clones_stay_as_they_were(
            count in 1_u64..100_000,
            changes in prop::collection::vec((any::<u64>(), prop::option::of(any::<u32>())), 0..200),
            range in any::<(u64, u64)>(),
        ) {
            let mut trie = Trie::for_keys(count);
            let mut oracle = BTreeMap::new();
            let mut snapshots = Vec::new();
            for (key, value) in changes {
                let key = key % count;
                let before = match value {
                    Some(value) => oracle.insert(key, value),
                    None => oracle.remove(&key),
                };
                prop_assert_eq!(trie.set(key, value), before);
                snapshots.push((trie.clone(), oracle.clone()));
            }
            let range = range.0 % count..range.1 % count;
            for (trie, oracle) in snapshots {
                prop_assert!(trie.keys(0..count).iter().eq(oracle.keys()));
                let wanted = oracle.keys().filter(|key| range.contains(key));
                prop_assert!(trie.keys(range.clone()).iter().eq(wanted));
                prop_assert!(oracle.iter().all(|(key, value)| trie.get(*key) == Some(value)));
            }
        }
    }

    #[test]
    fn a_device_of_one_block_and_one_of_an_exbibyte() {
        for count in [1, 15, 16, 17, 1 << 48] {
            let mut trie = Trie::for_keys(count);
            trie.set(count - 1, Some(1));
            assert_eq!(
                (trie.get(0), trie.get(count - 1)),
                (if count == 1 { Some(&1) } else { None }, Some(&1))
            );
        }
    }
}
