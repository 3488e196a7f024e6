use std::fmt;
use std::str::FromStr;

use nandle_units::format_bytes;
use serde::Serialize;

use crate::Product;

/// Product, version and workload that need settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Question {
    /// Product.
    pub product: Product,
    /// Version of the product.
    pub version: Version,
    /// Workload of the database.
    pub workload: Workload,
    /// Sessions (threads, clients) that do I/O at the same time.
    pub sessions: u32,
    /// Memory that the product may use for caching; `null` if it wasn't given.
    pub memory_bytes: Option<u64>,
}

impl Question {
    /// Describes the workload as far as the settings depend on it; `None` if they don't.
    pub fn describe(&self) -> Option<String> {
        let workload = self.product.depends_on_workload().then(|| self.workload.to_string());
        let sessions = self.depends_on_sessions().then(|| format!("{} concurrent sessions", self.sessions));
        let memory = self.memory_bytes.filter(|_| self.product.has_caches());
        let memory = memory.map(|bytes| format!("{} of memory", format_bytes(bytes)));
        let parts: Vec<String> = [workload, sessions, memory].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Returns true if a setting depends on the number of sessions that do I/O at once, not only on
    /// memory.
    pub fn depends_on_sessions(&self) -> bool {
        self.product.depends_on_sessions(self.memory_bytes)
    }
}

/// Workload of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub enum Workload {
    /// Many short transactions.
    Oltp,
    /// Few large queries.
    Olap,
    /// Short transactions and large queries.
    Mixed,
}

impl Workload {
    /// All workloads.
    pub const ALL: [Self; 3] = [Self::Oltp, Self::Olap, Self::Mixed];

    /// Name for users and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Oltp => "oltp",
            Self::Olap => "olap",
            Self::Mixed => "mixed",
        }
    }

    /// Default number of sessions that do I/O at the same time.
    pub fn sessions_assumed(self) -> u32 {
        match self {
            Self::Oltp => 16,
            Self::Mixed => 8,
            Self::Olap => 4,
        }
    }

    /// Returns true if transactions commit often.
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

/// Version of a product, as far as settings depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "String")]
pub struct Version {
    /// Major number.
    pub major: u32,
    /// Minor number; 0 if there is none.
    pub minor: u32,
}

impl Version {
    /// Creates a version.
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

    /// Parses `18`, `8.4`, `10.11.19`; ignores the rest after the minor number.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| part.parse().ok();
        let mut parts = text.split('.');
        let major = parts.next().and_then(number);
        let minor = parts.next().map_or(Some(0), number);
        let (Some(major), Some(minor)) = (major, minor) else {
            return Err(format!("{text:?} isn't a version; expected one such as 18 or 8.4"));
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
