//! Splitting of requests over the members of a layout.

use super::parameters::LayoutParameters;

/// Part of a request on one column: a member, or a pair of mirrors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) column: usize,
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u64,
}

/// A layout over members of equal capacity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    kind: LayoutParameters,
    members: usize,
    member_bytes: u64,
}

impl Layout {
    pub(crate) fn new(kind: LayoutParameters, members: usize, member_bytes: u64) -> Self {
        Self { kind, members, member_bytes }
    }

    /// Total usable capacity.
    pub(crate) fn capacity_bytes(&self) -> u64 {
        let usable_bytes = match self.kind {
            LayoutParameters::Simple => self.member_bytes,
            LayoutParameters::Raid0 { chunk_bytes } | LayoutParameters::Raid10 { chunk_bytes } => {
                self.member_bytes / chunk_bytes * chunk_bytes
            }
        };
        self.columns() as u64 * usable_bytes
    }

    /// Members of a column. A read needs one of them, a write all.
    pub(crate) fn members_of(&self, column: usize) -> std::ops::Range<usize> {
        match self.kind {
            LayoutParameters::Raid10 { .. } => 2 * column..2 * column + 2,
            LayoutParameters::Simple | LayoutParameters::Raid0 { .. } => column..column + 1,
        }
    }

    /// Number of volumes that the host sees: each simple member is one.
    pub(crate) fn volumes(&self) -> usize {
        if self.kind.is_simple() { self.members } else { 1 }
    }

    /// Volume of an address in the members' common address space.
    pub(crate) fn volume_at(&self, offset_bytes: u64) -> usize {
        if self.kind.is_simple() { self.first_part(offset_bytes, 1).column } else { 0 }
    }

    /// All members.
    pub(crate) fn members(&self) -> std::ops::Range<usize> {
        0..self.members
    }

    /// Splits a range into parts. Adjacent pieces of one column become one part.
    pub(crate) fn split(&self, offset_bytes: u64, length_bytes: u64) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let mut done_bytes = 0;
        while done_bytes < length_bytes || (length_bytes == 0 && parts.is_empty()) {
            let part = self.first_part(offset_bytes + done_bytes, length_bytes - done_bytes);
            done_bytes += part.length_bytes;
            let earlier = parts.iter_mut().find(|earlier| {
                earlier.column == part.column
                    && earlier.offset_bytes + earlier.length_bytes == part.offset_bytes
            });
            match earlier {
                Some(earlier) => earlier.length_bytes += part.length_bytes,
                None => parts.push(part),
            }
        }
        parts
    }

    fn first_part(&self, offset_bytes: u64, length_bytes: u64) -> Part {
        let columns = self.columns() as u64;
        let chunk_bytes = match self.kind {
            LayoutParameters::Simple => self.member_bytes.max(1),
            LayoutParameters::Raid0 { chunk_bytes } | LayoutParameters::Raid10 { chunk_bytes } => chunk_bytes,
        };
        let (chunk, within) = (offset_bytes / chunk_bytes, offset_bytes % chunk_bytes);
        Part {
            column: usize::try_from(chunk % columns).unwrap_or(0),
            offset_bytes: chunk / columns * chunk_bytes + within,
            length_bytes: length_bytes.min(chunk_bytes - within),
        }
    }

    fn columns(&self) -> usize {
        match self.kind {
            LayoutParameters::Raid10 { .. } => self.members / 2,
            LayoutParameters::Simple | LayoutParameters::Raid0 { .. } => self.members,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_request_is_one_part_per_column() {
        let layout = Layout::new(LayoutParameters::Raid0 { chunk_bytes: 64 }, 3, 1 << 20);
        let parts = layout.split(32, 64 * 6);
        assert_eq!(parts.len(), 3);
        assert_eq!(parts[0], Part { column: 0, offset_bytes: 32, length_bytes: 128 });
        assert_eq!(parts.iter().map(|part| part.length_bytes).sum::<u64>(), 64 * 6);
    }

    #[test]
    fn mirrors_halve_the_capacity() {
        let layout = Layout::new(LayoutParameters::Raid10 { chunk_bytes: 4096 }, 4, 1 << 20);
        assert_eq!(layout.capacity_bytes(), 2 << 20);
        assert_eq!(layout.members_of(1), 2..4);
    }

    #[test]
    fn simple_members_follow_each_other() {
        let layout = Layout::new(LayoutParameters::Simple, 2, 1000);
        let parts = layout.split(900, 200);
        assert_eq!(parts[0], Part { column: 0, offset_bytes: 900, length_bytes: 100 });
        assert_eq!(parts[1], Part { column: 1, offset_bytes: 0, length_bytes: 100 });
    }
}
