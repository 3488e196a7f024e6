use std::fmt;

use serde::Serialize;

use crate::settings::{Advice, Version};

/// Product with advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(into = "&'static str")]
pub enum Product {
    /// `PostgreSQL`.
    Postgresql,
    /// `MariaDB` with `InnoDB`.
    Mariadb,
    /// `MySQL` with `InnoDB`.
    Mysql,
    /// `RocksDB`.
    Rocksdb,
    /// `SQLite`.
    Sqlite,
    /// Seastar, used by `ScyllaDB` and Redpanda.
    Seastar,
    /// Block layer of the kernel.
    Linux,
}

/// The version is older than the oldest supported one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{product} {got}: versions before {oldest} aren't supported; choose one from {oldest} to \
    {latest}"
)]
pub struct UnknownVersion {
    product: Product,
    got: Version,
    oldest: Version,
    latest: Version,
}

impl Product {
    /// All products.
    pub const ALL: [Self; 7] = [
        Self::Postgresql,
        Self::Mariadb,
        Self::Mysql,
        Self::Rocksdb,
        Self::Sqlite,
        Self::Seastar,
        Self::Linux,
    ];

    /// Name for users and JSON. [`Display`](fmt::Display) gives the vendor's spelling.
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgresql => "postgresql",
            Self::Mariadb => "mariadb",
            Self::Mysql => "mysql",
            Self::Rocksdb => "rocksdb",
            Self::Sqlite => "sqlite",
            Self::Seastar => "seastar",
            Self::Linux => "linux",
        }
    }

    /// Oldest supported version.
    pub fn oldest(self) -> Version {
        match self {
            Self::Postgresql => Version::new(13, 0),
            Self::Mariadb => Version::new(10, 6),
            Self::Mysql => Version::new(8, 0),
            Self::Rocksdb => Version::new(7, 0),
            Self::Sqlite => Version::new(3, 7),
            Self::Seastar => Version::new(22, 0),
            Self::Linux => Version::new(5, 4),
        }
    }

    /// Latest supported version, the default if the user names none.
    pub fn latest(self) -> Version {
        match self {
            Self::Postgresql => Version::new(18, 0),
            Self::Mariadb => Version::new(11, 8),
            Self::Mysql => Version::new(8, 4),
            Self::Rocksdb => Version::new(10, 0),
            Self::Sqlite => Version::new(3, 54),
            Self::Seastar => Version::new(25, 0),
            Self::Linux => Version::new(6, 12),
        }
    }

    /// Returns true if a setting depends on the workload.
    pub fn depends_on_workload(self) -> bool {
        self == Self::Postgresql
    }

    /// Returns true if a setting depends on the number of sessions that do I/O at once. `SQLite`
    /// only divides memory among them.
    pub(crate) fn depends_on_sessions(self, memory_bytes: Option<u64>) -> bool {
        match self {
            Self::Postgresql => true,
            Self::Sqlite => memory_bytes.is_some(),
            Self::Mariadb | Self::Mysql | Self::Rocksdb | Self::Seastar | Self::Linux => false,
        }
    }

    /// Returns true if a setting is a cache size.
    pub(crate) fn has_caches(self) -> bool {
        !matches!(self, Self::Seastar | Self::Linux)
    }

    /// Advice for commits that wait behind other writes, as the end of a sentence. `SQLite` keeps
    /// its log on the same device and checkpoints on request of a connection.
    pub(crate) fn against_waiting(self) -> &'static str {
        match self {
            Self::Postgresql | Self::Mariadb | Self::Mysql => {
                ", so let the server write back early and evenly, and put the log on another \
                device"
            }
            Self::Rocksdb => {
                ", so write back early and evenly (bytes_per_sync), and put the log on another \
                device (wal_dir)"
            }
            Self::Sqlite => {
                ", so run PRAGMA wal_checkpoint at quiet times, and load in several \
                transactions"
            }
            Self::Seastar | Self::Linux => "",
        }
    }

    /// # Errors
    /// The version is too old.
    pub(crate) fn check(self, version: Version) -> Result<(), UnknownVersion> {
        if version >= self.oldest() {
            return Ok(());
        }
        Err(UnknownVersion { product: self, got: version, oldest: self.oldest(), latest: self.latest() })
    }

    /// Comment prefix of the configuration.
    pub(crate) fn comment(self) -> &'static str {
        match self {
            Self::Sqlite => "--",
            Self::Postgresql | Self::Mariadb | Self::Mysql | Self::Rocksdb | Self::Seastar | Self::Linux => {
                "#"
            }
        }
    }

    /// Formats a setting as a line of the configuration.
    pub(crate) fn line(self, name: &str, value: &str) -> String {
        match self {
            Self::Postgresql | Self::Mariadb | Self::Mysql => format!("{name} = {value}"),
            Self::Rocksdb => format!("  {name}={value}"),
            Self::Sqlite => format!("PRAGMA {name} = {value};"),
            Self::Seastar => format!("    {name}: {value}"),
            Self::Linux => super::linux::line(name, value),
        }
    }

    /// Last lines of the configuration.
    pub(crate) fn closing(self, advice: &Advice) -> Vec<String> {
        if self == Self::Linux { super::linux::closing(advice) } else { Vec::new() }
    }
}

impl From<Product> for &'static str {
    fn from(product: Product) -> Self {
        product.name()
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Postgresql => "PostgreSQL",
            Self::Mariadb => "MariaDB",
            Self::Mysql => "MySQL",
            Self::Rocksdb => "RocksDB",
            Self::Sqlite => "SQLite",
            Self::Seastar => "Seastar",
            Self::Linux => "Linux",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_are_refused_with_what_is_known() {
        let error = Product::Postgresql.check(Version::new(9, 6)).unwrap_err().to_string();
        for part in ["PostgreSQL 9.6", "from 13 to 18"] {
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(Product::Mysql.check(Version::new(9, 0)), Ok(()));
    }
}
