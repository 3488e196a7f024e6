//! Arbitrary options are accepted or refused, and never cause a panic.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::print_stdout,
    reason = "all of it is tests"
)]

use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::Runtime;
use nandle_io::{DeviceId, Nanos};
use nandle_pages::{
    Batch, CreateOptions, ExpectedUse, OpenOptions, PageError, PageNumber, PageOptions, PageTimes,
    PolicyKind, Promises, Store, WriteCosts, predict_policies, quickest, usual_buffer_bytes,
};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const CASES: u64 = 4000;
const DEVICE_BYTES: u64 = 32 << 20;

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn of(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn of_these<T: Copy>(&mut self, values: &[T]) -> T {
        *values.choose(&mut self.0).unwrap()
    }

    /// Mostly `usual`, otherwise any number, with a preference for edge cases.
    fn number(&mut self, usual: u64) -> u64 {
        match self.0.random_range(0..8_u8) {
            0 => self.of_these(&[0, 1, 2, 4095, 4096, 4097, 1 << 31, 1 << 40, 1 << 52, 1 << 63]),
            1 => u64::MAX - self.0.random_range(0..8192_u64),
            2 => self.0.random::<u64>() >> self.0.random_range(0..64_u32),
            _ => usual,
        }
    }

    fn size(&mut self, usual: usize) -> usize {
        self.number(usual as u64) as usize
    }

    fn time(&mut self) -> f64 {
        match self.0.random_range(0..6_u8) {
            0 => self.of_these(&[f64::NAN, -f64::NAN, f64::INFINITY, -f64::INFINITY, 0.0, -0.0, -1.0]),
            1 => self.of_these(&[f64::MIN_POSITIVE, f64::MAX, f64::MIN, f64::EPSILON]),
            _ => self.0.random_range(1e2..1e7),
        }
    }

    fn policy(&mut self) -> PolicyKind {
        self.of_these(&PolicyKind::ALL)
    }

    fn create(&mut self) -> CreateOptions {
        let (policy, page_bytes, pages) = (self.policy(), self.size(4096), self.number(64));
        CreateOptions {
            pages_max: self.0.random::<bool>().then(|| self.number(128)),
            buffer_bytes: self.number(32 * 4096),
            spare_percent: self.number(15) as u32,
            home_sums: self.0.random(),
            alignment_bytes: self.number(4096),
            id: self.0.random::<bool>().then(|| self.number(7).into()),
            ..CreateOptions::new(policy, page_bytes, pages)
        }
    }

    fn costs(&mut self) -> WriteCosts {
        WriteCosts {
            sequential_ns: self.number(1000),
            partitioned_ns: self.number(1000),
            ordered_ns: self.number(1000),
            focused_ns: self.number(1000),
            random_ns: self.number(10_000),
            focused_area_bytes: self.number(8 << 20),
            partitions: self.number(8) as u32,
            mapping_unit_bytes: self.number(4096),
        }
    }

    fn open(&mut self) -> OpenOptions {
        OpenOptions {
            costs: self.costs(),
            memory_bytes: self.size(1 << 20),
            gather_bytes: self.size(8192),
            drain_tasks: self.size(2),
            drain_depth: self.size(16),
            keep_bytes: self.size(1 << 18),
            compress: self.0.random(),
            map_interval_bytes: self.0.random::<bool>().then(|| self.number(1 << 20)),
            forget_lost_sums: self.0.random(),
            ..OpenOptions::default()
        }
    }

    fn times(&mut self) -> PageTimes {
        PageTimes {
            request_ns: self.time(),
            sequential_ns: self.time(),
            focused_ns: self.time(),
            focused_area_bytes: self.number(8 << 20),
            random_ns: self.time(),
            random_deep_ns: self.time(),
            read_deep_ns: self.time(),
            flush_ns: self.time(),
        }
    }

    fn expected(&mut self) -> ExpectedUse {
        ExpectedUse {
            fill_percent: self.number(90) as u8,
            batch_pages: self.time(),
            sync_pages: self.0.random::<bool>().then(|| self.time()),
            writers: self.number(1) as u32,
            compressible_percent: self.number(0) as u8,
        }
    }
}

/// Creates a store, commits to it and reopens it.
async fn live(
    handle: &nandle_io::runtime::Handle,
    create: &CreateOptions,
    open: OpenOptions,
) -> Result<(), PageError> {
    let device = DeviceId::from_index(0);
    let store = Store::create(handle, device, create, open).await?;
    for version in 1..4 {
        for page in 0..create.pages.min(8) {
            let mut batch = Batch::new();
            let mut contents = store.buffer()?;
            contents.fill(version);
            batch.put(PageNumber(page), contents.freeze());
            store.commit(batch).await?;
        }
    }
    store.checkpoint().await?;
    store.close().await?;
    let store = Store::open(handle, device, open).await?;
    for page in 0..create.pages.min(8) {
        assert!(store.read(PageNumber(page)).await?.iter().all(|byte| *byte == 3), "page {page}");
    }
    store.close().await
}

#[test]
fn any_option_is_taken_or_refused() {
    let (mut taken, mut made) = (0, 0);
    for seed in 0..CASES {
        let random = &mut Random::of(seed);
        let (create, open) = (random.create(), random.open());
        let _ = (create.index_bytes(), create.promises(), create.largest_batch(&open));
        let Ok(device_bytes) = create.device_bytes() else { continue };
        taken += 1;
        if device_bytes > DEVICE_BYTES {
            continue;
        }
        let mut world = MemoryWorld::new(64, Nanos::from_micros(20));
        world.add(DEVICE_BYTES, 512);
        let runtime = Runtime::new(Box::new(world));
        let handle = runtime.handle();
        match runtime.block_on(live(&handle, &create, open)) {
            Ok(()) => made += 1,
            Err(PageError::Option { .. } | PageError::LeastMemory { .. } | PageError::Memory(_)) => {}
            Err(error) => panic!("seed {seed}: {create:?}, {open:?}: {error}"),
        }
    }
    println!("{taken} of {CASES} layouts were taken, and {made} stores made");
    assert!(taken > CASES / 10 && made > CASES / 50, "{taken}, {made}");
}

#[test]
fn any_figure_is_predicted_from_or_left_out() {
    for seed in 0..CASES {
        let random = &mut Random::of(seed);
        let (create, open) = (random.create(), random.open());
        let (times, expected) = (random.times(), random.expected());
        let predicted = predict_policies(&create, &open, &times, &expected);
        assert!(
            predicted.iter().all(|predicted| predicted.page_ns.is_finite()),
            "seed {seed}: {predicted:?}"
        );
        assert!(predicted.is_sorted_by_key(|predicted| predicted.page_ns), "seed {seed}: {predicted:?}");
        let _ = quickest(&predicted, Promises::NONE);
        let options = PageOptions::new(random.number(64))
            .with_page_bytes(random.size(4096))
            .with_policy(random.policy())
            .with_buffer_bytes(random.number(1 << 20))
            .with_open(open);
        let _ = options.with_quickest_policy(&times, &expected, Promises::NONE);
        let _ = usual_buffer_bytes(random.number(1 << 30));
    }
}

/// A NaN with its sign set once sorted before all numbers.
#[test]
fn a_time_that_is_no_number_is_not_the_quickest() {
    let times = PageTimes {
        request_ns: -f64::NAN,
        sequential_ns: 1e3,
        focused_ns: 1e3,
        focused_area_bytes: 0,
        random_ns: 1e4,
        random_deep_ns: 1e4,
        read_deep_ns: 1e4,
        flush_ns: 1e4,
    };
    let create = CreateOptions::new(PolicyKind::Direct, 4096, 1000);
    let predicted = predict_policies(&create, &OpenOptions::default(), &times, &ExpectedUse::commits_of(1.0));
    assert!(predicted.iter().all(|predicted| predicted.page_ns.is_finite()), "{predicted:?}");
}

#[test]
fn an_alignment_beyond_all_devices_is_refused() {
    for policy in PolicyKind::ALL {
        for alignment_bytes in [u64::MAX, u64::MAX - 4095, 1 << 63, (1 << 40) + 1] {
            let create = CreateOptions { alignment_bytes, ..CreateOptions::new(policy, 4096, 64) };
            let refused = create.device_bytes().unwrap_err();
            let is_named = matches!(refused, PageError::Option { option: "alignment_bytes", .. });
            assert!(is_named, "{policy}: {refused}");
        }
    }
}

/// Each option alone is valid; together they exceed 64 bits.
#[test]
fn a_store_beyond_all_devices_is_refused() {
    for policy in PolicyKind::ALL {
        for (page_bytes, spare_percent, alignment_bytes) in [
            (65_536, 10_000, 1 << 40),
            (65_536, 10_000, 4096),
            (4096, 10_000, 1 << 20),
            (65_536, 15, 1 << 20),
        ] {
            let usual = CreateOptions::new(policy, page_bytes, 1 << 46);
            let create = CreateOptions { spare_percent, alignment_bytes, buffer_bytes: 1 << 48, ..usual };
            match create.device_bytes() {
                Ok(bytes) => assert!(bytes <= 1 << 63, "{policy}: {bytes} bytes"),
                Err(refused) => assert!(matches!(refused, PageError::TooSmall { .. }), "{policy}: {refused}"),
            }
            let _ = (create.index_bytes(), create.largest_batch(&OpenOptions::default()));
        }
    }
}
