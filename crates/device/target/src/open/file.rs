//! Regular file as a target. It counts as foreign data unless it is marked as nandle's own.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use nandle_io::FileLock;
use rustix::io::Errno;

use super::kept_file::{KeptFile, MARK_BYTES};
use super::{Intent, NameGuard, holes, room};
use crate::facts::FileUsers;
use crate::roots::Roots;
use crate::target::{Backing, Leaf, TargetKind};
use crate::{OpenOptions, Problem};
use nandle_units::format_bytes;

/// Opens an existing file.
pub(super) fn open(path: &Path, options: &OpenOptions) -> Result<Leaf, Problem> {
    let action = "opening it for reading";
    let file = File::open(path).map_err(Problem::system(action))?;
    // The name may lead to something else by now, and `--overwrite` doesn't cover devices.
    if !file.metadata().map_err(Problem::system(action))?.is_file() {
        return Err(Problem::System { action, errno: Errno::STALE });
    }
    let kept = KeptFile::recognise(path, &file)?;
    let may_write = kept.is_some() || options.overwrite;
    if options.intent == Intent::Write && !may_write {
        return Err(Problem::ForeignFile);
    }
    let size_bytes = file.metadata().map_err(Problem::system("reading its size"))?.len();
    let hole = holes::first(&file, kept.as_ref().map_or(size_bytes, KeptFile::area_bytes));
    if let Some(hole) = hole.clone().filter(|_| !may_write) {
        return Err(Problem::Hole { offset_bytes: hole.start, length_bytes: hole.end - hole.start });
    }
    let needs_fill = hole.is_some() || kept.as_ref().is_some_and(|kept| !kept.is_filled());
    let mut leaf = if needs_fill || options.intent == Intent::Write {
        let mut leaf = leaf(path, reopen(path, &file)?, kept, options)?;
        leaf.lock = lock(&leaf)?;
        leaf.remarks.extend(refuse_if_used(&file)?);
        leaf
    } else {
        leaf(path, file, kept, options)?
    };
    leaf.needs_fill = needs_fill;
    leaf.remarks.extend(hole.map(|hole| {
        let length = format_bytes(hole.end - hole.start);
        format!("it had a hole of {length} at offset {}, so it is written whole first", hole.start)
    }));
    Ok(leaf)
}

/// Creates and keeps a file under an unused name.
pub(super) fn create(path: &Path, options: &OpenOptions) -> Result<Leaf, Problem> {
    let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let wanted_bytes = room::wanted_bytes(directory, options)?;
    let file = fs::OpenOptions::new().read(true).write(true).create_new(true).open(path);
    let file = file.map_err(Problem::system("making it"))?;
    // Removes the file if a later step fails.
    let unfinished = NameGuard::new(path);
    let remark = room::allocate(&file, wanted_bytes.saturating_add(MARK_BYTES))?;
    let kept = KeptFile::mark(path, &file)?;
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(Problem::system("syncing the directory that it is made in"))?;
    let mut leaf = leaf(path, file, Some(kept), options)?.check_area()?;
    leaf.lock = lock(&leaf)?;
    unfinished.keep();
    leaf.needs_fill = true;
    leaf.remarks.extend(remark);
    leaf.remarks
        .push(format!("{} was created and is kept; remove it when it is no longer needed", path.display()));
    Ok(leaf)
}

/// Opens the file again for writing. It must be the same file that was checked.
fn reopen(path: &Path, looked_at: &File) -> Result<File, Problem> {
    let action = "opening it for writing";
    let file = fs::OpenOptions::new().read(true).write(true).open(path).map_err(Problem::system(action))?;
    let identity = |file: &File| file.metadata().map(|metadata| (metadata.dev(), metadata.ino()));
    match (identity(looked_at), identity(&file)) {
        (Ok(before), Ok(now)) if before == now => Ok(file),
        _ => Err(Problem::System { action, errno: Errno::STALE }),
    }
}

/// Refuses a file that other processes have open, since its contents would change for them. Returns
/// a remark if that can't be determined.
fn refuse_if_used(file: &File) -> Result<Option<String>, Problem> {
    let FileUsers { seen, unseen } = FileUsers::of(&Roots::default(), file);
    if !seen.is_empty() {
        return Err(Problem::FileUsed { used: seen.join(", and ") });
    }
    let remark = "whether another user's process has this file open can't be seen from here; what it reads there is lost";
    Ok((unseen > 0).then(|| remark.to_owned()))
}

/// Locks the file against other nandle processes. Devices are opened exclusively, and two replays
/// in one file destroy each other's stores. Returns `None` if the file system has no locks; then
/// the user must not name a file twice.
fn lock(leaf: &Leaf) -> Result<Option<FileLock>, Problem> {
    let Some(file) = leaf.file() else { return Ok(None) };
    match FileLock::take(Arc::clone(file), false) {
        Ok(Some(lock)) => Ok(Some(lock)),
        Ok(None) => Err(Problem::FileInUse),
        Err(_) => Ok(None),
    }
}

fn leaf(path: &Path, file: File, kept: Option<KeptFile>, options: &OpenOptions) -> Result<Leaf, Problem> {
    let (file, remarks) = super::device(file, options)?;
    let file = match &kept {
        Some(kept) => file.with_capacity(kept.area_bytes()),
        None => file,
    };
    Ok(Leaf {
        path: path.into(),
        kind: TargetKind::File,
        backing: Backing::File(Arc::new(file)),
        needs_fill: false,
        remarks,
        kept,
        guard: None,
        lock: None,
        _scratch: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_writer_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data");
        fs::write(&path, vec![7; 4 << 20]).unwrap();
        let writing = OpenOptions { intent: Intent::Write, overwrite: true, ..OpenOptions::default() };
        let first = open(&path, &writing).unwrap();
        assert!(matches!(open(&path, &writing), Err(Problem::FileInUse)));
        open(&path, &OpenOptions::default()).unwrap();
        drop(first);
        open(&path, &writing).unwrap();
    }
}
