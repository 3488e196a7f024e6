//! The kernel's letters for the kind of a request (`RWBS`): an optional flush before it (`F`), the
//! operation, and flags.
//!
//! ```text
//! [F] R | W | D | DE | F | N | ZA | ZR | ZRA | ZF | ZO | ZC  [F] [A] [S] [M] [U]
//! flush   operation, Z… for zones                            FUA, read-ahead, sync, metadata, atomic
//! ```

use crate::Operation;

/// Parsed letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestKind {
    /// Operation; `None` if the request moves no data (`N`).
    pub(crate) operation: Option<Operation>,
    /// True if the device is flushed before the request.
    pub(crate) flushes_before: bool,
    /// True if the request is durable when it completes (forced unit access).
    pub(crate) is_durable: bool,
}

impl RequestKind {
    /// Parses the letters.
    pub(crate) fn of(letters: &str) -> Self {
        let after_flush =
            letters.strip_prefix('F').filter(|rest| rest.starts_with(['R', 'W', 'D', 'F', 'N', 'Z']));
        let rest = after_flush.unwrap_or(letters);
        let (operation, flags) = operation(rest);
        let is_alone = after_flush.is_some() && operation.is_none();
        let operation = if is_alone { Some(Operation::Sync) } else { operation };
        let moves_data = operation.is_some_and(Operation::is_write);
        Self {
            operation,
            flushes_before: after_flush.is_some() && operation != Some(Operation::Sync),
            is_durable: moves_data && flags.contains('F'),
        }
    }
}

/// Returns the operation and the letters behind it.
fn operation(letters: &str) -> (Option<Operation>, &str) {
    const TWO: [(&str, Operation); 5] = [
        ("ZA", Operation::Append),
        ("ZR", Operation::ZoneReset),
        ("ZF", Operation::ZoneFinish),
        ("ZO", Operation::ZoneOpen),
        ("ZC", Operation::ZoneClose),
    ];
    const ONE: [(&str, Operation); 4] =
        [("R", Operation::Read), ("W", Operation::Write), ("D", Operation::Discard), ("F", Operation::Sync)];
    let mut known = TWO.into_iter().chain(ONE);
    let found = known.find_map(|(name, operation)| Some((operation, letters.strip_prefix(name)?)));
    found.map_or((None, ""), |(operation, flags)| (Some(operation), flags))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_for_operations() {
        for (letters, expected) in [
            ("R", Some(Operation::Read)),
            ("RA", Some(Operation::Read)),
            ("RSF", Some(Operation::Read)),
            ("WS", Some(Operation::Write)),
            ("FWFS", Some(Operation::Write)),
            ("WSM", Some(Operation::Write)),
            ("FF", Some(Operation::Sync)),
            ("FN", Some(Operation::Sync)),
            ("F", Some(Operation::Sync)),
            ("D", Some(Operation::Discard)),
            ("DE", Some(Operation::Discard)),
            ("ZA", Some(Operation::Append)),
            ("ZRA", Some(Operation::ZoneReset)),
            ("ZF", Some(Operation::ZoneFinish)),
            ("ZO", Some(Operation::ZoneOpen)),
            ("ZC", Some(Operation::ZoneClose)),
            ("N", None),
            ("Z", None),
            ("", None),
        ] {
            assert_eq!(RequestKind::of(letters).operation, expected, "{letters}");
        }
    }

    #[test]
    fn flush_and_forced_unit_access_are_distinguished() {
        let flags = |letters| {
            let kind = RequestKind::of(letters);
            (kind.flushes_before, kind.is_durable)
        };
        assert_eq!(["FF", "FN", "WS", "RSF", "ZF"].map(flags), [(false, false); 5]);
        assert_eq!(["WFS", "ZAFS"].map(flags), [(false, true); 2]);
        assert_eq!(flags("FWS"), (true, false));
        assert_eq!(flags("FWFSM"), (true, true));
    }
}
