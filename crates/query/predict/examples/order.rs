#![allow(clippy::all, clippy::pedantic, clippy::restriction, missing_docs)]
use std::collections::VecDeque;
use nandle_io::{Arena, Nanos, Operation, Request, Wait};
use nandle_session::{Access, Cancel, Session, Unobserved};
use nandle_target::Intent;
use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_xoshiro::Xoshiro256PlusPlus;
fn bare(session: &Session, offsets: &[u64], length: usize, depth: usize, pool: usize) -> f64 {
    let (mut io, device) = session.open_io(64).unwrap();
    let arena = Arena::new(pool.max(1 << 20)).unwrap();
    let mut all = arena.allocate(pool).unwrap();
    all.fill(0);
    let mut spare: VecDeque<_> = (0..pool / length).map(|_| all.split_to(length)).collect();
    let mut offsets = offsets.iter();
    let mut completions = Vec::new();
    let mut left = offsets.len();
    let began = io.now();
    while left > 0 {
        while io.in_flight() < depth && let Some(o) = offsets.next() {
            let buffer = spare.pop_front().unwrap();
            io.submit(device.id, Request { token: 0, operation: Operation::read(*o, buffer) }).unwrap();
        }
        io.reap(Wait::until_completed(1), &mut completions);
        for c in completions.drain(..) { c.result.unwrap(); left -= 1; spare.extend(c.operation.into_read_buffer()); }
    }
    let Nanos(n) = io.now().since(began);
    n as f64 / 1e9
}
fn main() {
    let target = std::env::args().nth(1).unwrap();
    let file_bytes: u64 = 1 << 30;
    let access = Access { test_file_bytes: file_bytes, ..Access::default() };
    let session = access.open(&target.parse().unwrap(), Intent::Read, &Cancel::default()).unwrap();
    session.prepare_apart(None, &mut Unobserved).unwrap();
    for length in [8192usize, 16384] {
    for share in [100u64, 1000, 3000] {
        let mut rows = vec![vec![]; 5];
        let mut n = 0;
        for round in 0..7u64 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(round);
            let ascending: Vec<u64> = (0..file_bytes / length as u64).filter(|_| random.random_range(0..10_000) < share).map(|p| p * length as u64).collect();
            n = ascending.len();
            let mut shuffled = ascending.clone();
            shuffled.shuffle(&mut random);
            // four interleaved streams
            let q = ascending.len() / 32 + 1;
            let mut strided = Vec::new();
            for i in 0..q { for s in 0..32 { if let Some(o) = ascending.get(s * q + i) { strided.push(*o); } } }
            let descending: Vec<u64> = ascending.iter().rev().copied().collect();
            for (k, (list, pool)) in [(&shuffled, 64 << 20), (&ascending, 64 << 20), (&strided, 64 << 20), (&descending, 64 << 20), (&ascending, 64 * length)].into_iter().enumerate() {
                rows[k].push(bare(&session, list, length, 32, pool));
            }
        }
        print!("{length} {share} {n}:");
        for (name, mut r) in ["shuffled", "ascending", "strided", "descending", "asc-small"].iter().zip(rows) { r.sort_by(f64::total_cmp); print!(" {name} {:.2}us", r[3] / n as f64 * 1e6); }
        println!();
    } }
}
