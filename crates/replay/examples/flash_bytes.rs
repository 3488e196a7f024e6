//! What a page update costs in flash on a drive that is 90 % full, by policy:
//! `cargo run --release -p nandle-replay --example flash_bytes`. Virtual time and counted bytes: the same figures every time.
//!
//! The drive is the library's `nvme-tlc` with smaller erase blocks, so that it has as many superblocks with 1 GiB as the
//! model has with 32. The store's pages fill 90 % of it; all are written once in order, then updated by Zipf's
//! distribution with skew 0.8 (ranks scattered over the store), first so often as there are pages to wear it, and again
//! as often for the figures.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measuring program, and it prints"
)]

use nandle_io::DriveCounters;
use nandle_io::runtime::Runtime;
use nandle_model::library::{FirstState, Model};
use nandle_model::media::MediaWorld;
use nandle_model::world::Host;
use nandle_pages::{Batch, CreateOptions, OpenOptions, PageNumber, PolicyKind, Store};
use rand::{Rng, SeedableRng};
use rand_distr::Distribution;
use rand_xoshiro::Xoshiro256PlusPlus;

const CAPACITY_BYTES: u64 = 1 << 30;
const PAGE_BYTES: usize = 4096;
const SKEW: f64 = 0.8;
/// What is free on the drive beside the pages, 11 % of them, less a zone for the store's own blocks.
const SPARE_PERCENT: u32 = 10;

fn main() {
    let superblock_bytes = 4 << 20;
    // Policy, zone, and the part of a page that is noise, in percent; the rest is zeros.
    let cases = [
        (PolicyKind::Direct, superblock_bytes, 100),
        (PolicyKind::OutOfPlace, superblock_bytes / 4, 100),
        (PolicyKind::OutOfPlace, superblock_bytes, 100),
        (PolicyKind::OutOfPlace, superblock_bytes, 75),
        (PolicyKind::OutOfPlace, superblock_bytes, 50),
        (PolicyKind::OutOfPlace, superblock_bytes / 4, 50),
        (PolicyKind::OutOfPlace, superblock_bytes, 33),
    ];
    println!(
        "policy        noise_percent  zone_bytes  flash_bytes_by_changed  device_bytes_by_changed  moved_by_changed  \
         drive_amplification"
    );
    for (policy, zone_bytes, noise_percent) in cases {
        let Figures { drive, moved_pages, updates } = measure(policy, zone_bytes, noise_percent);
        let changed_bytes = (updates * PAGE_BYTES as u64) as f64;
        println!(
            "{policy:<12}  {noise_percent:>13}  {zone_bytes:>10}  {:>22.3}  {:>23.3}  {:>16.3}  {:>19.3}",
            drive.flash_written_bytes as f64 / changed_bytes,
            drive.host_written_bytes as f64 / changed_bytes,
            moved_pages as f64 / updates as f64,
            drive.write_amplification().unwrap_or(0.0),
        );
    }
}

struct Figures {
    drive: DriveCounters,
    moved_pages: u64,
    updates: u64,
}

fn measure(policy: PolicyKind, zone_bytes: u64, noise_percent: usize) -> Figures {
    let device = model().device().unwrap();
    let mut world = MediaWorld::modelled(Host::with_slots(256));
    let media = device.media();
    let (device, _) = world.add(device, media);
    let runtime = Runtime::new(Box::new(world));
    let handle = runtime.handle();
    let pages = CAPACITY_BYTES / 10 * 9 / PAGE_BYTES as u64;
    let create = CreateOptions {
        alignment_bytes: zone_bytes,
        spare_percent: SPARE_PERCENT,
        ..CreateOptions::new(policy, PAGE_BYTES, pages)
    };
    runtime.block_on(async move {
        let options = OpenOptions { gather_bytes: 1 << 20, ..OpenOptions::default() };
        let store = Store::create(&handle, device.id, &create, options).await.unwrap();
        let noise_bytes = PAGE_BYTES * noise_percent / 100;
        let mut ranks = Ranks::new(pages);
        write(&store, noise_bytes, &mut (0..pages)).await;
        write(&store, noise_bytes, &mut ranks.by_ref().take(usize::try_from(pages).unwrap())).await;
        let (drive, moved_pages) = (handle.counters(device.id).unwrap(), store.stats().pages_cleaned);
        write(&store, noise_bytes, &mut ranks.by_ref().take(usize::try_from(pages).unwrap())).await;
        let moved_pages = store.stats().pages_cleaned - moved_pages;
        Figures { drive: handle.counters(device.id).unwrap().since(drive), moved_pages, updates: pages }
    })
}

async fn write(store: &Store, noise_bytes: usize, pages: &mut dyn Iterator<Item = u64>) {
    let mut noise = Xoshiro256PlusPlus::seed_from_u64(2);
    for page in pages {
        let mut contents = store.buffer().unwrap();
        contents.fill(0);
        noise.fill_bytes(&mut contents[..noise_bytes]);
        let mut batch = Batch::new();
        batch.put(PageNumber(page), contents.freeze());
        store.write(batch).await.unwrap();
    }
    store.sync().await.unwrap();
}

/// The model with erase blocks so small that its superblocks are a 32nd of what they are.
fn model() -> Model {
    let path = std::env::temp_dir().join(format!("nandle-flash-bytes-{}.toml", std::process::id()));
    let library = Model::named("nvme-tlc").unwrap();
    let toml = library.toml().replace("pages_per_block = 32 ", "pages_per_block = 1 ");
    std::fs::write(&path, toml).unwrap();
    let model = Model::from_path(&path);
    std::fs::remove_file(path).unwrap();
    model
        .unwrap()
        .with_capacity_bytes(CAPACITY_BYTES)
        .unwrap()
        .starting(FirstState::Filled { percent: 0 })
        .unwrap()
}

/// Pages by Zipf's distribution, ranks scattered over the store.
struct Ranks {
    zipf: rand_distr::Zipf<f64>,
    pages: u64,
    random: Xoshiro256PlusPlus,
}

impl Ranks {
    fn new(pages: u64) -> Self {
        let zipf = rand_distr::Zipf::new(pages as f64, SKEW).unwrap();
        Self { zipf, pages, random: Xoshiro256PlusPlus::seed_from_u64(1) }
    }
}

impl Iterator for Ranks {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank from 1 to the pages"
        )]
        let rank = self.zipf.sample(&mut self.random) as u64 - 1;
        // A large prime scatters them.
        Some(rank.wrapping_mul(2_654_435_761) % self.pages)
    }
}
