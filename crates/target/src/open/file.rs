//! A regular file: somebody's data until proved otherwise.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use super::kept::{KeptFile, MARK_BYTES};
use super::{Intent, NameGuard, holes, room};
use crate::target::{Backing, Leaf, TargetKind};
use crate::{OpenOptions, Problem};
use nandle_io::units::format_bytes;

/// Opens a file that is there.
pub(super) fn open(path: &Path, options: &OpenOptions) -> Result<Leaf, Problem> {
    let action = "opening it for reading";
    let file = File::open(path).map_err(Problem::system(action))?;
    // The name may lead elsewhere by now, and --overwrite is no word about devices.
    if !file.metadata().map_err(Problem::system(action))?.is_file() {
        return Err(Problem::System { action, errno: rustix::io::Errno::STALE });
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
    let file = if needs_fill || options.intent == Intent::Write { reopen(path, &file)? } else { file };
    let mut leaf = leaf(path, file, kept, options)?;
    leaf.needs_fill = needs_fill;
    leaf.remarks.extend(hole.map(|hole| {
        let length = format_bytes(hole.end - hole.start);
        format!("it had a hole of {length} at offset {}, so it is written whole first", hole.start)
    }));
    Ok(leaf)
}

/// Makes a file that is kept, for a name that nothing has yet.
pub(super) fn create(path: &Path, options: &OpenOptions) -> Result<Leaf, Problem> {
    let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let wanted_bytes = room::wanted_bytes(directory, options)?;
    let file = fs::OpenOptions::new().read(true).write(true).create_new(true).open(path);
    let file = file.map_err(Problem::system("making it"))?;
    // Until it is what it should be, a failure takes it away again.
    let unfinished = NameGuard::new(path);
    let remark = room::allocate(&file, wanted_bytes.saturating_add(MARK_BYTES))?;
    let kept = KeptFile::mark(path, &file)?;
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(Problem::system("syncing the directory that it is made in"))?;
    let mut leaf = leaf(path, file, Some(kept), options)?.check_area()?;
    unfinished.keep();
    leaf.needs_fill = true;
    leaf.remarks.extend(remark);
    leaf.remarks
        .push(format!("{} was made and is kept; remove it when it is of no more use", path.display()));
    Ok(leaf)
}

/// The same file once more, for writing; what was looked at must be what is written to.
fn reopen(path: &Path, looked_at: &File) -> Result<File, Problem> {
    let action = "opening it for writing";
    let file = fs::OpenOptions::new().read(true).write(true).open(path).map_err(Problem::system(action))?;
    let identity = |file: &File| file.metadata().map(|metadata| (metadata.dev(), metadata.ino()));
    match (identity(looked_at), identity(&file)) {
        (Ok(before), Ok(now)) if before == now => Ok(file),
        _ => Err(Problem::System { action, errno: rustix::io::Errno::STALE }),
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
    })
}
