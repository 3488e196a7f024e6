//! A table's directory.
//!
//! ```text
//! CURRENT            "manifest-N.json CCCCCCCC\n": manifest of the current snapshot, and the CRC32C of
//!                    its bytes, eight hexadecimal digits. Replaced by a rename, never modified
//! manifest-N.json    one snapshot: schema, runs and their files, see `manifest.rs`. N counts from 1;
//!                    a number that was `CURRENT` is never reused
//! data/N-I.parquet   file I of snapshot N's own rows, in Parquet format
//! data/N-I.sums      its checksums, see `sums/mod.rs`
//! projections/       sorted covering copies with the same file names, and temporary files of sorts
//!                    (`sort-*.partial`)
//! profile.json       profile of the device at the table's creation, if known
//! LOCK               locked exclusively (`flock`) by a writer. It is durable before anything else is
//!                    created: a non-empty directory without it isn't a table's
//! *.partial          an unfinished file of those above; the next load removes it
//! ```
//!
//! Commit of snapshot N. Each step is durable before the next begins:
//!
//! 1. Write the new files as `*.partial` and sync each.
//! 2. Rename them to their final names and sync their directory.
//! 3. Write `manifest-N.json` (as `.partial`, then rename) and sync it.
//! 4. Write `CURRENT.partial`, sync it, rename it to `CURRENT`, and sync the directory.
//!
//! Until the rename of `CURRENT` is durable, a power cut leaves either snapshot N-1 or N intact.
//! The next writer removes files that no manifest names. Between steps 2 and 4 the pattern
//! `data/*.parquet` includes rows of both snapshots. The same holds while old files wait for their
//! readers. Without such pending changes, other tools can read the table as `data/*.parquet`.
//!
//! A reader locks the manifest of its snapshot (`flock`, shared) while it reads. The next writer
//! removes every manifest that is neither current nor locked, and then the files that no remaining
//! manifest names. A reader that finds its manifest removed when locking it starts again from
//! `CURRENT`. File names stay valid while a snapshot is read, so other handles (direct ones, in
//! other threads) see the same rows.

mod commit;
mod current;
mod manifest;
mod reclaim;

pub(crate) use self::commit::{commit, replace};
pub(crate) use self::current::{Pinned, current_manifest, pin_current};
pub use self::manifest::{ColumnSpec, FileEntry, Manifest, ProfileIdentity, Projection, Run, SumsEntry};
pub(crate) use self::manifest::{DATA, PROJECTIONS};
pub(crate) use self::reclaim::reclaim;

pub(crate) const CURRENT: &str = "CURRENT";
pub(crate) const LOCK: &str = "LOCK";
pub(crate) const PROFILE: &str = "profile.json";
pub(crate) const PARTIAL: &str = ".partial";

/// Returns true for an unfinished file beside `CURRENT` that belongs to a table. Other names with
/// this suffix don't.
pub(crate) fn is_unfinished(name: &str) -> bool {
    let whole = name.strip_suffix(PARTIAL);
    whole.is_some_and(|whole| [CURRENT, PROFILE].contains(&whole) || Manifest::snapshot_of(whole).is_some())
}
