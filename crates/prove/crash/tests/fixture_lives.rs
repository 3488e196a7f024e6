//! Stores converted from earlier formats survive many power cuts.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use nandle_crash::{Fixture, live_from_fixture};

/// Lives of each fixture.
const LIVES: u64 = 1;

#[test]
fn stores_of_earlier_formats_live_on() {
    let (mut images, mut lives) = (0, 0);
    for (number, fixture) in (0..).zip(Fixture::all().unwrap()) {
        for seed in (0..LIVES).map(|life| 1 + life + LIVES * number) {
            let outcome = live_from_fixture(&fixture, seed).unwrap();
            assert_eq!(outcome.violation, None, "{}, seed {seed}", fixture.name);
            images += outcome.images;
            lives += outcome.lives;
        }
    }
    println!("{lives} lives, {images} images");
    assert!(images > 1000, "{images}");
}
