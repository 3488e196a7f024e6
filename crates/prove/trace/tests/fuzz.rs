//! Damaged traces of every format: a reader may refuse them, but must not panic or hang.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]
#![allow(clippy::cast_possible_truncation, reason = "random bits, of which any will do")]

use std::fs;
use std::path::PathBuf;

use nandle_trace::{Columns, Format, ReadOptions, Reader, Statistics, ZoneTranslator};

/// Default number of cases; `NANDLE_CASES` overrides it.
const CASES: u64 = 1500;
/// Maximum pages of a case: one line can name millions.
const PAGES_MAX: u64 = 1 << 12;

/// `SplitMix64` generator (Steele et al. 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn inputs() -> Vec<Vec<u8>> {
    let folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("tests/fixtures");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut inputs: Vec<Vec<u8>> = paths.into_iter().map(|path| fs::read(path).unwrap()).collect();
    inputs.push(b"fio version 3 iolog\n1 /a add\n2 /a write 0 4096\n3 /a sync 0 0\n4 /a close\n".to_vec());
    inputs.push(b"W Hit 11392096 12 1686.0 40961.0\nR Miss 7563004 4 14368.0 28778.0\n".to_vec());
    inputs
}

/// Replaces, removes or inserts bytes; duplicates, swaps or truncates lines; or makes numbers very
/// large.
fn damage(text: &mut Vec<u8>, random: &mut Random) {
    const WORDS: [&[u8]; 12] = [
        b"18446744073709551615",
        b"9223372036854775807",
        b"-1",
        b"0",
        b"NaN",
        b"1e308",
        b",",
        b" ",
        b"\n",
        b"\xff\xfe",
        b"FWFS",
        b"ZRA",
    ];
    for _ in 0..=random.below(6) {
        let (place, other) = (random.below(text.len()), random.below(text.len()));
        match random.below(5) {
            0 if !text.is_empty() => text[place] = random.next() as u8,
            1 => text.truncate(place),
            2 => {
                let word = WORDS[random.below(WORDS.len())];
                text.splice(place..place, word.iter().copied());
            }
            3 => {
                let (low, high) = (place.min(other), place.max(other));
                let part = text[low..high].to_vec();
                text.extend(part);
            }
            _ => {
                let (low, high) = (place.min(other), place.max(other).min(place.min(other) + 12));
                text.drain(low..high);
            }
        }
    }
}

fn options(random: &mut Random) -> ReadOptions {
    let columns: Columns = "time=1:us,op=2,offset=3:sectors,bytes=4,device=5".parse().unwrap();
    let format = match random.below(4) {
        0 => Some(Format::ALL[random.below(Format::ALL.len())]),
        1 => Some(Format::Columns(columns)),
        _ => None,
    };
    let device = (random.below(4) == 0).then(|| "8,0".to_owned());
    ReadOptions { format, device, skip_bad: random.below(2) == 0 }
}

#[test]
fn damaged_traces_never_panic() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    let inputs = inputs();
    let first = number("NANDLE_FIRST_SEED", 1);
    let mut read = 0_u64;
    for seed in first..first + number("NANDLE_CASES", CASES) {
        let mut random = Random(seed);
        let mut text = inputs[random.below(inputs.len())].clone();
        damage(&mut text, &mut random);
        fs::write(&path, &text).unwrap();
        let options = options(&mut random);
        let Ok(mut reader) = Reader::open(&path, &options) else { continue };
        let mut statistics = Statistics::new(4096).with_pages_max(PAGES_MAX);
        let mut zones = ZoneTranslator::default();
        let mut events = 0_usize;
        for record in reader.by_ref() {
            let Ok(record) = record else { break };
            events += 1;
            assert!(events <= 3 * text.len(), "seed {seed}: {events} events of {} bytes", text.len());
            zones.conventional(record);
            if statistics.add(record).is_err() {
                break;
            }
        }
        read += u64::from(events > 0);
        let found = statistics.finish();
        assert!(found.writes + found.reads <= events as u64, "seed {seed}: {found:?}");
    }
    println!("seeds from {first}: {read} traces had events");
}
