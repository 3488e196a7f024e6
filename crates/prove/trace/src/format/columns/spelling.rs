use crate::Operation;
use crate::format::rwbs::RequestKind;

/// Spelling of operations in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// Words such as `read`, or the kernel's letters such as `WS`.
    Words,
    /// `Read` and `Write` only.
    ReadWrite,
    /// `R` and `W` only.
    Letter,
    /// One number for reads, another for writes.
    Numbers {
        /// Number for reads, 0 or 1.
        read: u8,
    },
    /// Hexadecimal number whose lowest bit is set for reads.
    Flags,
}

impl Spelling {
    /// Returns the operation that a field names.
    pub(super) fn read(self, text: &str) -> Result<Operation, String> {
        let known = match self {
            Self::Words => words(text),
            Self::ReadWrite => Operation::named(text).filter(|operation| is_read_or_write(*operation)),
            Self::Letter => match text {
                "R" | "r" => Some(Operation::Read),
                "W" | "w" => Some(Operation::Write),
                _ => None,
            },
            Self::Numbers { read } => match text {
                "0" | "1" => Some(of_read(text == read.to_string())),
                _ => None,
            },
            Self::Flags => flags(text),
        };
        known.ok_or_else(|| format!("the operation should be {} and is {text:?}", self.expected()))
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Words => {
                "a word such as read or W (for numbers, say which one reads: op=3:read0 or op=3:read1)"
            }
            Self::ReadWrite => "Read or Write",
            Self::Letter => "R or W",
            Self::Numbers { .. } => "0 or 1",
            Self::Flags => "hexadecimal flags",
        }
    }
}

fn words(text: &str) -> Option<Operation> {
    let lower = text.to_ascii_lowercase();
    match lower.as_str() {
        "trim" | "unmap" => Some(Operation::Discard),
        "flush" | "fsync" | "fdatasync" => Some(Operation::Sync),
        _ if text.bytes().all(|byte| byte.is_ascii_alphabetic()) && text.len() <= 4 => {
            let kind = RequestKind::of(&text.to_ascii_uppercase());
            Operation::named(text).or(kind.operation)
        }
        _ => Operation::named(text),
    }
}

fn flags(text: &str) -> Option<Operation> {
    /// Requests use only a few flags; more bits indicate another column.
    const FLAGS_MAX: u64 = 0xffff;
    let flags = u64::from_str_radix(text, 16).ok().filter(|flags| *flags <= FLAGS_MAX)?;
    Some(of_read(flags & 1 == 1))
}

fn of_read(is_read: bool) -> Operation {
    if is_read { Operation::Read } else { Operation::Write }
}

fn is_read_or_write(operation: Operation) -> bool {
    matches!(operation, Operation::Read | Operation::Write)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_spelled_in_many_ways() {
        let of = |spelling: Spelling, text| spelling.read(text).ok();
        for (text, expected) in [
            ("read", Some(Operation::Read)),
            ("W", Some(Operation::Write)),
            ("WS", Some(Operation::Write)),
            ("trim", Some(Operation::Discard)),
            ("Flush", Some(Operation::Sync)),
            ("zone-reset", Some(Operation::ZoneReset)),
            ("0", None),
            ("", None),
            ("é", None),
        ] {
            assert_eq!(of(Spelling::Words, text), expected, "{text}");
        }
        assert_eq!(of(Spelling::ReadWrite, "W"), None);
        assert_eq!(of(Spelling::ReadWrite, "Sync"), None);
        assert_eq!(of(Spelling::Letter, "Read"), None);
        assert_eq!(of(Spelling::Numbers { read: 0 }, "0"), Some(Operation::Read));
        assert_eq!(of(Spelling::Numbers { read: 1 }, "0"), Some(Operation::Write));
        assert_eq!(of(Spelling::Numbers { read: 1 }, "2"), None);
        assert_eq!(of(Spelling::Flags, "11"), Some(Operation::Read));
        assert_eq!(of(Spelling::Flags, "0"), Some(Operation::Write));
    }
}
