//! Flash bytes written per page update on a drive that is 90 % full, by policy. Run `cargo run
//! --release -p nandle-replay --example flash_bytes`. Time is virtual and bytes are counted, so the
//! figures are reproducible.
//!
//! The drive is the library's `nvme-plp` scaled to 1 GiB: smaller erase blocks give it as many
//! superblocks as the model has with 32 GiB, and its write buffer is scaled, too. The store's pages
//! fill 90 % of the drive. All pages are written once in order. Then there are updates of four
//! times the store, until write amplification reaches its steady state, and measured updates of one
//! more store. Updates are distributed uniformly, or by Zipf's law with skew 0.8 and ranks
//! scattered over the store.
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
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::Distribution;
use rand_xoshiro::Xoshiro256PlusPlus;

const CAPACITY_BYTES: u64 = 1 << 30;
const PAGE_BYTES: usize = 4096;
/// Spare space of the store, in percent: the drive has 11 % more than the pages, less a zone for
/// the store's own blocks.
const SPARE_PERCENT: u32 = 10;
/// Length of a superblock, the drive's unit of cleaning: an erase block of one page in each of 4
/// planes of 64 dies.
const SUPERBLOCK_BYTES: u64 = 4 << 20;
/// Updates before the measurement, as multiples of the store.
const WARM_TURNS: u64 = 4;

/// Distribution of updates over the pages.
#[derive(Debug, Clone, Copy)]
enum Updates {
    Uniform,
    Zipf,
}

fn main() {
    // Policy, zone length, and the incompressible part of a page in percent; the rest is zeros.
    let cases = [
        (PolicyKind::Direct, SUPERBLOCK_BYTES, 100),
        (PolicyKind::DoubleWrite, SUPERBLOCK_BYTES, 100),
        (PolicyKind::OutOfPlace, SUPERBLOCK_BYTES, 33),
        (PolicyKind::OutOfPlace, SUPERBLOCK_BYTES, 50),
        (PolicyKind::OutOfPlace, SUPERBLOCK_BYTES / 4, 50),
        (PolicyKind::OutOfPlace, SUPERBLOCK_BYTES, 100),
    ];
    println!(
        "updates  policy        noise_percent  zone_bytes  flash_bytes_by_changed  device_bytes_by_changed  \
         moved_by_changed  drive_amplification"
    );
    for updates in [Updates::Zipf, Updates::Uniform] {
        for (policy, zone_bytes, noise_percent) in cases {
            let Figures { drive, moved_pages, changed_pages } =
                measure(updates, policy, zone_bytes, noise_percent);
            let changed_bytes = (changed_pages * PAGE_BYTES as u64) as f64;
            println!(
                "{:<7}  {policy:<12}  {noise_percent:>13}  {zone_bytes:>10}  {:>22.3}  {:>23.3}  {:>16.3}  {:>19.3}",
                format!("{updates:?}"),
                drive.flash_written_bytes as f64 / changed_bytes,
                drive.host_written_bytes as f64 / changed_bytes,
                moved_pages as f64 / changed_pages as f64,
                drive.write_amplification().unwrap_or(0.0),
            );
        }
    }
}

struct Figures {
    drive: DriveCounters,
    moved_pages: u64,
    changed_pages: u64,
}

fn measure(updates: Updates, policy: PolicyKind, zone_bytes: u64, noise_percent: usize) -> Figures {
    let device = model().device().unwrap();
    let mut world = MediaWorld::modelled(Host::with_slots(256));
    let media = device.media();
    let (device, _) = world.add(device, media);
    let runtime = Runtime::new(Box::new(world));
    let handle = runtime.handle();
    // The out-of-place store's own blocks take one zone more than a tenth of the drive leaves.
    let pages = (CAPACITY_BYTES / 10 * 9 - SUPERBLOCK_BYTES) / PAGE_BYTES as u64;
    let create = CreateOptions {
        alignment_bytes: zone_bytes,
        spare_percent: SPARE_PERCENT,
        ..CreateOptions::new(policy, PAGE_BYTES, pages)
    };
    runtime.block_on(async move {
        let options = OpenOptions { gather_bytes: 1 << 20, ..OpenOptions::default() };
        let store = Store::create(&handle, device.id, &create, options).await.unwrap();
        let noise_bytes = PAGE_BYTES * noise_percent / 100;
        let mut drawn = UpdateSequence::new(updates, pages);
        let turn = usize::try_from(pages).unwrap();
        write(&store, noise_bytes, &mut (0..pages)).await;
        for _ in 0..WARM_TURNS {
            write(&store, noise_bytes, &mut drawn.by_ref().take(turn)).await;
        }
        let (drive, moved_pages) = (handle.counters(device.id).unwrap(), store.stats().pages_cleaned);
        write(&store, noise_bytes, &mut drawn.by_ref().take(turn)).await;
        let moved_pages = store.stats().pages_cleaned - moved_pages;
        Figures { drive: handle.counters(device.id).unwrap().since(drive), moved_pages, changed_pages: pages }
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

/// The model with superblocks and a write buffer of a 32nd of their length, so that the small drive
/// behaves like a large one.
fn model() -> Model {
    let path = std::env::temp_dir().join(format!("nandle-flash-bytes-{}.toml", std::process::id()));
    let library = Model::named("nvme-plp").unwrap();
    let toml = replaced(library.toml(), "pages_per_block = 32 ", "pages_per_block = 1 ");
    let toml = replaced(&toml, "bytes = 33_554_432 ", "bytes = 1_048_576 ");
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

fn replaced(toml: &str, old: &str, new: &str) -> String {
    assert!(toml.contains(old), "the model has {old:?}");
    toml.replace(old, new)
}

/// Sequence of pages to update.
struct UpdateSequence {
    zipf: Option<rand_distr::Zipf<f64>>,
    pages: u64,
    random: Xoshiro256PlusPlus,
}

impl UpdateSequence {
    fn new(updates: Updates, pages: u64) -> Self {
        let zipf = match updates {
            Updates::Uniform => None,
            Updates::Zipf => Some(rand_distr::Zipf::new(pages as f64, 0.8).unwrap()),
        };
        Self { zipf, pages, random: Xoshiro256PlusPlus::seed_from_u64(1) }
    }
}

impl Iterator for UpdateSequence {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let Some(zipf) = &self.zipf else { return Some(self.random.random_range(0..self.pages)) };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank from 1 to the pages"
        )]
        let rank = zipf.sample(&mut self.random) as u64 - 1;
        // A multiplication by a large prime scatters the ranks.
        Some(rank.wrapping_mul(2_654_435_761) % self.pages)
    }
}
