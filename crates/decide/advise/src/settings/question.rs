use std::fmt;
use std::str::FromStr;

use nandle_units::format_bytes;
use serde::Serialize;

use crate::Product;

/// What settings are wanted for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Question {
    /// The product.
    pub product: Product,
    /// Its version.
    pub version: Version,
    /// What it is used for.
    pub workload: Workload,
    /// Sessions (threads, clients) that do I/O at the same time.
    pub sessions: u32,
    /// Memory that the product may use for caching; `null` where it wasn't given.
    pub memory_bytes: Option<u64>,
}

impl Question {
    /// The workload in words, as far as the product's settings depend on it; `None` where they don't.
    pub fn describe(&self) -> Option<String> {
        let workload = self.product.depends_on_workload().then(|| self.workload.to_string());
        let sessions = self.depends_on_sessions().then(|| format!("{} sessions at once", self.sessions));
        let memory = self.memory_bytes.filter(|_| self.product.has_caches());
        let memory = memory.map(|bytes| format!("{} of memory", format_bytes(bytes)));
        let parts: Vec<String> = [workload, sessions, memory].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Whether any setting depends on how many sessions do I/O at once: some share out memory alone.
    pub fn depends_on_sessions(&self) -> bool {
        self.product.depends_on_sessions(self.memory_bytes)
    }
}

/// What a database is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub enum Workload {
    /// Many short transactions.
    Oltp,
    /// Few large queries.
    Olap,
    /// Both.
    Mixed,
}

impl Workload {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Oltp, Self::Olap, Self::Mixed];

    /// Its name as users and JSON have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Oltp => "oltp",
            Self::Olap => "olap",
            Self::Mixed => "mixed",
        }
    }

    /// Sessions that do I/O at the same time, where the user doesn't say: an assumption, and told as one.
    pub fn sessions_assumed(self) -> u32 {
        match self {
            Self::Oltp => 16,
            Self::Mixed => 8,
            Self::Olap => 4,
        }
    }

    /// Whether transactions commit often.
    pub(crate) fn commits_often(self) -> bool {
        self != Self::Olap
    }
}

impl From<Workload> for &'static str {
    fn from(workload: Workload) -> Self {
        workload.name()
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A product's version, as far as settings depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "String")]
pub struct Version {
    /// Its first number.
    pub major: u32,
    /// Its second; 0 when there was none.
    pub minor: u32,
}

impl Version {
    /// A version.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.minor {
            0 => write!(f, "{}", self.major),
            minor => write!(f, "{}.{minor}", self.major),
        }
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

impl FromStr for Version {
    type Err = String;

    /// Reads `18`, `8.4`, `10.11.19`; what follows the second number is passed over.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| part.parse().ok();
        let mut parts = text.split('.');
        let major = parts.next().and_then(number);
        let minor = parts.next().map_or(Some(0), number);
        let (Some(major), Some(minor)) = (major, minor) else {
            return Err(format!("{text:?} is no version; expected one such as 18 or 8.4"));
        };
        Ok(Self { major, minor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_products_print_them() {
        assert_eq!("18".parse(), Ok(Version::new(18, 0)));
        assert_eq!("10.11.19".parse(), Ok(Version::new(10, 11)));
        assert!("new".parse::<Version>().unwrap_err().contains("\"new\""));
        assert!("8.x".parse::<Version>().is_err());
        assert!("10.11".parse::<Version>().unwrap() > "10.6".parse::<Version>().unwrap());
        assert_eq!(Version::new(8, 4).to_string(), "8.4");
    }
}
