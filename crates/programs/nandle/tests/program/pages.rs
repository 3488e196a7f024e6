use std::fs;
use std::os::unix::fs::FileExt;

use nandle_pages::{PageOptions, PageStore, PolicyKind};

use crate::common::Place;

/// Closed store of 2000 pages, the first 1500 written and destaged.
fn store(place: &Place, policy: PolicyKind) {
    let mut options = PageOptions::new(2000);
    options.policy = policy;
    let mut store = PageStore::create(place.path("pages.db"), options).unwrap();
    for page in 0..1500_u64 {
        store.put(page, &page_of(page)).unwrap();
        if page % 250 == 249 {
            store.commit().unwrap();
        }
    }
    store.checkpoint().unwrap();
    store.close().unwrap();
}

/// Incompressible contents.
fn page_of(page: u64) -> Vec<u8> {
    let mut word = page + 1;
    let noise = std::iter::repeat_with(|| {
        word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (word >> 56) as u8
    });
    noise.take(4096).collect()
}

/// Damages every copy of a page in the store.
fn damage(place: &Place, pages: &[u64]) {
    let path = place.path("pages.db");
    let image = fs::read(&path).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    let wanted: Vec<Vec<u8>> = pages.iter().map(|page| page_of(*page)).collect();
    for (at, block) in (0_u64..).step_by(4096).zip(image.chunks(4096)) {
        if wanted.iter().any(|page| page == block) {
            file.write_all_at(b"damage", at + 100).unwrap();
        }
    }
}

#[test]
fn a_sound_store_is_called_sound() {
    for policy in PolicyKind::ALL {
        let place = Place::new();
        store(&place, policy);
        let outcome = place.nandle("pages verify pages.db").done().fits_80_columns();
        assert!(outcome.stdout.starts_with("pages.db is sound.\n"), "{}", outcome.stdout);
        assert!(outcome.stdout.contains(&format!("{policy}, 2 000 pages of 4KiB")), "{}", outcome.stdout);
        let json = place.nandle("pages verify pages.db --json").done().json();
        assert_eq!((&json["verdict"], &json["findings"]), (&"sound".into(), &serde_json::json!([])));
        assert_eq!((json["pages"].as_u64(), json["policy"].as_str()), (Some(2000), Some(policy.name())));
        let counted = json["sound_pages"].as_u64().unwrap() + json["unchecked_pages"].as_u64().unwrap();
        assert_eq!(counted, 1500, "{policy}");
    }
}

#[test]
fn a_thousand_bad_pages_fit_on_a_screen() {
    let place = Place::new();
    store(&place, PolicyKind::StableRing);
    let pages: Vec<u64> = (0..1000).chain([1200, 1300]).collect();
    damage(&place, &pages);
    let outcome = place.nandle("pages verify pages.db");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let text = outcome.fits_80_columns().stdout;
    assert!(text.starts_with("pages.db is damaged: 1 002 pages lost.\n"), "{text}");
    assert!(text.lines().count() < 24 && text.contains("pages 0-999, 1200, 1300"), "{text}");
    assert!(text.contains("nandle pages salvage pages.db -o NEW"), "{text}");
    let all = place.nandle("pages verify pages.db --all").stdout;
    assert!(all.lines().filter(|line| line.starts_with("loss: ")).count() == 1002, "{all}");
    let json = place.nandle("pages verify pages.db --json").json();
    assert_eq!(json["lost_pages"], 1002);
    assert_eq!(json["lost"][0], serde_json::json!({ "first_page": 0, "last_page": 999 }));
    let finding = &json["findings"][0];
    assert_eq!((&finding["severity"], &finding["length_bytes"]), (&"loss".into(), &4096.into()));
}

#[test]
fn a_salvage_saves_all_that_is_sound() {
    let place = Place::new();
    store(&place, PolicyKind::DoubleWrite);
    damage(&place, &[5, 6, 700]);
    let before = fs::read(place.path("pages.db")).unwrap();
    let outcome = place.nandle("pages salvage pages.db -o saved.db");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let text = outcome.fits_80_columns().stdout;
    assert!(text.starts_with("pages.db is damaged: 3 pages lost.\n"), "{text}");
    assert!(text.contains("saved.db holds 1 497 pages.") && text.contains("Lost: pages 5-6, 700"), "{text}");
    assert!(fs::read(place.path("pages.db")).unwrap() == before);
    let saved = PageStore::open(place.path("saved.db")).unwrap();
    for page in 0..1500 {
        let expected = if [5, 6, 700].contains(&page) { vec![0; 4096] } else { page_of(page) };
        assert!(saved.read(page).unwrap() == expected, "page {page}");
    }
    saved.close().unwrap();
    place.nandle("pages verify saved.db").done();
}

#[test]
fn what_can_not_be_done_ends_with_2_and_leaves_nothing() {
    let place = Place::new();
    place.nandle("pages verify pages.db").refused(2, &["pages.db", "No such file"]);
    fs::write(place.path("pages.db"), vec![7; 100_000]).unwrap();
    place.nandle("pages verify pages.db").refused(2, &["pages.db", "no label of a page store"]);
    place.nandle("pages salvage pages.db -o saved.db").refused(2, &["no label"]);
    assert!(!place.path("saved.db").exists());
    fs::remove_file(place.path("pages.db")).unwrap();
    store(&place, PolicyKind::StableRing);
    fs::write(place.path("saved.db"), b"mine").unwrap();
    place.nandle("pages salvage pages.db -o saved.db").refused(2, &["saved.db", "something else"]);
    assert_eq!(fs::read(place.path("saved.db")).unwrap(), b"mine");
    place.nandle("pages verify pages.db --pages 7").refused(2, &["--policy"]);
    let open = PageStore::open(place.path("pages.db")).unwrap();
    place.nandle("pages verify pages.db").refused(2, &["pages.db", "open already"]);
    open.close().unwrap();
}

#[test]
fn a_store_without_a_label_is_found_by_how_it_was_made() {
    let place = Place::new();
    store(&place, PolicyKind::StableRing);
    let file = fs::File::options().write(true).open(place.path("pages.db")).unwrap();
    for slot in 0..8 {
        file.write_all_at(&[0; 4096], slot * (64 << 10)).unwrap();
    }
    place.nandle("pages verify pages.db").refused(2, &["all copies of the label are lost", "policy"]);
    let made = "--policy stable-ring --page-size 4KiB --pages 2000";
    let outcome = place.nandle(&format!("pages salvage pages.db -o saved.db {made}"));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stdout.contains("no page is lost"), "{}", outcome.stdout);
    let saved = PageStore::open(place.path("saved.db")).unwrap();
    assert!((0..1500).all(|page| saved.read(page).unwrap() == page_of(page)));
}
