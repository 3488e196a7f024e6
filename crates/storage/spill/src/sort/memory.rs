use super::workspace::{Position, Workspace};
use crate::rows::code::Code;
use crate::rows::{Row, common_prefix};

/// So many rows are looked up together: where the next ones lie is asked of memory at once, not one after the other.
const AHEAD: usize = 16;

/// The sorted rows of a workspace, one after the other.
pub(crate) struct MemoryRows {
    workspace: Workspace,
    /// How many were stepped to.
    taken: usize,
    /// Where the rows from the last multiple of [`AHEAD`] on lie.
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

    /// Their memory, empty.
    pub(crate) fn into_workspace(self) -> Workspace {
        self.workspace.emptied()
    }

    /// The present row.
    pub(crate) fn row(&self) -> Row<'_> {
        debug_assert!(self.taken > 0, "a step comes before the first row");
        self.workspace.row(self.present)
    }

    /// Goes on to the next row. Returns its code relative to the one before it.
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
        // A row lies in several cache lines, and only the first of them was asked for by its position.
        let ahead = self.ahead.iter().take(found);
        std::hint::black_box(ahead.fold(0, |all, position| all ^ self.workspace.glance(*position)));
    }
}
