//! Test of the explorer on a commit of two blocks: it passes the correct protocol and finds seeded
//! defects.

use nandle_model::media::{Contents, CrashImages, Media, PowerCut, Tearing, WriteCache};

use crate::common::{BLOCK_BYTES, Held, Rig, held};

const HEADER: u64 = 0;

/// A commit writes its data, flushes, writes the header that refers to it, and flushes. Data
/// alternates between two places, so the previous data is never overwritten.
#[derive(Debug, Clone, Copy)]
struct Protocol {
    flushes_data: bool,
    flushes_header: bool,
    header_first: bool,
}

const RIGHT: Protocol = Protocol { flushes_data: true, flushes_header: true, header_first: false };

impl Protocol {
    fn commit(self, rig: &mut Rig, version: u64) {
        if self.header_first {
            rig.put(HEADER, version).unwrap();
        }
        rig.put(data_block(version), version).unwrap();
        if self.flushes_data {
            rig.flush().unwrap();
        }
        if !self.header_first {
            rig.put(HEADER, version).unwrap();
        }
        if self.flushes_header {
            rig.flush().unwrap();
        }
    }

    /// Runs commits and explores all cuts. Returns the numbers of images and violations.
    fn explore(self, cache: WriteCache, tearing: Tearing) -> (usize, usize) {
        let mut rig = Rig::of_blocks(4);
        rig.media = rig.media.with_cache(cache).recorded();
        // Version and position after each acknowledgement.
        let mut acknowledged = vec![(0, 0)];
        for version in 1..=5 {
            self.commit(&mut rig, version);
            acknowledged.push((version, rig.media.position()));
        }
        let promised = |cut: u64| acknowledged.iter().rfind(|(_, at)| *at <= cut).unwrap().0;
        let power = PowerCut { seed: 1, choices: 16, tearing };
        let recordings = [rig.media.recording().unwrap()];
        let images: Vec<_> = CrashImages::new(&recordings, power).distinct(promised).collect();
        let violated = |image: &&nandle_model::media::CrashImage| {
            recover(&image.contents[0]).is_none_or(|version| version < promised(image.cut))
        };
        (images.len(), images.iter().filter(violated).count())
    }
}

fn data_block(version: u64) -> u64 {
    1 + version % 2
}

/// Version in the header, if its data is intact.
fn recover(contents: &Contents) -> Option<u64> {
    let Held::Number(version) = held(contents, HEADER) else { return None };
    let data = held(contents, data_block(version));
    (version == 0 || data == Held::Number(version)).then_some(version)
}

#[test]
fn the_right_protocol_has_no_violation() {
    let (images, violations) = RIGHT.explore(WriteCache::Volatile, Tearing::BetweenBlocks);
    // At first nothing; for each commit the data, data and header, and the latter again when
    // acknowledged.
    assert_eq!((images, violations), (1 + 5 * 3, 0));
}

#[test]
fn each_seeded_defect_is_found() {
    let defects = [
        Protocol { flushes_data: false, ..RIGHT },
        Protocol { flushes_header: false, ..RIGHT },
        Protocol { header_first: true, ..RIGHT },
    ];
    for defect in defects {
        let (_, violations) = defect.explore(WriteCache::Volatile, Tearing::BetweenBlocks);
        assert!(violations > 0, "{defect:?}");
    }
}

#[test]
fn a_lying_device_and_a_torn_header_break_even_the_right_protocol() {
    let (_, violations) =
        RIGHT.explore(WriteCache::Lying { held_bytes: 2 * BLOCK_BYTES as u64 }, Tearing::BetweenBlocks);
    assert!(violations > 0);
    let (_, violations) = RIGHT.explore(WriteCache::Volatile, Tearing::InsideBlocks);
    assert!(violations > 0);
}

#[test]
fn a_protected_cache_forgives_the_skipped_flushes() {
    let careless = Protocol { flushes_data: false, flushes_header: false, ..RIGHT };
    assert_eq!(careless.explore(WriteCache::Protected, Tearing::BetweenBlocks).1, 0);
}

/// Equal contents before and after an acknowledgement are two cases.
#[test]
fn distinct_keeps_what_an_acknowledgement_makes_a_loss() {
    let mut rig = Rig::of_blocks(1);
    rig.media = rig.media.recorded();
    rig.put(0, 1).unwrap();
    let acknowledged = rig.media.position();
    let power = PowerCut::seeded(1);
    let recordings = [rig.media.recording().unwrap()];
    let careless = CrashImages::new(&recordings, power).distinct(|_| ()).count();
    let careful = CrashImages::new(&recordings, power).distinct(|cut| cut >= acknowledged);
    let lost =
        careful.filter(|image| image.cut >= acknowledged && held(&image.contents[0], 0) == Held::Number(0));
    assert_eq!((careless, lost.count()), (2, 1));
}

/// On every image of the first run, recovery rewrites data and header and is cut again.
#[test]
fn recovery_can_be_cut_again() {
    let mut rig = Rig::of_blocks(4);
    rig.media = rig.media.recorded();
    RIGHT.commit(&mut rig, 1);
    let acknowledged = rig.media.position();
    let (mut images, mut violations) = ([0, 0], [0, 0]);
    for first in CrashImages::new(&[rig.media.recording().unwrap()], PowerCut::seeded(2)) {
        let version = recover(&first.contents[0]).unwrap();
        for (defect, protocol) in [RIGHT, Protocol { flushes_data: false, ..RIGHT }].into_iter().enumerate() {
            let mut recovering = Rig::new(Media::on(first.contents[0].clone()).recorded());
            protocol.commit(&mut recovering, version + 1);
            let power = PowerCut { choices: 12, ..PowerCut::seeded(3) };
            for second in CrashImages::new(&[recovering.media.recording().unwrap()], power) {
                let found = recover(&second.contents[0]);
                let promised = u64::from(first.cut >= acknowledged);
                images[defect] += 1;
                violations[defect] += usize::from(found.is_none_or(|found| found < promised));
            }
        }
    }
    assert!(images[0] > 100, "{images:?}");
    assert!(violations[0] == 0 && violations[1] > 0, "{violations:?}");
}
