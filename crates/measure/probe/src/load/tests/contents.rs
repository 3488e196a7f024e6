use nandle_io::Arena;

use super::*;

#[test]
fn every_part_of_a_file_is_what_the_whole_would_be() {
    let contents = Contents::new(4);
    let mut whole = vec![0; 1 << 16];
    contents.fill(0, &mut whole);
    for (offset, length) in [(0, 512), (512, 4096), (40_000, 24), (65_528, 8)] {
        let mut part = vec![0; length];
        contents.fill(offset as u64, &mut part);
        assert_eq!(part, whole[offset..offset + length]);
    }
    let mut other = vec![0; 1 << 16];
    Contents::new(5).fill(0, &mut other);
    assert!(whole.chunks(8).zip(other.chunks(8)).all(|(a, b)| a != b));
}

#[test]
fn reads_of_any_place_and_length_are_recognised() {
    let contents = Contents::new(4);
    let mut whole = vec![0; 1 << 16];
    contents.fill(0, &mut whole);
    let arena = Arena::new(1 << 16).unwrap();
    for (offset, length) in [(0, 4096), (4096, 512), (100, 100), (1001, 13), (77, 8), (3, 5), (8, 1)] {
        let mut read = arena.allocate(length).unwrap();
        read.copy_from_slice(&whole[offset..offset + length]);
        assert!(contents.matches_ends(offset as u64, &read), "{length} bytes at {offset}");
        for damaged in [0, length - 1] {
            read[damaged] ^= 1;
            assert!(!contents.matches_ends(offset as u64, &read), "{length} bytes at {offset}");
            read[damaged] ^= 1;
        }
        assert!(length < 8 || !contents.matches_ends(offset as u64 + 512, &read), "{length} at {offset}");
    }
}

#[test]
fn contents_do_not_compress() {
    // Each byte value is about equally frequent, and no eight bytes repeat.
    let mut bytes = vec![0; 1 << 20];
    Contents::new(4).fill(0, &mut bytes);
    let mut counts = [0_u32; 256];
    for byte in &bytes {
        counts[usize::from(*byte)] += 1;
    }
    assert!(counts.iter().all(|count| (3700..4500).contains(count)), "{counts:?}");
    let words: std::collections::BTreeSet<_> = bytes.chunks(8).collect();
    assert_eq!(words.len(), bytes.len() / 8);
}
