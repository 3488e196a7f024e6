//! A table's directory.
//!
//! ```text
//! CURRENT              "manifest-N.json CCCCCCCC\n": the manifest of the present snapshot and the CRC32C of its bytes, eight
//!                      hexadecimal digits. It is replaced by a rename, never written to
//! manifest-N.json      one snapshot: schema, runs and their files, see `manifest.rs`. N counts from 1 on; a number that was `CURRENT` is never used again
//! data/N-I.parquet     file I of snapshot N's own rows, by the Parquet format
//! data/N-I.sums        its sums, see `sums/mod.rs`
//! projections/         sorted covering copies, named in the same way, and what a sort keeps meanwhile (`sort-*.partial`)
//! profile.json         what the device was measured to do when the table was made, if it is known
//! LOCK                 locked (`flock`, alone) by the one who writes. It is durable before anything else is made: a directory without it
//!                      that holds anything isn't a table's
//! *.partial            one of these that isn't finished; the next load removes it
//! ```
//!
//! A commit of snapshot N, each line durable before the next begins:
//!
//! 1. the new files as `*.partial`, each synced;
//! 2. renamed to their names, their directory synced;
//! 3. `manifest-N.json`, synced (as `.partial`, renamed);
//! 4. `CURRENT.partial`, synced, renamed to `CURRENT`, the directory synced.
//!
//! Until the rename of `CURRENT` is durable a power cut leaves snapshot N-1 or N, whole; files that no manifest names are removed by
//! the next one who writes. Between 2 and 4 the pattern `data/*.parquet` shows rows of both; so it does while old files wait for their
//! readers. A table without such pending changes is its `data/*.parquet` for any other tool.
//!
//! A reader locks the manifest of its snapshot (`flock`, shared) while it reads. A manifest that isn't the present one and that no reader
//! has locked is removed by the next one who writes, and after it the files that no remaining manifest names. A reader that finds its
//! manifest gone while locking it starts again from `CURRENT`. Names of files stay valid while a snapshot is read, so that other
//! openings of them (direct ones, in other threads) see the same rows.

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

/// Whether a name beside `CURRENT` is one of a table's files that aren't finished. Others that end so aren't a table's.
pub(crate) fn is_unfinished(name: &str) -> bool {
    let whole = name.strip_suffix(PARTIAL);
    whole.is_some_and(|whole| [CURRENT, PROFILE].contains(&whole) || Manifest::snapshot_of(whole).is_some())
}
