//! Default place of temporary files: data that exceed memory mustn't spill into memory.

use std::path::{Path, PathBuf};

use nandle_terminal::output;
use rustix::fs::{Access, access, statfs};

/// File systems in memory: tmpfs and ramfs (`linux/magic.h`).
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// Directory preserved across reboots and therefore on a disk (Filesystem Hierarchy Standard,
/// 5.15).
const ON_DISK: &str = "/var/tmp";

/// System's directory for temporary files, or another if that is in memory.
pub(crate) fn usual_place() -> PathBuf {
    let system = std::env::temp_dir();
    if let Some(place) = first_on_disk([system.clone(), PathBuf::from(ON_DISK)], is_in_memory) {
        return place;
    }
    output::note(&format!(
        "Temporary files lie in {}, which is memory beside that of --memory; name a directory on a disk: --spill-directory DIR",
        system.display()
    ));
    system
}

/// First place that is writable and not in memory.
fn first_on_disk(
    places: impl IntoIterator<Item = PathBuf>,
    is_in_memory: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let can_be_written = |place: &Path| access(place, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    places.into_iter().find(|place| can_be_written(place) && !is_in_memory(place))
}

fn is_in_memory(place: &Path) -> bool {
    let Ok(found) = statfs(place) else { return false };
    #[allow(clippy::cast_sign_loss, clippy::allow_attributes, reason = "a magic number, not a quantity")]
    let magic = found.f_type as u64;
    IN_MEMORY.contains(&magic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_no_place_for_temporary_files() {
        assert!(is_in_memory(Path::new("/dev/shm")) && !is_in_memory(Path::new("/proc")));
        let directory = tempfile::tempdir().unwrap();
        let (memory, disk) = (directory.path().join("memory"), directory.path().join("disk"));
        for place in [&memory, &disk] {
            std::fs::create_dir(place).unwrap();
        }
        let places = || [memory.clone(), directory.path().join("nowhere"), disk.clone()];
        assert_eq!(first_on_disk(places(), |_| false).as_ref(), Some(&memory));
        assert_eq!(first_on_disk(places(), |place| *place == memory).as_ref(), Some(&disk));
        assert_eq!(first_on_disk(places(), |_| true), None);
    }
}
