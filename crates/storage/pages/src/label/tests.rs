use super::*;

fn label() -> Label {
    let options = CreateOptions::new(PolicyKind::StableRing, 8192, 100);
    Label::plan(&options, 8192, 1 << 20).unwrap()
}

#[test]
fn what_was_written_is_read() {
    let mut block = vec![7; BLOCK_BYTES];
    label().encode(&mut block);
    assert_eq!(Label::decode(&block), Ok(label()));
}

#[test]
fn version_1_has_two_copies_of_the_ledger() {
    let earlier = Label { version: 1, ledger_copies: 2, slot_bytes: 0, sums_chunks: 16, ..label() };
    let mut block = vec![0; BLOCK_BYTES];
    earlier.encode(&mut block);
    assert_eq!((block[8], Label::decode(&block)), (1, Ok(earlier)));
}

#[test]
fn every_flipped_byte_is_noticed() {
    let mut block = vec![0; BLOCK_BYTES];
    label().encode(&mut block);
    for at in (0..128).chain([2000, BLOCK_BYTES - 1]) {
        block[at] ^= 0x10;
        assert!(Label::decode(&block).is_err(), "byte {at}");
        block[at] ^= 0x10;
    }
}

#[test]
fn another_version_is_named() {
    let mut block = vec![0; BLOCK_BYTES];
    label().encode(&mut block);
    block[8] = 9;
    seal(&mut block);
    assert_eq!(Label::decode(&block), Err(PageError::Version { got: 9, expected: 5 }));
}

#[test]
fn room_for_checksums_bounds_the_growth_and_older_programs_dont_read_it() {
    let options =
        CreateOptions { pages_max: Some(5000), ..CreateOptions::new(PolicyKind::StableRing, 4096, 100) };
    let roomy = Label::plan(&options, 8192, 1 << 20).unwrap();
    assert_eq!((label().version, roomy.version), (5, 5));
    assert_eq!(roomy.grown(5000, None).unwrap().end_bytes() - roomy.end_bytes(), 4900 * 4096);
    assert!(matches!(roomy.grown(6000, None), Err(PageError::CannotGrow { to: 6000, .. })));
    assert!(roomy.grown(99, None).is_err());
    let unchecked = CreateOptions { home_sums: false, ..options };
    assert!(Label::plan(&unchecked, 8192, 1 << 20).unwrap().grown(1 << 30, None).is_ok());
}

#[test]
fn parts_dont_overlap_and_are_aligned() {
    let label = label();
    assert!(label.copies_end() <= label.sums_offset);
    assert!(label.area_offset + label.area_bytes <= label.home_offset);
    assert_eq!((label.area_offset % (1 << 20), label.home_offset % (1 << 20)), (0, 0));
}
