//! Parser of `/proc/self/mountinfo` (`proc_pid_mountinfo(5)`). The crate `procfs` (0.18) isn't
//! used: it doesn't decode escapes, loses the order of options, and rejects a whole file for one
//! line.

use super::block::{Number, parse_number};

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) id: u64,
    /// Device number of its files; some file systems invent one.
    pub(super) number: Number,
    pub(super) at: String,
    pub(super) kind: String,
    pub(super) source: String,
    /// Options of the mount, then of the file system, without duplicates.
    pub(super) options: Vec<String>,
}

/// Parses all valid lines.
pub(super) fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Mount> {
    let (mount, file_system) = line.split_once(" - ")?;
    let mut fields = mount.split(' ');
    let id = fields.next()?.parse().ok()?;
    let number = parse_number(fields.nth(1)?)?;
    let at = unescape(fields.nth(1)?);
    let mount_options = fields.next()?;
    let mut fields = file_system.split(' ');
    let kind = unescape(fields.next()?);
    let source = unescape(fields.next()?);
    let mut options: Vec<String> = Vec::new();
    for option in mount_options.split(',').chain(fields.next().unwrap_or_default().split(',')) {
        if !option.is_empty() && !options.iter().any(|known| known == option) {
            options.push(unescape(option));
        }
    }
    Some(Mount { id, number, at, kind, source, options })
}

/// Decodes escapes: spaces and other characters are written as a backslash and three octal digits.
pub(super) fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..3).filter(|_| *first == b'\\').and_then(octal);
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { after.get(3..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn octal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

/// Finds the mount of a file: by mount id if known, else the last mount of the device.
pub(super) fn find(mounts: &[Mount], id: Option<u64>, number: Number) -> Option<&Mount> {
    let by_id = mounts.iter().find(|mount| Some(mount.id) == id);
    by_id.or_else(|| mounts.iter().rfind(|mount| mount.number == number))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        r"36 35 98:0 /mnt1 /mnt/a\040b rw,noatime master:1 - ext3 /dev/root rw,errors=continue";

    #[test]
    fn a_line_is_parsed() {
        let mounts = parse(&format!("{LINE}\nnonsense\n"));
        assert_eq!(
            mounts,
            [Mount {
                id: 36,
                number: (98, 0),
                at: "/mnt/a b".into(),
                kind: "ext3".into(),
                source: "/dev/root".into(),
                options: ["rw", "noatime", "errors=continue"].map(Into::into).into(),
            }]
        );
    }

    #[test]
    fn the_mount_number_has_priority() {
        let mounts = parse("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:1 /x /x rw - ext4 /dev/sda1 rw");
        assert_eq!(find(&mounts, Some(1), (8, 1)).unwrap().at, "/");
        assert_eq!(find(&mounts, None, (8, 1)).unwrap().at, "/x");
        assert_eq!(find(&mounts, Some(9), (8, 2)), None);
    }

    #[test]
    fn a_backslash_alone_stays() {
        assert_eq!(unescape(r"a\b\04"), r"a\b\04");
    }
}
