//! Reads by several threads: devices too fast for one thread, and blocking threads compared with
//! asynchronous reads.

use nandle_advise::Product;
use nandle_advise::settings::{Confidence, Setting};
use nandle_profile::{DeviceProfile, Interval};

use crate::advice;
use crate::made_up::NVME;

fn setting(profile: &DeviceProfile, product: Product, name: &str) -> Setting {
    advice(profile, product, product.latest()).setting(name).unwrap().clone()
}

/// Profile with shares of the peak rate for 1, 2, 4 and 8 threads, with relative noise.
fn with_threads(shares: [f64; 4], noise: f64) -> DeviceProfile {
    let mut profile = NVME.profile();
    let cells = &mut profile.experiments.scaling.as_mut().unwrap().findings.cells;
    for (cell, share) in cells.iter_mut().zip(shares) {
        let value = share * 1e6;
        cell.iops = Interval { value, low: value * (1.0 - noise), high: value * (1.0 + noise) };
    }
    profile
}

#[test]
fn device_too_fast_for_one_thread_gets_more() {
    let threads = |profile: &DeviceProfile| setting(profile, Product::Mysql, "innodb_read_io_threads");
    let fast = threads(&with_threads([0.2, 0.4, 0.7, 1.0], 0.02));
    assert_eq!((fast.value.as_str(), fast.only_a_comment), ("8", None));
    assert!(fast.figures[1].says.contains("8 threads come near the peak of 1 000 000"), "{:?}", fast.figures);
    assert_eq!(threads(&NVME.profile()).only_a_comment.unwrap(), "the default suffices");
    let mut model = NVME.profile();
    model.experiments.scaling = None;
    assert_eq!(
        threads(&model).confidence,
        Confidence::High,
        "a model's host has one thread, and the rule is the product's"
    );
    let noisy = threads(&with_threads([0.5, 0.6, 0.8, 1.0], 0.8));
    assert_eq!(noisy.confidence, Confidence::Low);
    assert!(noisy.only_a_comment.is_some());
}

/// Profile with a `gain` of asynchronous over blocking reads, which peak at `enough` threads.
fn with_methods(gain: f64, enough: u32, noise: f64) -> DeviceProfile {
    let mut profile = NVME.profile();
    for read in &mut profile.experiments.sync_reads.as_mut().unwrap().findings.reads {
        let value = 1e9 * f64::from(read.outstanding.min(enough)) / f64::from(enough);
        let about = |value: f64| Interval { value, low: value * (1.0 - noise), high: value * (1.0 + noise) };
        (read.sync_bytes_per_s, read.async_bytes_per_s) = (Some(about(value)), about(gain * value));
    }
    profile
}

#[test]
fn postgresql_io_method_and_workers_follow_from_blocking_threads() {
    let of = |profile: &DeviceProfile, name: &str| setting(profile, Product::Postgresql, name);
    let mut gains = with_methods(2.0, 16, 0.02);
    let workers_on = |profile: &mut DeviceProfile, processors: u32| {
        profile.system.machine.processors = processors;
        of(profile, "io_workers").value
    };
    assert_eq!(of(&gains, "io_method").value, "io_uring");
    assert_eq!([64, 8, 2].map(|count| workers_on(&mut gains, count)), ["16", "8", "3"]);
    assert!(of(&gains, "io_method").only_a_comment.is_some(), "a server without liburing would not start");
    let alike = with_methods(1.05, 4, 0.02);
    assert_eq!(
        (of(&alike, "io_method").value, of(&alike, "io_workers").value),
        ("worker".into(), "4".into())
    );
    assert_eq!(
        of(&with_methods(1.5, 16, 0.3), "io_method").value,
        "worker",
        "the noise may be all of the gain"
    );
    let mut unknown = NVME.profile();
    unknown.experiments.sync_reads = None;
    assert_eq!(workers_on(&mut unknown, 128), "32", "the knee's 64, and the most that there are");
    assert_eq!(of(&unknown, "io_method").value, "worker");
}
