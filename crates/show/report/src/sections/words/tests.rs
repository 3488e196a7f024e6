use nandle_profile::{InterferenceLimit, Interval};

use super::*;
use crate::made_up;

fn sentence(all: &[Statement], term: &str) -> String {
    let found = all.iter().find(|statement| statement.term == term).unwrap();
    format!("{} {}", found.value.as_deref().unwrap_or("?"), found.sentence)
}

#[test]
fn empty_profile_names_every_term_as_missing() {
    let all = statements(&made_up::partial());
    assert!(all.iter().all(|statement| statement.value.is_none()), "{all:?}");
    assert!(all.len() >= 10);
}

#[test]
fn sentences_follow_the_values() {
    let mut profile = made_up::fast();
    profile.derived.efficient_block_bytes = Some(Interval { value: 32 << 10, low: 16 << 10, high: 32 << 10 });
    profile.derived.random_read_latency_ns = Some(84_000);
    let all = statements(&profile);
    assert!(sentence(&all, "Efficient block").starts_with("32KiB (16KiB–32KiB) is the smallest"));
    assert!(sentence(&all, "Latency").starts_with("84.0\u{a0}µs is the median"));
}

#[test]
fn penalty_within_noise_is_no_penalty() {
    let mut profile = made_up::fast();
    for penalty in &mut profile.derived.group_penalty {
        penalty.ratio = Interval { value: 0.97, low: 0.9, high: 1.03 };
    }
    assert!(sentence(&statements(&profile), "Group penalty").starts_with("none"));
    profile.derived.group_penalty[0].ratio = Interval { value: 0.7, low: 0.65, high: 0.75 };
    assert!(
        sentence(&statements(&profile), "Group penalty").starts_with("× 0.700 (0.650–0.750) is the worst")
    );
}

#[test]
fn plateau_not_reached_is_a_lower_bound() {
    let mut depths = made_up::fast().derived.saturating_queue_depth;
    depths[0].plateau_reached = false;
    let table = depth_table(&depths).into_string();
    assert!(table.contains(&format!("more than {}", depths[0].queue_depth.value)), "{table}");
    assert!(table.contains("still growing"));
}

#[test]
fn only_conducted_experiments_have_sentences() {
    let profile = made_up::written();
    let all = statements(&profile);
    assert!(sentence(&all, "Random writes").contains("divided by a sequential one"));
    assert!(sentence(&all, "Focused area").contains("largest measured area"));
    assert!(sentence(&all, "Commit").contains("durable"));
    let mut none_allowed = profile.clone();
    none_allowed.derived.interference = Some(InterferenceLimit {
        read_rate_per_s: 1000.0,
        quantile: 0.99,
        write_rate_per_s: Interval::exact(0.0),
        write_share: Interval::exact(0.0),
    });
    let text = sentence(&statements(&none_allowed), "Writes beside reads");
    assert!(text.starts_with("No writes at any measured rate"), "{text}");
    let mut unsure = profile.clone();
    unsure.derived.write_pattern_cost = None;
    let all = statements(&unsure);
    assert!(sentence(&all, "Random writes").starts_with('?'));
    assert!(all.iter().all(|statement| statement.term != "Strides"), "one line says that nothing is known");
    let none = statements(&made_up::partial());
    assert!(none.iter().all(|statement| statement.term != "Random writes"));
}
