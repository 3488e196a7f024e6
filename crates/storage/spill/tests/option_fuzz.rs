//! Any option values are accepted or refused, and never cause a panic.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::print_stdout,
    reason = "all of it is tests"
)]

mod common;

use common::{DEVICE, SPACE_BYTES, memory_world};
use nandle_io::runtime::{Handle, Runtime};
use nandle_spill::{
    Budget, JoinKind, JoinOptions, Joiner, Place, ReadCost, Row, SortOptions, Sorter, SpillCosts, SpillError,
};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const CASES: u64 = 1500;

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        *values.choose(&mut self.0).unwrap()
    }

    fn number(&mut self, usual: u64) -> u64 {
        match self.0.random_range(0..12_u8) {
            0 => self.pick(&[0, 1, 2, 511, 512, 4095, 4096, 4097, 1 << 31, 1 << 40, 1 << 63]),
            1 => u64::MAX - self.0.random_range(0..8192_u64),
            2 => self.0.random::<u64>() >> self.0.random_range(0..64_u32),
            _ => usual,
        }
    }

    fn size(&mut self, usual: usize) -> usize {
        self.number(usual as u64) as usize
    }

    fn rate(&mut self, usual: f64) -> f64 {
        match self.0.random_range(0..12_u8) {
            0 => self.pick(&[f64::NAN, -f64::NAN, f64::INFINITY, 0.0, -0.0, -1.0, f64::MAX, 1e-300]),
            _ => usual,
        }
    }

    fn costs(&mut self) -> SpillCosts {
        let random_reads = (0..self.0.random_range(0..6_usize)).map(|power| ReadCost {
            request_bytes: self.size(4096 << power),
            depth: self.number(4) as u32,
            bytes_per_second: self.rate(1e8),
        });
        SpillCosts {
            random_reads: random_reads.collect(),
            write_bytes_per_second: self.rate(1e9),
            write_request_bytes: self.size(64 << 10),
            writes_outstanding: self.size(4),
            request_seconds: self.rate(2e-6),
            zone_bytes: self.number(1 << 20),
        }
    }

    fn budget(&mut self) -> Result<Budget, SpillError> {
        let bytes = self.size(256 << 10);
        // The system may overcommit memory.
        Budget::new(if bytes > 1 << 40 { bytes } else { bytes.min(4 << 20) })
    }
}

fn rows() -> impl Iterator<Item = [u8; 8]> {
    (0..6000_u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes())
}

async fn sort(handle: &Handle, place: Place, options: SortOptions) -> Result<(), SpillError> {
    let mut sorter = Sorter::new(handle, place, options)?;
    for row in rows() {
        sorter.push(Row { key: &row, payload: &[7; 40] }).await?;
    }
    let mut merging = sorter.finish().await?;
    while merging.next().await?.is_some() {}
    Ok(())
}

async fn join(handle: &Handle, place: Place, options: JoinOptions) -> Result<(), SpillError> {
    let mut pairs = 0_u64;
    let mut sink = |_: Option<Row<'_>>, _: Row<'_>| pairs += 1;
    let mut joiner = Joiner::new(handle, place, options)?;
    for row in rows() {
        joiner.build(Row { key: &row, payload: &[7; 40] }).await?;
    }
    let mut probing = joiner.finish_build().await?;
    for row in rows() {
        probing.probe(Row { key: &row, payload: &[8; 8] }, &mut sink).await?;
    }
    probing.finish(&mut sink).await.map(drop)
}

#[test]
fn any_options_are_accepted_or_refused() {
    let (mut refused, mut done) = (0, 0);
    for seed in 0..CASES {
        let random = &mut Random(Xoshiro256PlusPlus::seed_from_u64(seed));
        let Ok(budget) = random.budget() else {
            refused += 1;
            continue;
        };
        let place = Place {
            device: DEVICE,
            start_bytes: random.number(0),
            length_bytes: random.number(SPACE_BYTES),
            salt: random.number(7),
            discards: false,
        };
        let costs = random.costs();
        let cluster_bytes = random.0.random_bool(0.3).then(|| random.size(4096));
        let expected = random.0.random::<bool>().then(|| random.number(1 << 30));
        let most = random.0.random_bool(0.3).then(|| random.size(4));
        let runtime = Runtime::new(Box::new(memory_world()));
        let handle = runtime.handle();
        let result = if seed.is_multiple_of(2) {
            let options = SortOptions {
                expected_bytes: expected,
                limit: random.0.random_bool(0.2).then(|| random.number(10)),
                stable: random.0.random(),
                cluster_bytes,
                fan_in_max: most,
                ..SortOptions::new(budget, costs)
            };
            runtime.block_on(sort(&handle, place, options))
        } else {
            let kind = random.pick(&JoinKind::ALL);
            let options = JoinOptions {
                expected_build_bytes: expected,
                cluster_bytes,
                fan_out_max: most,
                ..JoinOptions::new(budget, costs, kind)
            };
            runtime.block_on(join(&handle, place, options))
        };
        match result {
            Ok(()) => done += 1,
            Err(_) => refused += 1,
        }
    }
    println!("{done} of {CASES} were done, and {refused} refused");
    assert!(done > CASES / 20, "{done}");
}

#[test]
fn invalid_figures_are_refused() {
    let runtime = Runtime::new(Box::new(memory_world()));
    let place = common::place();
    for figure in [f64::NAN, -f64::NAN, f64::INFINITY, 0.0, -1.0] {
        let costs = SpillCosts { write_bytes_per_second: figure, ..SpillCosts::default() };
        let options = SortOptions::new(Budget::new(1 << 20).unwrap(), costs.clone());
        let sorter = Sorter::new(&runtime.handle(), place, options).err();
        assert!(matches!(sorter, Some(SpillError::Options { .. })), "{figure}: {sorter:?}");
        let options = JoinOptions::new(Budget::new(1 << 20).unwrap(), costs, JoinKind::Inner);
        let joiner = Joiner::new(&runtime.handle(), place, options).err();
        assert!(matches!(joiner, Some(SpillError::Options { .. })), "{figure}: {joiner:?}");
    }
}
