//! Images are cheap: their cost depends on the volatile data, not on the history or the device's
//! size.

use std::time::Instant;

use nandle_io::Durability;
use nandle_model::media::{CrashImages, Media, PowerCut};

use crate::common::Rig;

const BLOCK_BYTES: u32 = 4096;
const BLOCKS: u64 = (64 << 20) / BLOCK_BYTES as u64;
const OPERATIONS: u64 = 10_000;

/// Random 4 KiB writes over 64 MiB, with a flush after every `writes_per_flush`.
fn recorded(writes_per_flush: u64) -> Media {
    let mut rig = Rig::new(Media::new(64 << 20, BLOCK_BYTES).recorded());
    let bytes = rig.filled(&[7; BLOCK_BYTES as usize / crate::common::BLOCK_BYTES]);
    for number in 0..OPERATIONS {
        if number % (writes_per_flush + 1) == writes_per_flush {
            rig.flush().unwrap();
            continue;
        }
        let from = [bytes.clone()].into_iter().collect();
        let block = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11;
        let offset_bytes = block % BLOCKS * u64::from(BLOCK_BYTES);
        let durability = Durability::Volatile;
        rig.run(nandle_io::Operation::Write { offset_bytes, from, durability }).result.unwrap();
    }
    rig.media
}

#[test]
fn an_image_costs_well_under_a_millisecond() {
    for writes_per_flush in [1, 32, 256, OPERATIONS] {
        let begun = Instant::now();
        let media = recorded(writes_per_flush);
        let recorded_in = begun.elapsed();
        let begun = Instant::now();
        let power = PowerCut { choices: 4, ..PowerCut::seeded(1) };
        let recordings = [media.recording().unwrap()];
        // If everything is volatile, a sample of the cuts suffices.
        let first = if writes_per_flush == OPERATIONS { media.position() / 2 } else { 0 };
        let end = if first > 0 { first + 100 } else { u64::MAX };
        let images = CrashImages::new(&recordings, power).within(first..end);
        let hashes: Vec<_> = images.map(|image| image.hash()).collect();
        let count = hashes.len();
        let each_us = begun.elapsed().as_secs_f64() * 1e6 / count as f64;
        println!(
            "{writes_per_flush} writes a flush: recorded {OPERATIONS} operations in {recorded_in:?}, {count} images of \
             64 MiB at {each_us:.2} us each"
        );
        // If everything is volatile, thousands of blocks choose their survivors.
        let most_us = if first > 0 { 10_000.0 } else { 1_000.0 };
        assert!(each_us < most_us, "{each_us} us an image");
    }
}
