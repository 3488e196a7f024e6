//! State of a counting thread.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use nandle_columns::Codes;

use super::super::table::{Groups, Pair};
use super::super::{CodeBatch, CountError, KeySpace, RESULT_GROUPS};
use super::value::ValueCounter;
use super::values::{Ended, Values};

/// A thread's counts of its current row group.
pub(crate) struct ValuePart {
    space: Arc<KeySpace>,
    values: Arc<Values>,
    group: Option<usize>,
    /// True if the rest of the row group is counted otherwise.
    is_given_up: bool,
    counter: Option<ValueCounter>,
    /// Value of the rows in the counter.
    present: Option<u32>,
    /// Groups of earlier values, in order of occurrence.
    closed: BTreeMap<u32, Vec<Groups>>,
    /// Remaining number of value changes: with alternating values, groups would be taken out over
    /// and over.
    changes_left: usize,
    keys: Vec<u64>,
    /// Number of counted rows.
    pub(crate) rows: u64,
}

/// Groups of a value.
pub(crate) struct Finished {
    space: Arc<KeySpace>,
    groups: Groups,
    /// The value's part of keys.
    part: u64,
    at: usize,
    /// True if they are all groups of the value; otherwise they are to be counted with the rest.
    pub(crate) are_all: bool,
}

impl ValuePart {
    /// Maximum occurrences of each value in a row group.
    const TIMES: usize = 4;

    pub(crate) fn new(space: &Arc<KeySpace>, values: &Arc<Values>) -> Self {
        Self {
            space: Arc::clone(space),
            values: Arc::clone(values),
            group: None,
            is_given_up: false,
            counter: None,
            present: None,
            closed: BTreeMap::new(),
            changes_left: 0,
            keys: Vec::new(),
            rows: 0,
        }
    }

    /// Starts a row group. Returns the groups left by the previous one.
    pub(crate) fn begin(&mut self, group: usize) -> Vec<Finished> {
        if self.group == Some(group) {
            return Vec::new();
        }
        let finished = self.end();
        self.group = Some(group);
        self.is_given_up = false;
        self.changes_left = self.values.of_group(group).len() * Self::TIMES;
        finished
    }

    /// Ends the row group. Returns complete groups, and groups to be counted with the rest.
    pub(crate) fn end(&mut self) -> Vec<Finished> {
        self.close();
        let mut finished = Vec::new();
        let values = Arc::clone(&self.values);
        for code in self.group.take().map(|group| values.of_group(group)).unwrap_or_default() {
            match values.end(*code, self.closed.remove(code).unwrap_or_default()) {
                Ended::Kept => {}
                Ended::Complete(parts) => finished.extend(self.complete(*code, parts)),
                Ended::Mixed(parts) => finished.extend(self.finished(*code, parts, false)),
            }
        }
        finished
    }

    /// Counts rows of a batch. Returns the row from which to count otherwise, after the groups of
    /// [`give_up`](Self::give_up) are counted there.
    pub(crate) fn try_push(&mut self, batch: &CodeBatch<'_>) -> usize {
        let leading = batch.column(self.space.leading()).filter(|_| !self.is_given_up);
        let Some((shifted, Codes::Runs(runs))) = leading.map(|column| (column.shifted, column.codes)) else {
            return 0;
        };
        let mut from = 0;
        for run in runs {
            let code = u32::try_from(shifted.of(run.code) / self.space.cells_behind());
            if !code.is_ok_and(|code| self.change_to(code)) {
                break;
            }
            from = self.push(batch, from..run.end);
            if from < run.end {
                break;
            }
        }
        self.rows += from as u64;
        from
    }

    /// Switches to the rows of a value, if possible.
    fn change_to(&mut self, code: u32) -> bool {
        if self.present == Some(code) {
            return true;
        }
        let has_room = self.close();
        let is_allowed = self.changes_left > 0;
        self.changes_left = self.changes_left.saturating_sub(1);
        if self.counter.is_none() {
            self.counter = self.values.counter(&self.space);
        }
        self.present = Some(code).filter(|_| has_room && is_allowed && self.counter.is_some());
        self.present.is_some()
    }

    /// Takes the current value's groups out of the counter. Returns false if there is no memory to
    /// keep them.
    fn close(&mut self) -> bool {
        let (Some(code), Some(counter)) = (self.present.take(), &mut self.counter) else { return true };
        let (groups, has_room) = self.values.close(counter, &self.space);
        self.closed.entry(code).or_default().push(groups);
        has_room
    }

    /// Counts rows of one value. Returns the row at which the memory was full, or the end of the
    /// rows.
    fn push(&mut self, batch: &CodeBatch<'_>, rows: Range<usize>) -> usize {
        let leading = Some(self.space.leading());
        let are_runs = batch.are_runs(leading);
        let Some(counter) = &mut self.counter else { return rows.start };
        let mut from = rows.start;
        while from < rows.end {
            let tile = from..rows.end.min(from + CodeBatch::TILE_ROWS);
            if !self.values.make_room(counter, tile.len()) {
                break;
            }
            from = tile.end;
            if are_runs {
                batch.each_run(leading, tile, |key, rows| counter.add_group((key, rows as u64)));
            } else {
                batch.keys_without(leading, tile, &mut self.keys);
                counter.add(&self.keys);
            }
        }
        from
    }

    /// Stops counting this row group. Returns its groups, to be counted with the rest.
    pub(crate) fn give_up(&mut self) -> Vec<Finished> {
        if std::mem::replace(&mut self.is_given_up, true) {
            return Vec::new();
        }
        self.close();
        let mut finished = Vec::new();
        let values = Arc::clone(&self.values);
        for code in self.group.map(|group| values.of_group(group)).unwrap_or_default() {
            let mut parts = values.mix(*code);
            parts.extend(self.closed.remove(code).unwrap_or_default());
            finished.extend(self.finished(*code, parts, false));
        }
        finished
    }

    /// Merges the parts of a value. If the memory doesn't suffice, they are counted with the rest.
    fn complete(&mut self, code: u32, parts: Vec<Groups>) -> Vec<Finished> {
        let parts = if parts.len() > 1 { self.together(parts) } else { Ok(parts) };
        match parts {
            Ok(whole) => self.finished(code, whole, true),
            Err(parts) => self.finished(code, parts, false),
        }
    }

    fn together(&mut self, parts: Vec<Groups>) -> Result<Vec<Groups>, Vec<Groups>> {
        let Some(counter) = &mut self.counter else { return Err(parts) };
        for part in &parts {
            if !self.values.make_room(counter, part.len()) {
                // Nothing is lost: the groups are in the parts.
                let (again, _) = self.values.close(counter, &self.space);
                self.values.let_go(&again);
                return Err(parts);
            }
            part.pairs(0, usize::MAX).for_each(|pair| counter.add_group(pair));
        }
        for part in &parts {
            self.values.let_go(part);
        }
        Ok(vec![self.values.close(counter, &self.space).0])
    }

    fn finished(&self, code: u32, parts: Vec<Groups>, are_all: bool) -> Vec<Finished> {
        let part = u64::from(code) * self.space.cells_behind();
        let finished = |groups| Finished { space: Arc::clone(&self.space), groups, part, at: 0, are_all };
        parts.into_iter().map(finished).collect()
    }

    /// Releases the memory of groups that were handed out.
    pub(crate) fn let_go(&self, finished: &Finished) {
        self.values.let_go(&finished.groups);
    }
}

impl Finished {
    /// Returns the next groups: the columns' values, and `count`. `None` at the end.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, CountError> {
        let (keys, counts): (Vec<u64>, Vec<u64>) = self.next(RESULT_GROUPS).unzip();
        self.at += keys.len();
        if keys.is_empty() { Ok(None) } else { self.space.batch(&keys, counts).map(Some) }
    }

    /// Returns the next groups as keys and counts; empty at the end.
    pub(crate) fn next_pairs(&mut self, groups_max: usize) -> Vec<Pair> {
        let pairs: Vec<Pair> = self.next(groups_max).collect();
        self.at += pairs.len();
        pairs
    }

    fn next(&self, groups_max: usize) -> impl Iterator<Item = Pair> {
        self.groups.pairs(self.at, groups_max).map(|(key, count)| (key + self.part, count))
    }
}
