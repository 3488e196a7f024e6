use super::workspace::Workspace;
use crate::rows::code::Code;
use crate::rows::{Row, common_prefix};

/// The sorted rows of a workspace, one after the other.
pub(crate) struct MemoryRows {
    workspace: Workspace,
    /// How many were stepped to.
    taken: usize,
}

impl MemoryRows {
    pub(super) fn new(workspace: Workspace) -> Self {
        Self { workspace, taken: 0 }
    }

    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The present row.
    pub(crate) fn row(&self) -> Row<'_> {
        debug_assert!(self.taken > 0, "a step comes before the first row");
        self.workspace.sorted_row(self.taken - 1)
    }

    /// Goes on to the next row. Returns its code relative to the one before it.
    pub(crate) fn step(&mut self) -> Code {
        if self.taken == self.workspace.rows() {
            return Code::END;
        }
        let next = self.workspace.sorted_row(self.taken).key;
        let code = if self.taken == 0 {
            Code::at(0, next)
        } else {
            let before = self.row().key;
            Code::relative(common_prefix(before, next), next, before)
        };
        self.taken += 1;
        code
    }
}
