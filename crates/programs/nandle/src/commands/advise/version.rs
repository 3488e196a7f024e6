//! Detects the version of the server whose data lie at a place.

use std::fs;
use std::path::{Path, PathBuf};

use nandle_advise::settings::Version;

/// File in `PostgreSQL`'s data directory that holds the major version on one line.
const FILE: &str = "PG_VERSION";
/// Depth of the search, for paths like `/var/lib/postgresql/15/main`.
const LEVELS_BELOW: u32 = 2;
/// Most entries examined: a larger directory isn't a server's.
const LOOKED_AT_MAX: usize = 1000;

/// Version of the `PostgreSQL` server with data in or below a directory, and the file that records
/// it. `None` if there is no server, or several versions.
pub(super) fn of_postgresql(place: &Path) -> Option<(Version, PathBuf)> {
    let mut found: Vec<(Version, PathBuf)> = Vec::new();
    let mut level = vec![place.to_path_buf()];
    for below in 0..=LEVELS_BELOW {
        found.extend(level.iter().filter_map(|directory| read(directory)));
        if below < LEVELS_BELOW {
            level = level.iter().flat_map(|directory| directories(directory)).take(LOOKED_AT_MAX).collect();
        }
    }
    let first = found.first()?.clone();
    found.iter().all(|(version, _)| *version == first.0).then_some(first)
}

fn read(directory: &Path) -> Option<(Version, PathBuf)> {
    let path = directory.join(FILE);
    let version = fs::read_to_string(&path).ok()?.trim().parse().ok()?;
    Some((version, path))
}

/// Subdirectories; none if the directory can't be listed.
fn directories(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories.take(LOOKED_AT_MAX).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_where_servers_keep_it_and_nowhere_else() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(of_postgresql(place.path()), None);
        let data = place.path().join("15/main");
        // Each database has a version file too, deeper down.
        fs::create_dir_all(data.join("base/5")).unwrap();
        fs::write(data.join(FILE), "15\n").unwrap();
        fs::write(data.join("base/5").join(FILE), "15\n").unwrap();
        let found = of_postgresql(place.path()).unwrap();
        assert_eq!(found, (Version::new(15, 0), data.join(FILE)));
        assert_eq!(of_postgresql(&data).unwrap(), found);
        let newer = place.path().join("17");
        fs::create_dir(&newer).unwrap();
        fs::write(newer.join(FILE), "17\n").unwrap();
        assert_eq!(of_postgresql(place.path()), None, "which of the two isn't known");
        fs::write(newer.join(FILE), "no version\n").unwrap();
        assert_eq!(of_postgresql(place.path()).unwrap(), found);
    }
}
