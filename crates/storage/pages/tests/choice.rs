//! What policies are predicted to take, and which is chosen.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "all of it is tests")]

use nandle_pages::{
    CreateOptions, ExpectedUse, OpenOptions, PageOptions, PageTimes, PolicyKind, PredictedPolicy, Promises,
    predict_policies, quickest,
};

/// Times of an old drive with one log block for each of a few erase blocks: a page anywhere makes it copy a block.
const HYBRID: PageTimes = PageTimes {
    request_ns: 250e3,
    sequential_ns: 40e3,
    focused_ns: 450e3,
    focused_area_bytes: 8 << 20,
    random_ns: 10_500e3,
    random_deep_ns: 10_500e3,
    read_deep_ns: 125e3,
    flush_ns: 100e3,
};

/// Times of a drive with a map of pages and many dies.
const PAGE_MAPPED: PageTimes = PageTimes {
    request_ns: 11e3,
    sequential_ns: 1e3,
    focused_ns: 12e3,
    focused_area_bytes: 256 << 20,
    random_ns: 12e3,
    random_deep_ns: 2e3,
    read_deep_ns: 2e3,
    flush_ns: 15e3,
};

fn create() -> CreateOptions {
    CreateOptions { pages_max: None, ..CreateOptions::new(PolicyKind::Direct, 4096, 48 << 10) }
}

fn predicted(times: &PageTimes, expected: &ExpectedUse) -> Vec<PredictedPolicy> {
    predict_policies(&create(), &OpenOptions::default(), times, expected)
}

fn page_ns(predicted: &[PredictedPolicy], policy: PolicyKind) -> f64 {
    predicted.iter().find(|predicted| predicted.policy == policy).unwrap().page_ns
}

#[test]
fn all_policies_are_there_and_the_quickest_is_first() {
    let predicted = predicted(&HYBRID, &ExpectedUse::commits_of(1.0));
    assert_eq!(predicted.len(), PolicyKind::ALL.len());
    assert!(predicted.is_sorted_by_key(|predicted| predicted.page_ns), "{predicted:?}");
    assert_eq!(predicted[0].policy, PolicyKind::OutOfPlace);
}

#[test]
fn more_promised_is_no_quicker() {
    let predicted = predicted(&PAGE_MAPPED, &ExpectedUse::commits_of(64.0));
    let any = quickest(&predicted, Promises::NONE).unwrap();
    let whole = quickest(&predicted, Promises::WHOLE_BATCHES).unwrap();
    assert!(whole.policy.promises().atomic_batch && any.page_ns <= whole.page_ns, "{any:?}, {whole:?}");
}

#[test]
fn a_fuller_store_moves_more_and_one_that_compresses_less() {
    let at = |fill_percent, compressible_percent| {
        let expected = ExpectedUse { fill_percent, compressible_percent, ..ExpectedUse::commits_of(8.0) };
        let predicted = predicted(&HYBRID, &expected);
        *predicted.iter().find(|predicted| predicted.policy == PolicyKind::OutOfPlace).unwrap()
    };
    assert!(at(50, 0).moved_by_page < at(90, 0).moved_by_page);
    assert!(at(50, 0).page_ns < at(90, 0).page_ns);
    assert!(at(90, 50).moved_by_page < at(90, 0).moved_by_page);
}

#[test]
fn larger_batches_spread_a_flush() {
    let of = |pages| predicted(&PAGE_MAPPED, &ExpectedUse::commits_of(pages));
    for policy in PolicyKind::ALL {
        assert!(page_ns(&of(32.0), policy) < page_ns(&of(1.0), policy), "{policy}");
    }
}

#[test]
fn in_a_small_area_a_page_anywhere_is_cheap() {
    let small = CreateOptions { pages: 1 << 10, ..create() };
    let of = |create: &CreateOptions| {
        predict_policies(create, &OpenOptions::default(), &HYBRID, &ExpectedUse::commits_of(1.0))
    };
    let [small, large] = [&small, &create()].map(|create| page_ns(&of(create), PolicyKind::Direct));
    assert!(small < large / 10.0, "{small}, {large}");
}

#[test]
fn what_a_store_cannot_have_is_left_out() {
    let tiny = create().with_buffer_bytes(4096);
    let predicted = predict_policies(&tiny, &OpenOptions::default(), &HYBRID, &ExpectedUse::commits_of(1.0));
    let policies: Vec<_> = predicted.iter().map(|predicted| predicted.policy).collect();
    assert_eq!(policies, [PolicyKind::OutOfPlace, PolicyKind::Direct]);
}

#[test]
fn a_store_is_made_with_the_quickest_policy_that_promises_enough() {
    let options = PageOptions::new(48 << 10);
    let policy = |times: &PageTimes, needed| {
        options.clone().with_quickest_policy(times, &ExpectedUse::commits_of(8.0), needed).policy
    };
    assert_eq!(policy(&HYBRID, Promises::ALL), PolicyKind::OutOfPlace);
    assert_eq!(policy(&PAGE_MAPPED, Promises::NONE), PolicyKind::Direct);
    assert!(policy(&PAGE_MAPPED, Promises::WHOLE_BATCHES).promises().atomic_batch);
}
