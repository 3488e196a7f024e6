use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::{CreateOptions, Experiments, PolicyKind};

fn order(decompositors: [bool; 4]) -> Box<dyn Order> {
    let create = CreateOptions {
        alignment_bytes: 4096,
        home_sums: false,
        ..CreateOptions::new(PolicyKind::StableBuffer, 4096, 1 << 30)
    };
    let label = Label::plan(&create, 4096, 296 * 4096).unwrap();
    let costs = WriteCosts { focused_area_bytes: 100 * 4096, ..WriteCosts::default() };
    // Pages start at page 2360 of the device.
    assert_eq!(label.home_offset / 4096, 2360);
    config(
        &label,
        &OpenOptions {
            costs,
            experiments: Experiments { decompositors, ..Experiments::default() },
            ..OpenOptions::default()
        },
    )
    .order
}

fn numbers(instance: Option<Instance>) -> (usize, Vec<u64>) {
    let instance = instance.unwrap();
    (instance.pattern.unwrap(), instance.pages.into_iter().map(|page| page.0).collect())
}

fn staged(order: &mut dyn Order, pages: impl IntoIterator<Item = u64>) {
    pages.into_iter().for_each(|page| order.added(PageNumber(page)));
}

#[test]
fn each_pattern_is_found_where_it_is_the_best() {
    let far = [900_000, 800_000, 700_001];
    let mut order = order([true; 4]);
    staged(&mut *order, far.into_iter().chain(5000..5010));
    assert_eq!(numbers(order.next(100)), (0, (5000..5010).collect()));

    let mut order = self::order([true; 4]);
    staged(
        &mut *order,
        far.into_iter().chain([10_000, 20_000, 30_000].into_iter().flat_map(|start| start..start + 3)),
    );
    let (pattern, pages) = numbers(order.next(100));
    assert_eq!((pattern, pages.len()), (1, 9));

    let mut order = self::order([true; 4]);
    staged(&mut *order, (0..9).map(|step| 10_000 + step * 1000).chain([3]));
    assert_eq!(numbers(order.next(100)), (2, (0..9).map(|step| 10_000 + step * 1000).collect()));

    let mut order = self::order([true; 4]);
    // Two buckets of 100 pages, from page 240 of the store on: 500 to 599 and 600 to 699 on the
    // device.
    staged(&mut *order, far.into_iter().chain([240, 243, 260, 299, 345, 350, 439, 440]));
    assert_eq!(numbers(order.next(100)), (3, vec![240, 243, 260, 299, 345, 350, 439]));
}

#[test]
fn decompositors_that_are_off_find_nothing() {
    let mut order = order([false, false, false, true]);
    staged(&mut *order, 5000..5010);
    assert_eq!(numbers(order.next(4)), (3, vec![5000, 5001, 5002, 5003]));
    let mut order = self::order([true, false, false, false]);
    staged(&mut *order, [8, 1, 4]);
    let unpatterned = order.next(2).unwrap();
    assert_eq!((unpatterned.pattern, unpatterned.pages), (None, vec![PageNumber(1), PageNumber(4)]));
}

/// Each staged page is handed out exactly once, whatever is added or removed.
#[test]
fn nothing_is_lost_and_nothing_is_handed_out_twice() {
    for seed in 0..20 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut order, mut known) = (order([true; 4]), std::collections::BTreeSet::new());
        for _ in 0..2000 {
            let page = PageNumber(random.random_range(0..600));
            match random.random_range(0..10) {
                0 => {
                    order.removed(page);
                    known.remove(&page);
                }
                1..6 => {
                    order.added(page);
                    known.insert(page);
                }
                _ => {
                    for page in order.next(3).map_or_else(Vec::new, |instance| instance.pages) {
                        assert!(known.remove(&page), "seed {seed}: {page}");
                    }
                }
            }
        }
        while let Some(instance) = order.next(50) {
            instance.pages.iter().for_each(|page| assert!(known.remove(page), "seed {seed}"));
        }
        assert!(known.is_empty(), "seed {seed}: {known:?}");
    }
}
