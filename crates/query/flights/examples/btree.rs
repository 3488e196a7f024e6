//! Share of leaves in covering indexes that don't follow the previous one: `cargo run --release -p
//! nandle-flights --example btree -- [ROWS [DIRECTORY]]`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it is a program")]

use std::path::PathBuf;
use std::time::Instant;

use nandle_flights::{Btree, BtreeOptions, CubeQuery, Generator, IndexKind};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rows = arguments.next().map_or(1_000_000, |text| text.parse().unwrap());
    let directory = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let names = ["diverted-airline", "diverted-month", "delay-airline", "delay-airline-dest-month-origin"];
    let queries: Vec<CubeQuery> = names.iter().map(|name| name.parse().unwrap()).collect();
    let generator = Generator::new(rows, 1).unwrap();
    for page_bytes in [8 << 10, 32 << 10] {
        for index in [IndexKind::Built, IndexKind::Grown] {
            let path = directory.join(format!("flights-{page_bytes}-{index:?}.sqlite"));
            let began = Instant::now();
            let options = BtreeOptions { page_bytes, index, pool_bytes: 256 << 20 };
            let mut btree = Btree::create(&path, &queries, options).unwrap();
            for chunk in 0..generator.chunks() {
                btree.add(&generator.chunk(chunk).unwrap()).unwrap();
            }
            btree.finish().unwrap();
            println!("{page_bytes} bytes a page, {index:?}: {:.1} s", began.elapsed().as_secs_f64());
            for query in &queries {
                let leaves = btree.leaves(*query).unwrap();
                let share = leaves.share_of_jumps().unwrap_or_default();
                let (name, count) = (query.to_string(), leaves.count());
                println!(
                    "  {name:32} {count:>7} leaves, {:6.2} % don't follow their predecessor",
                    100.0 * share
                );
            }
            drop(btree);
            std::fs::remove_file(&path).unwrap();
        }
    }
}
