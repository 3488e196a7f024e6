//! Predictions and choices of policies.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "all of it is tests")]

use nandle_io::Nanos;
use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::Runtime;
use nandle_pages::{
    CreateOptions, ExpectedUse, OpenOptions, PageOptions, PageTimes, PolicyKind, PredictedPolicy, Promises,
    Store, predict_policies, quickest,
};

/// Times of an old drive with a log block for each of a few erase blocks: a random page write makes
/// it copy a block.
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

/// Times of a page-mapped drive with many dies.
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

/// Destaging keeps the device busy, but no client waits for it.
#[test]
fn destaging_goes_on_beside_commits() {
    let slow_flush = PageTimes { flush_ns: 1e6, ..PAGE_MAPPED };
    let predicted = predicted(&slow_flush, &ExpectedUse::commits_of(8.0));
    let append_ns = (slow_flush.request_ns + 9.0 * slow_flush.sequential_ns + slow_flush.flush_ns) / 8.0;
    let ns = page_ns(&predicted, PolicyKind::StableRing);
    assert!((1.0..1.1).contains(&(ns / append_ns)), "{ns}, and a commit alone takes {append_ns}");
}

#[test]
fn policies_that_the_prediction_cannot_tell_apart_are_within_its_error() {
    let predicted = predicted(&HYBRID, &ExpectedUse::commits_of(8.0));
    let [best, .., worst] = predicted.as_slice() else { panic!("{predicted:?}") };
    assert!(best.is_within_error_of(best) && !best.is_within_error_of(worst));
    let little_more = PredictedPolicy { page_ns: best.page_ns * 1.2, ..*worst };
    assert!(best.is_within_error_of(&little_more) && little_more.is_within_error_of(best));
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

/// However well a page compresses, its commit needs a flush, a request, a header and a block.
#[test]
fn a_commit_of_one_page_that_compresses_writes_a_header_and_a_block() {
    for times in [HYBRID, PAGE_MAPPED] {
        let least_ns = times.flush_ns + times.request_ns + 2.0 * times.sequential_ns;
        for compressible_percent in [0, 50, 90, 100] {
            let expected =
                ExpectedUse { fill_percent: 20, compressible_percent, ..ExpectedUse::commits_of(1.0) };
            let ns = page_ns(&predicted(&times, &expected), PolicyKind::OutOfPlace);
            assert!(ns >= least_ns, "{compressible_percent} %: {ns}, and a commit takes {least_ns}");
        }
    }
}

/// Sixteen pages that compress to half take eight blocks with one header and one request. A zone
/// with twice as many pages also saves a ledger occasionally.
#[test]
fn pages_that_compress_take_their_share_of_an_extent() {
    let at = |compressible_percent| {
        let expected = ExpectedUse { fill_percent: 0, compressible_percent, ..ExpectedUse::commits_of(16.0) };
        page_ns(&predicted(&HYBRID, &expected), PolicyKind::OutOfPlace)
    };
    let saved_ns = at(0) - at(50);
    assert!((saved_ns - HYBRID.sequential_ns / 2.0).abs() < 1e3, "{saved_ns}");
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
        options.clone().with_quickest_policy(times, &ExpectedUse::commits_of(8.0), needed).unwrap().policy
    };
    assert_eq!(policy(&HYBRID, Promises::ALL), PolicyKind::OutOfPlace);
    assert_eq!(policy(&PAGE_MAPPED, Promises::NONE), PolicyKind::Direct);
    assert!(policy(&PAGE_MAPPED, Promises::WHOLE_BATCHES).promises().atomic_batch);
}

/// Only policies with a staging area depend on its length, and `direct` promises nothing.
#[test]
fn no_store_is_made_that_promises_less_than_is_needed() {
    let options = PageOptions::new(48 << 10).with_policy(PolicyKind::Direct).with_buffer_bytes(4096);
    let expected = ExpectedUse::commits_of(8.0);
    let checked = options.clone().with_quickest_policy(&PAGE_MAPPED, &expected, Promises::ALL).unwrap();
    assert_eq!(checked.policy, PolicyKind::OutOfPlace);
    let create = CreateOptions { home_sums: false, ..create() };
    let predicted = predict_policies(&create, &OpenOptions::default(), &PAGE_MAPPED, &expected);
    let in_place: Vec<_> =
        predicted.into_iter().filter(|predicted| predicted.policy != PolicyKind::OutOfPlace).collect();
    assert_eq!(
        quickest(&in_place, Promises::ALL),
        None,
        "without checksums no page is checked: {in_place:?}"
    );
    assert!(quickest(&in_place, Promises::WHOLE_BATCHES).unwrap().promises.atomic_batch);
    let impossible = PageOptions::new(48 << 10).with_page_bytes(100);
    assert!(impossible.with_quickest_policy(&PAGE_MAPPED, &expected, Promises::NONE).is_none());
}

/// Promises predicted from options are those of the store.
#[test]
fn options_promise_what_their_store_does() {
    for policy in PolicyKind::ALL {
        for home_sums in [true, false] {
            let create = CreateOptions { home_sums, ..CreateOptions::new(policy, 4096, 1000) };
            let mut world = MemoryWorld::new(32, Nanos::from_micros(50));
            let device = world.add(create.device_bytes().unwrap().next_multiple_of(4096), 4096);
            let runtime = Runtime::new(Box::new(world));
            let handle = runtime.handle();
            let made = Store::create(&handle, device.id, &create, OpenOptions::default());
            assert_eq!(
                runtime.block_on(made).unwrap().promises(),
                create.promises(),
                "{policy}, {home_sums}"
            );
        }
    }
}
