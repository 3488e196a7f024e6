use super::drives;
use super::truth::{Score, probe_drive, truth};
use crate::virtual_world::{Drive, Weather};

/// Seeds of each test; more by the environment variable `NANDLE_TEST_SEEDS`.
fn seeds() -> std::ops::Range<u64> {
    let more = std::env::var("NANDLE_TEST_SEEDS").ok().and_then(|text| text.parse().ok());
    1..more.unwrap_or(3) + 1
}

fn score(name: &str, drive: &Drive, budget_s: u64, noise: f64, drift: f64) -> Score {
    let truth = truth(drive);
    let mut score = Score::default();
    for seed in seeds() {
        let weather = Weather { noise, drift, seed };
        let drive = Drive { weather, ..drive.clone() };
        score.add(&truth, &probe_drive(&drive, budget_s, seed));
    }
    println!("{name}, {budget_s} s, noise {noise}, drift {drift}: {score}");
    score
}

#[test]
fn table() {
    for (name, drive) in [
        ("sata", drives::sata()),
        ("cloud", drives::cloud()),
        ("disk", drives::disk()),
        ("array", drives::disk_array()),
    ] {
        for budget_s in [5, 20, 60] {
            for (noise, drift) in [(0.0, 0.0), (0.05, 0.0), (0.05, 0.2)] {
                score(name, &drive, budget_s, noise, drift);
            }
        }
    }
    score("fast", &drives::fast(), 5, 0.0, 0.0);
}
