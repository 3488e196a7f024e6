use std::fmt;

use super::parse::KEYWORDS;
use super::{ArraySpec, TargetSpec};
use nandle_units::format_bytes_exact;

impl fmt::Display for TargetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => f.write_str(&as_path(&path.to_string_lossy())),
            Self::Model(_) | Self::Repeat { .. } => f.write_str(&as_member(self)),
            Self::Array(array) => array.fmt(f),
        }
    }
}

impl fmt::Display for ArraySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members: Vec<String> = self.members.iter().map(as_member).collect();
        write!(f, "{}:{}:{}", self.level.name(), format_bytes_exact(self.chunk_bytes), members.join(","))
    }
}

/// Formats a path so that it can't be parsed as a keyword.
fn as_path(path: &str) -> String {
    let ambiguous = KEYWORDS.iter().any(|keyword| path.starts_with(keyword));
    if ambiguous { format!("./{path}") } else { path.into() }
}

fn as_member(member: &TargetSpec) -> String {
    match member {
        TargetSpec::Path(path) => escaped(&as_path(&path.to_string_lossy()), &[',', '*']),
        TargetSpec::Model(model) => model.to_string(),
        TargetSpec::Repeat { target, count } => format!("{}*{count}", as_member(target)),
        // The parser never creates this; code that does gets text that can't be parsed.
        TargetSpec::Array(array) => array.to_string(),
    }
}

/// Escapes backslashes and the characters in `meaning`.
pub(super) fn escaped(text: &str, meaning: &[char]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\\' || meaning.contains(&c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
