//! Refused openings, which must not change anything.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use common::{DEVICE, batch, create_options, label_places, model_world, open_options, read, run, world_on};
use nandle_io::{Arena, Operation};
use nandle_model::media::{Media, SharedMedia};
use nandle_pages::{BLOCK_BYTES, CreateOptions, OpenOptions, PageError, PolicyKind, Store};

/// Offsets of the label's fields; see `label/mod.rs`.
const VERSION: usize = 8;
const POLICY: usize = 12;
const CHECKSUM: usize = BLOCK_BYTES - 4;

/// Media of a closed store of this policy.
fn store_of(policy: PolicyKind) -> SharedMedia {
    let (world, media) = model_world("x25-e-64", |media| media);
    run(world, async |handle| {
        let store = Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
        store.commit(batch(&store, &[1, 2, 3], 5)).await.unwrap();
        store.close().await.unwrap();
    });
    media
}

/// Sets a field in all copies of the label, with matching checksums.
fn relabelled(media: &SharedMedia, field: usize, number: u32) -> Media {
    let mut label = vec![0; BLOCK_BYTES];
    media.borrow().read_into(0, &mut label).unwrap();
    label[field..field + 4].copy_from_slice(&number.to_le_bytes());
    let sum = crc32c::crc32c(&label[..CHECKSUM]);
    label[CHECKSUM..].copy_from_slice(&sum.to_le_bytes());
    let mut changed = media.borrow().fork();
    let arena = Arena::new(8 * BLOCK_BYTES).unwrap();
    for place in label_places() {
        let mut copy = arena.allocate(BLOCK_BYTES).unwrap();
        copy.copy_from_slice(&label);
        let mut write = Operation::write(place, copy.freeze());
        let id = changed.begin(&write).unwrap();
        changed.complete(id, &mut write).result.unwrap();
    }
    changed.fork()
}

/// Error of an opening, after checking that nothing was written.
fn refusal(media: Media, options: OpenOptions) -> PageError {
    let before = media.contents_hash();
    let (world, media) = world_on("x25-e-64", media);
    let refused = run(world, async |handle| Store::open(&handle, DEVICE, options).await.err());
    assert_eq!(media.borrow().contents_hash(), before, "a refused opening wrote");
    refused.unwrap()
}

#[test]
fn another_version_is_refused_with_both_numbers() {
    for policy in PolicyKind::ALL {
        let media = store_of(policy);
        for version in [0, 6, 900] {
            let refused = refusal(relabelled(&media, VERSION, version), open_options());
            assert_eq!(refused, PageError::Version { got: version, expected: 5 }, "{policy}");
        }
    }
}

#[test]
fn an_unknown_policy_is_refused_by_its_number() {
    let refused = refusal(relabelled(&store_of(PolicyKind::Direct), POLICY, 77), open_options());
    assert!(matches!(refused, PageError::Policy { .. }) && refused.to_string().contains("77"), "{refused}");
}

/// The store determines the policy, not the caller.
#[test]
fn an_opening_goes_by_the_policy_that_the_store_was_made_with() {
    for policy in PolicyKind::ALL {
        let (world, _) = world_on("x25-e-64", store_of(policy).borrow().fork());
        run(world, async |handle| {
            let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
            assert_eq!(store.policy(), policy);
            assert_eq!(read(&store, 2).await, Some(5), "{policy}");
        });
    }
}

/// Structures that don't match the label's policy are rejected.
#[test]
fn a_store_with_another_policys_label_is_not_opened_as_that() {
    let media = store_of(PolicyKind::OutOfPlace);
    for (policy, code) in
        [(PolicyKind::DoubleWrite, 2), (PolicyKind::StableBuffer, 3), (PolicyKind::StableRing, 4)]
    {
        let refused = refusal(relabelled(&media, POLICY, code), open_options());
        let is_named =
            |refused: &PageError| matches!(refused, PageError::Corrupt { .. } | PageError::NotAStore { .. });
        assert!(is_named(&refused), "{policy}: {refused}");
        let refused = refusal(relabelled(&store_of(policy), POLICY, 5), open_options());
        assert!(is_named(&refused), "{policy}: {refused}");
    }
}

/// A store created over another of the same kind ignores the remains of the older one.
#[test]
fn a_store_is_made_anew_in_the_same_place() {
    for policy in PolicyKind::ALL {
        let mut media = Media::new(4 << 20, 512);
        for round in 1..=4 {
            let (world, used) = world_on("x25-e-64", media);
            run(world, async |handle| {
                let create = create_options(policy);
                let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
                for step in 0..20 * round {
                    store
                        .commit(batch(&store, &[step % 7, 10 + step % 3], 100 * round + step))
                        .await
                        .unwrap();
                }
                if round % 2 == 0 { store.close().await.unwrap() } else { drop(store) }
            });
            let (world, used) = world_on("x25-e-64", used.borrow().fork());
            run(world, async |handle| {
                let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
                let last = (0..20 * round).rfind(|step| step % 7 == 2).map(|step| 100 * round + step);
                assert_eq!(read(&store, 2).await, last, "{policy}, store {round}");
                store.close().await.unwrap();
            });
            media = used.borrow().fork();
        }
    }
}

/// A caller's id must not be used twice in one place.
#[test]
fn an_id_that_the_place_has_seen_is_refused() {
    let (world, _) = world_on("x25-e-64", Media::new(4 << 20, 512));
    run(world, async |handle| {
        let create = CreateOptions { id: Some(7), ..create_options(PolicyKind::OutOfPlace) };
        let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
        store.close().await.unwrap();
        let again = Store::create(&handle, DEVICE, &create, open_options()).await.err();
        assert_eq!(again, Some(PageError::IdInUse { id: 7 }));
    });
}
