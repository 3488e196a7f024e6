//! Salvage of stores in files to new ones.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use common::{fill, version_in};
use nandle_pages::salvage::{FileInspection, Finding, InspectOptions, Salvage, Severity, Structure};
use nandle_pages::{PageError, PageNumber, PageOptions, PageStore, PolicyKind};

const PAGES: u64 = 300;

fn options(policy: PolicyKind) -> PageOptions {
    let mut options = PageOptions::new(PAGES);
    options.policy = policy;
    options.with_buffer_bytes(1 << 20)
}

/// Creates a store in which page n has version n + 1, except for the last hundred, which are
/// unwritten.
fn make(folder: &Path, policy: PolicyKind) -> PathBuf {
    let path = folder.join("old");
    let mut store = PageStore::create(&path, options(policy)).unwrap();
    for page in 0..PAGES - 100 {
        let mut contents = vec![0; 4096];
        fill(&mut contents, page, page + 1);
        store.put(page, &contents).unwrap();
        if page % 8 == 7 {
            store.commit().unwrap();
        }
    }
    store.commit().unwrap();
    store.close().unwrap();
    path
}

/// All offsets in a file with this version of a page.
fn places(path: &Path, page: u64) -> Vec<u64> {
    let mut wanted = vec![0; 4096];
    fill(&mut wanted, page, page + 1);
    let image = fs::read(path).unwrap();
    let blocks = (0_u64..).step_by(4096).zip(image.chunks(4096));
    blocks.filter(|(_, block)| *block == wanted).map(|(at, _)| at).collect()
}

fn salvage(from: &Path, to: &Path) -> (nandle_pages::salvage::Report, Vec<Finding>) {
    let mut salvage = Salvage::begin(from, to, &InspectOptions::default(), false).unwrap();
    let (mut findings, mut share) = (Vec::new(), 0.0);
    while let Some(step) = salvage.step().unwrap() {
        assert!(step.share >= share && step.share <= 1.0, "{} after {share}", step.share);
        share = step.share;
        findings.extend(step.findings);
    }
    assert!((share - 1.0).abs() < f64::EPSILON, "{share}");
    (salvage.finish().unwrap(), findings)
}

#[test]
fn all_of_a_sound_store_is_copied_and_nothing_is_written_to_it() {
    for policy in PolicyKind::ALL {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (make(folder.path(), policy), folder.path().join("new"));
        let before = fs::read(&old).unwrap();
        let (report, findings) = salvage(&old, &new);
        assert!(report.is_sound(), "{policy}: {report:?}, {findings:?}");
        assert!(fs::read(&old).unwrap() == before, "{policy}: the old store was written to");
        let store = PageStore::open(&new).unwrap();
        assert_eq!((store.policy(), store.pages(), store.page_bytes()), (policy, PAGES, 4096));
        for page in 0..PAGES - 100 {
            assert_eq!(version_in(&store.read(page).unwrap(), page), Some(page + 1), "{policy}");
        }
        store.close().unwrap();
        assert!(FileInspection::open(&new, &InspectOptions::default()).is_ok());
    }
}

#[test]
fn what_is_lost_is_told_and_all_else_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    let old = make(folder.path(), PolicyKind::StableRing);
    let file = fs::File::options().write(true).open(&old).unwrap();
    for page in [3, 4, 50] {
        for place in places(&old, page) {
            file.write_all_at(&[0xaa; 100], place + 1000).unwrap();
        }
    }
    let (report, findings) = salvage(&old, &folder.path().join("new"));
    assert_eq!(report.lost.iter().map(|page| page.0).collect::<Vec<_>>(), [3, 4, 50]);
    assert!(findings.iter().all(|it| it.severity == Severity::Loss && it.pages.len() == 1), "{findings:?}");
    assert_eq!(report.sound, 197);
    let store = PageStore::open(folder.path().join("new")).unwrap();
    for page in 0..PAGES - 100 {
        let version = version_in(&store.read(page).unwrap(), page);
        assert_eq!(version, (!report.lost.iter().any(|lost| lost.0 == page)).then_some(page + 1));
    }
}

#[test]
fn a_store_without_a_label_is_salvaged_by_how_it_was_made() {
    for policy in PolicyKind::ALL {
        let folder = tempfile::tempdir().unwrap();
        let old = make(folder.path(), policy);
        let file = fs::File::options().write(true).open(&old).unwrap();
        for place in common::label_places() {
            file.write_all_at(&[0; 4096], place).unwrap();
        }
        let refused = FileInspection::open(&old, &InspectOptions::default()).unwrap_err();
        assert!(matches!(refused, PageError::LabelLost { .. }), "{refused}");
        let told = InspectOptions::default().assuming(options(policy));
        let mut inspection = FileInspection::open(&old, &told).unwrap();
        let (mut right, mut findings) = (0, Vec::new());
        let mut visit = |page: nandle_pages::PageNumber, contents: &[u8], _| {
            right += u64::from(version_in(contents, page.0) == Some(page.0 + 1));
        };
        while let Some(step) = inspection.step(&mut visit).unwrap() {
            findings.extend(step.findings);
        }
        assert_eq!(right, 200, "{policy}");
        assert_eq!(
            findings.iter().map(|it| it.structure).collect::<Vec<_>>(),
            [Structure::Label; 8],
            "{policy}"
        );
    }
}

#[test]
fn a_file_that_was_cut_short_gives_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let old = make(folder.path(), PolicyKind::Direct);
    let end = places(&old, 150)[0];
    fs::File::options().write(true).open(&old).unwrap().set_len(end).unwrap();
    let (report, _) = salvage(&old, &folder.path().join("new"));
    let lost: Vec<u64> = report.lost.iter().map(|page| page.0).collect();
    assert_eq!(lost, (150..PAGES).collect::<Vec<_>>());
    let store = PageStore::open(folder.path().join("new")).unwrap();
    for page in 0..150 {
        assert_eq!(version_in(&store.read(page).unwrap(), page), Some(page + 1));
    }
}

#[test]
fn no_store_is_made_over_another_and_none_is_left_half_made() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (make(folder.path(), PolicyKind::Direct), folder.path().join("new"));
    fs::write(&new, b"mine").unwrap();
    assert!(Salvage::begin(&old, &new, &InspectOptions::default(), false).is_err());
    assert_eq!(fs::read(&new).unwrap(), b"mine");
    fs::remove_file(&new).unwrap();
    let mut salvage = Salvage::begin(&old, &new, &InspectOptions::default(), false).unwrap();
    salvage.step().unwrap();
    drop(salvage);
    assert!(!new.exists());
    let store = PageStore::open(&old).unwrap();
    let refused = FileInspection::open(&old, &InspectOptions::default()).unwrap_err();
    assert_eq!(refused, PageError::Locked);
    store.close().unwrap();
}

fn assuming(policy: PolicyKind, pages: u64) -> PageOptions {
    let mut options = options(policy);
    options.pages = pages;
    options
}

/// Inspects a store with assumed options. Returns the number of correct pages, true if the header
/// is correct, and true if the numbering is assumed.
fn right_pages(path: &Path, assumed: PageOptions) -> (u64, bool, bool) {
    let mut inspection = FileInspection::open(path, &InspectOptions::default().assuming(assumed)).unwrap();
    let (mut right, mut has_header) = (0, false);
    let mut visit = |page: PageNumber, contents: &[u8], _| match page {
        PageNumber::HEADER => has_header = contents[..128] == [9; 128],
        page => right += u64::from(version_in(contents, page.0) == Some(page.0 + 1)),
    };
    while inspection.step(&mut visit).unwrap().is_some() {}
    (right, has_header, inspection.report().is_numbering_assumed)
}

#[test]
fn pages_of_a_grown_store_without_labels_keep_their_numbers() {
    const GROWN: u64 = PAGES + 150;
    for policy in PolicyKind::ALL {
        let folder = tempfile::tempdir().unwrap();
        let path = make(folder.path(), policy);
        let mut store = PageStore::open(&path).unwrap();
        store.grow(GROWN).unwrap();
        for page in PAGES - 100..GROWN {
            let mut contents = vec![0; 4096];
            fill(&mut contents, page, page + 1);
            store.put(page, &contents).unwrap();
            if page % 8 == 7 {
                store.commit().unwrap();
            }
        }
        store.set_header([9; 128]).unwrap();
        store.commit().unwrap();
        store.close().unwrap();
        let file = fs::File::options().read(true).write(true).open(&path).unwrap();
        common::label_places().for_each(|place| file.write_all_at(&[0; 4096], place).unwrap());
        for pages in [PAGES, GROWN, 7] {
            assert_eq!(
                right_pages(&path, assuming(policy, pages)),
                (GROWN, true, false),
                "{policy}, {pages}"
            );
        }
        // Marks of earlier programs lack the initial number of pages.
        for place in [6, 7].map(|slot| (slot << 16) + 4096) {
            let mut mark = vec![0; 4096];
            file.read_exact_at(&mut mark, place).unwrap();
            mark[40..48].fill(0);
            let sum = crc32c::crc32c(&mark[..4092]);
            mark[4092..].copy_from_slice(&sum.to_le_bytes());
            file.write_all_at(&mark, place).unwrap();
        }
        assert_eq!(right_pages(&path, options(policy)), (GROWN, true, true), "{policy}");
        let (right, has_header, is_assumed) = right_pages(&path, assuming(policy, GROWN));
        assert!(right < GROWN && !has_header && is_assumed, "{policy}: {right}");
    }
}
