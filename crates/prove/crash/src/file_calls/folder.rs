//! A folder of files, with what a power cut would leave of their names.

use std::collections::BTreeMap;

use super::file::Contents;
use super::kind::{CallKind, Calls};

/// Which calls fail.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Plan {
    /// The n-th of a kind.
    pub(super) fail: Option<(CallKind, u64)>,
    /// All from the n-th on, whatever their kind: the process is killed before it.
    pub(super) end: Option<u64>,
}

/// How much of what isn't durable a power cut leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Survivors {
    /// All of it: the process was killed, and the power stayed on.
    All,
    /// None of it.
    None,
    /// Every other block.
    Some,
}

impl Survivors {
    pub(super) const ALL: [Self; 3] = [Self::All, Self::None, Self::Some];
}

/// A change of names that is durable as a whole or not at all.
type NameChange = Vec<(String, Option<u64>)>;

/// The state of the file system.
#[derive(Debug, Clone, Default)]
pub(super) struct Folder {
    /// Numbers of files by their names, as programs see them.
    names: BTreeMap<String, u64>,
    durable_names: BTreeMap<String, u64>,
    /// In their order.
    dirty_names: Vec<NameChange>,
    /// By their numbers; those without a name may still be open, or come back by a power cut.
    files: BTreeMap<u64, Contents>,
    /// Numbers that were given.
    numbers: u64,
    plan: Plan,
    pub(super) calls: Calls,
    pub(super) has_failed: bool,
}

impl Folder {
    /// An empty one, in which calls are to fail.
    pub(super) fn reset(&mut self, plan: Plan) {
        *self = Self { plan, numbers: self.numbers, ..Self::default() };
    }

    /// No call fails any more.
    pub(super) fn end_failures(&mut self) {
        self.plan = Plan::default();
    }

    /// The state as it was, whose numbers aren't given again.
    pub(super) fn restore(&mut self, state: &Self) {
        *self = Self { numbers: self.numbers, ..state.clone() };
    }

    /// Whether this call, which is counted, is to fail.
    pub(super) fn fails(&mut self, kind: CallKind) -> bool {
        let nth = self.calls.count(kind);
        let has_ended = self.plan.end.is_some_and(|end| self.calls.all() >= end);
        let fails = has_ended || self.plan.fail == Some((kind, nth));
        self.has_failed |= fails;
        fails
    }

    /// Whether all calls fail by now.
    pub(super) fn has_ended(&self) -> bool {
        self.plan.end.is_some_and(|end| self.calls.all() >= end)
    }

    fn new_number(&mut self) -> u64 {
        self.numbers += 1;
        // Number 1 is the folder's.
        1 + self.numbers
    }

    pub(super) fn create(&mut self, name: &str) -> u64 {
        let number = self.new_number();
        self.files.insert(number, Contents::default());
        self.change(vec![(name.to_owned(), Some(number))]);
        number
    }

    /// Puts a durable file there.
    pub(super) fn put(&mut self, name: &str, bytes: &[u8]) {
        let number = self.new_number();
        self.files.insert(number, Contents::durable(bytes));
        self.names.insert(name.to_owned(), number);
        self.durable_names.insert(name.to_owned(), number);
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.change(vec![(name.to_owned(), None)]);
    }

    /// Gives a file another's name, and that one none or, where they are exchanged, the first one's.
    pub(super) fn rename(&mut self, from: &str, to: &str, is_exchange: bool) {
        let other = if is_exchange { self.number_of(to) } else { None };
        self.change(vec![(from.to_owned(), other), (to.to_owned(), self.number_of(from))]);
    }

    fn change(&mut self, change: NameChange) {
        apply(&mut self.names, &change);
        self.dirty_names.push(change);
    }

    /// The number of the file with this name.
    pub(super) fn number_of(&self, name: &str) -> Option<u64> {
        self.names.get(name).copied()
    }

    /// How many files have a name.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn file(&mut self, number: u64) -> Option<&mut Contents> {
        self.files.get_mut(&number)
    }

    /// A sync that fails cleans, too.
    pub(super) fn sync_names(&mut self, fails: bool) {
        for change in std::mem::take(&mut self.dirty_names) {
            if !fails {
                apply(&mut self.durable_names, &change);
            }
        }
    }

    /// A power cut, or the end of the process alone. The files that are left have other numbers, so that the kernel has nothing of
    /// them in its cache.
    pub(super) fn cut(&mut self, survivors: Survivors) {
        let changes = std::mem::take(&mut self.dirty_names);
        let kept = match survivors {
            // Nothing becomes durable by it, and nothing is lost.
            Survivors::All => {
                self.dirty_names = changes;
                return self.renumber(survivors);
            }
            Survivors::None => 0,
            Survivors::Some => changes.len().div_ceil(2),
        };
        for change in changes.iter().take(kept) {
            apply(&mut self.durable_names, change);
        }
        self.names = self.durable_names.clone();
        self.renumber(survivors);
    }

    fn renumber(&mut self, survivors: Survivors) {
        let mut files = std::mem::take(&mut self.files);
        let mut new_numbers = BTreeMap::new();
        for (number, contents) in &mut files {
            contents.cut(survivors);
            new_numbers.insert(*number, self.new_number());
        }
        let new = |number: u64| new_numbers.get(&number).copied().unwrap_or(number);
        self.files = files.into_iter().map(|(number, contents)| (new(number), contents)).collect();
        let names = self.names.values_mut().chain(self.durable_names.values_mut());
        let changed = self.dirty_names.iter_mut().flatten().filter_map(|(_, number)| number.as_mut());
        names.chain(changed).for_each(|number| *number = new(*number));
    }
}

fn apply(names: &mut BTreeMap<String, u64>, change: &NameChange) {
    for (name, number) in change {
        match number {
            Some(number) => names.insert(name.clone(), *number),
            None => names.remove(name),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_of_names_is_there_as_a_whole_or_not_at_all() {
        for (survivors, is_exchanged) in
            [(Survivors::All, true), (Survivors::None, false), (Survivors::Some, true)]
        {
            let mut folder = Folder::default();
            folder.put("old", b"old");
            folder.put("new", b"new");
            folder.rename("new", "old", true);
            folder.cut(survivors);
            let mut contents = |name| {
                let number = folder.number_of(name).unwrap();
                folder.file(number).unwrap().read(0, 3)
            };
            let expected: [&[u8]; 2] = if is_exchanged { [b"new", b"old"] } else { [b"old", b"new"] };
            assert_eq!([contents("old"), contents("new")], expected, "{survivors:?}");
        }
    }

    #[test]
    fn a_failed_sync_of_names_loses_them_and_the_next_one_says_nothing() {
        let mut folder = Folder::default();
        folder.create("store");
        folder.sync_names(true);
        folder.sync_names(false);
        assert_eq!(folder.len(), 1, "it is still there");
        folder.cut(Survivors::None);
        assert_eq!(folder.len(), 0);
    }
}
