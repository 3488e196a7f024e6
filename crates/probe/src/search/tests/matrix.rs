use super::drives;
use super::truth::{Score, probe_drive, truth};
use crate::virtual_world::{Drive, Weather};

#[test]
fn matrix() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let seeds: u64 = std::env::var("NANDLE_TEST_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    for (name, drive) in [("sata", drives::sata()), ("cloud", drives::cloud()), ("vdisk", drives::virtual_disk())] {
        if !only.is_empty() && only != name { continue; }
        let truth = truth(&drive);
        for (budget_s, noise, drift) in
            [(5, 0.0, 0.0), (20, 0.05, 0.2), (60, 0.1, 0.1), (60, 0.25, 0.1)]
        {
            let began = std::time::Instant::now();
            let mut score = Score::default();
            for seed in 1..=seeds {
                let weather = Weather { noise, drift, seed };
                let drive = Drive { weather, ..drive.clone() };
                score.add(&truth, &probe_drive(&drive, budget_s, seed));
            }
            println!("{name:5} {budget_s:2}s n{noise:4} d{drift:3}: {score}  [{:.1}s]", began.elapsed().as_secs_f64());
        }
    }
}
