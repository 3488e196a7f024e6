use super::workspace::{Position, Workspace};
use crate::rows::code::Code;
use crate::rows::{Row, common_prefix};

/// Number of rows looked up together, so that their cache misses overlap.
const AHEAD: usize = 16;

/// Iterates over the sorted rows of a workspace.
pub(crate) struct MemoryRows {
    workspace: Workspace,
    /// Number of rows stepped to.
    taken: usize,
    /// Positions of the rows from the last multiple of [`AHEAD`] on.
    ahead: [Position; AHEAD],
    present: Position,
}

impl MemoryRows {
    pub(super) fn new(workspace: Workspace) -> Self {
        let nowhere = Position::default();
        Self { workspace, taken: 0, ahead: [nowhere; AHEAD], present: nowhere }
    }

    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the memory, emptied.
    pub(crate) fn into_workspace(self) -> Workspace {
        self.workspace.into_empty()
    }

    /// The current row.
    pub(crate) fn row(&self) -> Row<'_> {
        debug_assert!(self.taken > 0, "a step comes before the first row");
        self.workspace.row(self.present)
    }

    /// Advances to the next row. Returns its code relative to the row before it.
    pub(crate) fn step(&mut self) -> Code {
        if self.taken == self.workspace.rows() {
            return Code::END;
        }
        let before = self.present;
        let (taken, slot) = (self.taken, self.taken % AHEAD);
        if slot == 0 {
            self.look_ahead();
        }
        self.present = self.ahead.get(slot).copied().unwrap_or_default();
        self.taken += 1;
        let next = self.row().key;
        if taken == 0 {
            return Code::at(0, next);
        }
        let before = self.workspace.row(before).key;
        Code::relative(common_prefix(before, next), next, before)
    }

    fn look_ahead(&mut self) {
        let numbers = self.taken..self.workspace.rows();
        let mut found = 0;
        for (position, number) in self.ahead.iter_mut().zip(numbers) {
            *position = self.workspace.sorted_position(number);
            found += 1;
        }
        // A row spans several cache lines, and finding its position loaded only the first.
        let ahead = self.ahead.iter().take(found);
        std::hint::black_box(ahead.fold(0, |all, position| all ^ self.workspace.touch(*position)));
    }
}
