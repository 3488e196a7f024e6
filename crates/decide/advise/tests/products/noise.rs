//! Noise must not lead to impossible advice: a larger request cheaper than a smaller one, more than
//! the measured bandwidth, a value that the product refuses.

use nandle_advise::Product;
use nandle_advise::settings::Advice;
use nandle_profile::DeviceProfile;
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::Value;

use crate::advice;
use crate::made_up::{DISK, Drive, NVME};

/// Random generator with the same sequence on every machine (splitmix64).
struct Noise {
    state: u64,
    /// Logarithm of the greatest factor on a figure.
    strength: f64,
}

impl Noise {
    fn unit(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64
    }

    fn factor(&mut self) -> f64 {
        (self.strength * (2.0 * self.unit() - 1.0)).exp()
    }

    /// Multiplies each figure by a random factor, with narrow or wide bounds.
    fn disturb(&mut self, value: &mut Value) {
        match value {
            Value::Object(parts) if ["value", "low", "high"].iter().all(|key| parts.contains_key(*key)) => {
                let Some(measured) = parts["value"].as_f64().filter(|_| !parts["value"].is_u64()) else {
                    return;
                };
                let value = measured * self.factor();
                let reach = self.strength * self.unit();
                parts["value"] = value.into();
                parts["low"] = (value * (-reach).exp()).into();
                parts["high"] = (value * reach.exp()).into();
            }
            Value::Object(parts) => parts.values_mut().for_each(|part| self.disturb(part)),
            Value::Array(parts) => parts.iter_mut().for_each(|part| self.disturb(part)),
            _ => {}
        }
    }
}

fn noisy(drive: &Drive, seed: u64, strength: f64) -> DeviceProfile {
    let mut profile = serde_json::to_value(drive.profile()).unwrap();
    let mut noise = Noise { state: seed, strength };
    noise.disturb(&mut profile);
    serde_json::from_value(profile).unwrap()
}

/// Best write bandwidth among the profile's measurements.
fn write_bandwidth(profile: &DeviceProfile) -> f64 {
    let found = &profile.experiments;
    let large = found.large_writes.as_ref().unwrap().findings.cells.iter();
    let large = large.map(|cell| cell.bandwidth_bytes_per_s.value);
    let steady = profile.derived.steady_state.as_ref().unwrap().random_write_bytes_per_s.value;
    large.fold(steady, f64::max)
}

fn number(advice: &Advice, name: &str) -> f64 {
    advice.setting(name).unwrap_or_else(|| panic!("{name}: {:?}", advice.missing)).value.parse().unwrap()
}

fn innodb(profile: &DeviceProfile, product: Product) {
    const PAGE_BYTES: f64 = 16_384.0;
    const LEAST: f64 = 100.0;
    let advice = advice(profile, product, product.latest());
    let (usual, most) = (number(&advice, "innodb_io_capacity"), number(&advice, "innodb_io_capacity_max"));
    let steady = profile.derived.steady_state.as_ref().unwrap();
    assert!(usual <= most, "{usual} beyond {most}");
    if most > LEAST {
        assert!((most - 1.0) * PAGE_BYTES <= write_bandwidth(profile), "{most} pages a second");
        // A page takes no less time than a block of a quarter its size, so its rate is at most the
        // lower bound of theirs.
        let blocks_per_s = steady.random_write_bytes_per_s.low / steady.block_bytes as f64;
        assert!(most - 1.0 <= blocks_per_s, "{most} pages a second, and {blocks_per_s} blocks");
    }
    let page = number(&advice, "innodb_page_size");
    assert!([4096.0, 8192.0, 16_384.0].contains(&page));
    assert!((100.0..=1536.0).contains(&number(&advice, "innodb_lru_scan_depth")));
}

fn seastar(profile: &DeviceProfile) {
    let advice = advice(profile, Product::Seastar, Product::Seastar.latest());
    for side in ["read", "write"] {
        let [iops, bandwidth] = ["iops", "bandwidth"].map(|what| number(&advice, &format!("{side}_{what}")));
        assert!((iops - 1.0) * 4096.0 <= bandwidth, "{iops} of 4096 and {bandwidth} bytes a second");
    }
    let best = profile.derived.sequential_bandwidth_bytes_per_s_max.unwrap().value;
    assert!(number(&advice, "read_bandwidth") <= best + 1.0);
    assert!(number(&advice, "write_bandwidth") <= write_bandwidth(profile) + 1.0);
}

fn linux(profile: &DeviceProfile) {
    let advice = advice(profile, Product::Linux, Product::Linux.latest());
    let line = &advice.setting("/sys/fs/cgroup/io.cost.model").unwrap().value;
    let number = |key: &str| -> f64 {
        let pair = line.split([' ', '"']).find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
        pair.unwrap().parse().unwrap()
    };
    for side in ["r", "w"] {
        let of = |what: &str| number(&format!("{side}{what}"));
        assert!(of("randiops") <= of("seqiops"), "{line}");
        assert!((of("seqiops") - 1.0) * 4096.0 <= of("bps").max(4096.0), "{line}");
    }
}

fn rocksdb(profile: &DeviceProfile) {
    let advice = advice(profile, Product::Rocksdb, Product::Rocksdb.latest());
    assert!(number(&advice, "rate_bytes_per_sec") <= write_bandwidth(profile));
    assert!((2.0..=8.0).contains(&number(&advice, "max_background_jobs")));
    assert!((1.0..=4.0).contains(&number(&advice, "max_subcompactions")));
}

fn postgresql(profile: &DeviceProfile) {
    let advice = advice(profile, Product::Postgresql, Product::Postgresql.latest());
    assert!(number(&advice, "random_page_cost") >= 1.0);
    let bound = number(&advice, "io_max_concurrency");
    for name in ["effective_io_concurrency", "maintenance_io_concurrency"] {
        let depth = number(&advice, name);
        assert!((1.0..=1000.0).contains(&depth));
        assert!(depth <= if bound < 0.0 { 64.0 } else { bound }, "{name} = {depth} beyond {bound}");
    }
    assert!((3.0..=32.0).contains(&number(&advice, "io_workers")));
    assert!((0.0..=100_000.0).contains(&number(&advice, "commit_delay")));
}

fn sqlite(profile: &DeviceProfile) {
    let advice = advice(profile, Product::Sqlite, Product::Sqlite.latest());
    let page = number(&advice, "page_size");
    assert!([4096.0, 8192.0, 16_384.0].contains(&page));
}

/// Uncertain values are never set.
fn held_back(profile: &DeviceProfile) {
    for product in Product::ALL {
        let advice = advice(profile, product, product.latest());
        for setting in advice.settings() {
            let is_low = setting.confidence == nandle_advise::settings::Confidence::Low;
            assert!(!is_low || setting.only_a_comment.is_some(), "{setting:?}");
        }
    }
}

proptest! {
    #![proptest_config(Config { cases: 200, failure_persistence: None, ..Config::default() })]

    #[test]
    fn noise_never_leads_to_impossible_advice(seed: u64, strength in 0.0..2.0_f64, is_disk: bool) {
        let profile = noisy(if is_disk { &DISK } else { &NVME }, seed, strength);
        innodb(&profile, Product::Mysql);
        innodb(&profile, Product::Mariadb);
        seastar(&profile);
        linux(&profile);
        rocksdb(&profile);
        postgresql(&profile);
        sqlite(&profile);
        held_back(&profile);
    }
}

/// Measurement that once led to 27 991 pages of 16 KiB at 60.4 MB/s: 16 KiB seemed to take 0.53
/// times as long as 4 KiB.
#[test]
fn larger_write_is_never_cheaper_than_a_smaller_one() {
    let mut profile = NVME.profile();
    let steady = profile.derived.steady_state.as_mut().unwrap();
    steady.random_write_bytes_per_s = nandle_profile::Interval { value: 60.4e6, low: 58e6, high: 63e6 };
    for row in &mut profile.experiments.write_patterns.as_mut().unwrap().findings.patterns {
        if row.pattern == "random" {
            let ns = if row.block_bytes == 16 << 10 { 53e3 } else { 100e3 };
            row.request_ns = nandle_profile::Interval { value: ns, low: 0.9 * ns, high: 1.1 * ns };
        }
    }
    for product in [Product::Mysql, Product::Mariadb] {
        let advice = advice(&profile, product, product.latest());
        let most = advice.setting("innodb_io_capacity_max").unwrap();
        // 58 MB/s in pages of 16 KiB. The time of a page is unknown, up to the time of four blocks.
        assert_eq!(most.value, "3540", "{most:?}");
        assert!(most.figures[0].says.contains("which wasn't measured clearly"), "{}", most.figures[0].says);
    }
}
