//! Stores of all formats, as starting points of lives.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use nandle_pages::PolicyKind;

use crate::contents::fill_as_fixture;

pub(crate) const PAGE_BYTES: usize = 4096;
/// Pages of each fixture.
pub(crate) const PAGES: u64 = 64;

/// A store of one policy and format, as left by a power cut.
#[derive(Debug, Clone)]
pub struct Fixture {
    /// Policy and format, as in the file's name.
    pub name: String,
    /// Write policy.
    pub policy: PolicyKind,
    /// Version of the format.
    pub version: u32,
    /// Image of the file.
    pub image: Vec<u8>,
}

impl Fixture {
    /// Reads all fixtures in the repository, including those of earlier formats.
    ///
    /// # Errors
    /// The fixtures can't be read. They exist only in the source tree.
    pub fn all() -> io::Result<Vec<Self>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../storage/pages/tests/fixtures");
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
        paths.sort();
        paths.iter().filter_map(|path| Self::read(path).transpose()).collect()
    }

    /// Returns `None` if the file's name isn't a policy and a version.
    fn read(path: &Path) -> io::Result<Option<Self>> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Some((policy, version)) = name.split_once(".v") else { return Ok(None) };
        let policy = PolicyKind::ALL.into_iter().find(|kind| kind.name() == policy);
        let (Some(policy), Ok(version)) = (policy, version.parse()) else { return Ok(None) };
        let image = zstd::decode_all(std::fs::File::open(path)?)?;
        Ok(Some(Self { name, policy, version, image }))
    }
}

pub(crate) fn contents() -> BTreeMap<u64, Vec<u8>> {
    versions().map(|(page, version)| (page, contents_of(page, version))).collect()
}

/// Page that is discarded in each fixture and may hold anything.
pub(crate) const DISCARDED: u64 = 3;

/// Pages of each fixture with their versions; see `make` in the fixture tests of `nandle-pages`.
pub(crate) fn versions() -> impl Iterator<Item = (u64, u64)> {
    let once = (1..=30).filter(|page| *page != DISCARDED).map(|page| (page, page));
    let again = (40..47).filter_map(|page| Some((page, (24..=30).find(|version| 40 + version % 7 == page)?)));
    once.chain(again)
}

fn contents_of(page: u64, version: u64) -> Vec<u8> {
    let mut contents = vec![0; PAGE_BYTES];
    fill_as_fixture(&mut contents, page, version);
    contents
}
