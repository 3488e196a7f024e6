//! A folder's names in the cache and after a power cut.

use std::collections::BTreeMap;

use super::file::Contents;
use super::kind::{CallKind, Calls};

/// Calls that fail.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Plan {
    /// Kind and number of the one call to fail.
    pub(super) fail: Option<(CallKind, u64)>,
    /// Number of the call before which the process is killed. All calls from it on fail.
    pub(super) end: Option<u64>,
}

/// Volatile state that survives a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Survivors {
    /// All of it. The process was killed while the power stayed on.
    All,
    /// None of it.
    None,
    /// Every other block.
    Some,
}

impl Survivors {
    pub(super) const ALL: [Self; 3] = [Self::All, Self::None, Self::Some];
}

/// A change of names that becomes durable as a whole or not at all.
type NameChange = Vec<(String, Option<u64>)>;

/// State of the file system.
#[derive(Debug, Clone, Default)]
pub(super) struct Folder {
    /// Numbers of files by name, as programs see them.
    names: BTreeMap<String, u64>,
    durable_names: BTreeMap<String, u64>,
    /// Volatile changes, in order.
    dirty_names: Vec<NameChange>,
    /// Files by number. Unnamed files may still be open, or regain a name in a power cut.
    files: BTreeMap<u64, Contents>,
    /// Numbers given out so far.
    numbers: u64,
    plan: Plan,
    pub(super) calls: Calls,
    pub(super) has_failed: bool,
}

impl Folder {
    /// Empties the folder and installs a plan of failures.
    pub(super) fn reset(&mut self, plan: Plan) {
        *self = Self { plan, numbers: self.numbers, ..Self::default() };
    }

    /// Ends all failures.
    pub(super) fn end_failures(&mut self) {
        self.plan = Plan::default();
    }

    /// Restores an earlier state. File numbers aren't reused.
    pub(super) fn restore(&mut self, state: &Self) {
        *self = Self { numbers: self.numbers, ..state.clone() };
    }

    /// Counts a call. Returns true if it must fail.
    pub(super) fn fails(&mut self, kind: CallKind) -> bool {
        let nth = self.calls.count(kind);
        let has_ended = self.plan.end.is_some_and(|end| self.calls.all() >= end);
        let fails = has_ended || self.plan.fail == Some((kind, nth));
        self.has_failed |= fails;
        fails
    }

    /// Returns true if the process has been killed.
    pub(super) fn has_ended(&self) -> bool {
        self.plan.end.is_some_and(|end| self.calls.all() >= end)
    }

    fn new_number(&mut self) -> u64 {
        self.numbers += 1;
        // The folder has number 1.
        1 + self.numbers
    }

    pub(super) fn create(&mut self, name: &str) -> u64 {
        let number = self.new_number();
        self.files.insert(number, Contents::default());
        self.change(vec![(name.to_owned(), Some(number))]);
        number
    }

    /// Adds a durable file.
    pub(super) fn put(&mut self, name: &str, bytes: &[u8]) {
        let number = self.new_number();
        self.files.insert(number, Contents::durable(bytes));
        self.names.insert(name.to_owned(), number);
        self.durable_names.insert(name.to_owned(), number);
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.change(vec![(name.to_owned(), None)]);
    }

    /// Renames a file. The file replaced loses its name, or receives the first file's name in an
    /// exchange.
    pub(super) fn rename(&mut self, from: &str, to: &str, is_exchange: bool) {
        let other = if is_exchange { self.number_of(to) } else { None };
        self.change(vec![(from.to_owned(), other), (to.to_owned(), self.number_of(from))]);
    }

    fn change(&mut self, change: NameChange) {
        apply(&mut self.names, &change);
        self.dirty_names.push(change);
    }

    pub(super) fn number_of(&self, name: &str) -> Option<u64> {
        self.names.get(name).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn file(&mut self, number: u64) -> Option<&mut Contents> {
        self.files.get_mut(&number)
    }

    /// Syncs the names. A failed sync also marks them clean.
    pub(super) fn sync_names(&mut self, fails: bool) {
        for change in std::mem::take(&mut self.dirty_names) {
            if !fails {
                apply(&mut self.durable_names, &change);
            }
        }
    }

    /// Cuts the power or kills the process. Surviving files get new numbers, so that the kernel has
    /// none of their contents cached.
    pub(super) fn cut(&mut self, survivors: Survivors) {
        let changes = std::mem::take(&mut self.dirty_names);
        let kept = match survivors {
            // Nothing becomes durable, and nothing is lost.
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
