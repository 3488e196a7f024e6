//! Checks claims of the Enterprise study (Lee, Moon, Park, Kim, Kim, SIGMOD 2008) about external
//! sorting, on models of its two drives. Data and memory are a fifth of the study's, so the number
//! of runs is the same. `cargo xtask bench spill --only clusters` has the full scale.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

#[path = "../../../device/model/tests/common/book.rs"]
#[allow(
    dead_code,
    clippy::print_stdout,
    reason = "each of the tests that share it uses a part of it, and a claim is printed"
)]
mod book;

use book::{Entry, Verdict};
use nandle_io::DeviceId;
use nandle_io::runtime::Runtime;
use nandle_model::library::Model;
use nandle_model::media::{Media, MediaWorld};
use nandle_model::world::{Host, ModelWorld};
use nandle_spill::{Budget, Place, Row, SortOptions, SortReport, Sorter, SpillCosts};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const ROWS: usize = 400_000;
const MEMORY_BYTES: usize = 512 << 10;

/// Sorts on a drive. Returns the time of merging, in seconds of the drive's time.
fn merging_seconds(drive: &str, cluster_bytes: usize) -> (f64, SortReport) {
    let mut timing = ModelWorld::new(Host::with_slots(256));
    let device = timing.add(Model::named(drive).unwrap().device().unwrap());
    let mut world = MediaWorld::new(timing);
    world.attach(device.id, Media::of_shape(&device.shape)).unwrap();
    let runtime = Runtime::new(Box::new(world));
    let handle = runtime.handle();
    runtime.block_on(async {
        let place = Place {
            device: DeviceId::from_index(0),
            start_bytes: 0,
            length_bytes: 256 << 20,
            salt: 1,
            discards: false,
        };
        let options = SortOptions {
            cluster_bytes: Some(cluster_bytes),
            ..SortOptions::new(Budget::new(MEMORY_BYTES).unwrap(), SpillCosts::default())
        };
        let mut sorter = Sorter::new(&handle, place, options).unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..ROWS {
            let key: [u8; 10] = random.random();
            sorter.push(Row { key: &key, payload: &[0; 90] }).await.unwrap();
        }
        let began = handle.now();
        let mut merged = sorter.finish().await.unwrap();
        let mut rows = 0;
        while merged.next().await.unwrap().is_some() {
            rows += 1;
        }
        assert_eq!(rows, ROWS);
        (handle.now().since(began).as_secs_f64(), merged.report())
    })
}

/// C51: merging on the flash drive is almost ten times faster than on the disk.
#[test]
fn merging_on_flash_is_several_times_faster_than_on_a_disk() {
    let ratios = [4096, 8192].map(|cluster_bytes| {
        let (disk, _) = merging_seconds("barracuda-7200.10", cluster_bytes);
        let (flash, _) = merging_seconds("samsung-mcaqe32", cluster_bytes);
        assert!((5.0..16.0).contains(&(disk / flash)), "{cluster_bytes}: {disk} s, {flash} s");
        disk / flash
    });
    Entry {
        id: "C51",
        paper: "external sort of 2 million rows in 2 MB: merging is almost 10 times faster on flash than on disk",
        precondition: "barracuda-7200.10 and samsung-mcaqe32, new; a fifth of the rows and of the memory; the same cluster on both; \
                       input and output elsewhere",
        tolerance: "5 to 16 times with 4 KiB and with 8 KiB",
        model: format!("{:.1} and {:.1} times", ratios[0], ratios[1]),
        verdict: Verdict::Partly(
            "with larger clusters, which the disk is better off with, it loses less: `nandle place sort` has each size",
        ),
    }
    .print();
}

/// C52: small clusters with a large fan-in are best on flash, larger ones on the disk. The study
/// found 2 KiB best. In the model, 4 KiB are better, because the time per command outweighs the
/// larger fan-in.
#[test]
fn small_clusters_suit_flash_and_large_ones_a_disk() {
    let times = |drive| [4096, 16_384].map(|cluster_bytes| merging_seconds(drive, cluster_bytes).0);
    let [small, large] = times("samsung-mcaqe32");
    assert!(small < 0.95 * large, "flash: {small} s with 4 KiB, {large} s with 16 KiB");
    let flash = small / large;
    let [small, large] = times("barracuda-7200.10");
    assert!(large < 0.9 * small, "disk: {small} s with 4 KiB, {large} s with 16 KiB");
    Entry {
        id: "C52",
        paper: "on flash clusters of 2 KiB with the largest fan-in are best for merging, on a disk larger ones",
        precondition: "as C51",
        tolerance: "with 4 KiB merging takes less than 0.95 of the time with 16 KiB on flash, and more than 1.1 of it on the disk",
        model: format!("{flash:.2} and {:.2}", small / large),
        verdict: Verdict::Partly(
            "with 2 KiB the model's time for each command outweighs what fan-in brings: 4 KiB are best",
        ),
    }
    .print();
}
