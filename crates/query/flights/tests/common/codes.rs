//! Random codes, and reference counts by a hash map.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int16Array, RecordBatch, StringArray};
use nandle_columns::Codes;
use nandle_flights::{CodeColumn, KeySpace, Shifted};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Count of each group: the numbers of its texts and its fact.
pub(crate) type Plain = HashMap<[i32; 6], u64>;

pub(crate) const MISSING: i32 = i32::MIN;

/// A space of text columns with these numbers of values, and a fact of `facts` values, the last one
/// null.
pub(crate) fn space(texts: &[usize], facts: usize) -> Arc<KeySpace> {
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for (number, size) in texts.iter().enumerate() {
        let values = StringArray::from_iter_values((0..*size).map(|value| format!("{number}/{value}")));
        columns.push((format!("text {number}"), Arc::new(values)));
    }
    let facts = (0..facts).map(|fact| (fact + 1 < facts).then(|| i16::try_from(fact).unwrap() - 5));
    columns.push(("fact".to_owned(), Arc::new(facts.collect::<Int16Array>())));
    Arc::new(KeySpace::new(columns).unwrap())
}

/// Codes of a batch, with its own dictionary for each column.
pub(crate) struct Batch {
    pub(crate) dictionaries: Vec<Vec<u32>>,
    pub(crate) shifted: Vec<Shifted>,
    pub(crate) codes: Vec<Vec<u32>>,
}

impl Batch {
    /// Random rows. Dictionaries are random subsets of all values.
    pub(crate) fn random(
        random: &mut Xoshiro256PlusPlus,
        space: &KeySpace,
        sizes: &[usize],
        rows: usize,
    ) -> Self {
        let (mut dictionaries, mut shifted, mut codes) = (Vec::new(), Vec::new(), Vec::new());
        for (column, size) in sizes.iter().enumerate() {
            let entries = random.random_range(1..=*size);
            let dictionary: Vec<u32> =
                (0..entries).map(|_| random.random_range(0..u32::try_from(*size).unwrap())).collect();
            shifted.push(space.shifted(column, &dictionary).unwrap());
            // The lesser of two draws makes some values far more frequent.
            let code = |random: &mut Xoshiro256PlusPlus| {
                let entries = u32::try_from(entries).unwrap();
                random.random_range(0..entries).min(random.random_range(0..entries))
            };
            codes.push((0..rows).map(|_| code(random)).collect());
            dictionaries.push(dictionary);
        }
        Self { dictionaries, shifted, codes }
    }

    pub(crate) fn columns(&self) -> Vec<CodeColumn<'_>> {
        self.shifted
            .iter()
            .zip(&self.codes)
            .map(|(shifted, codes)| CodeColumn { shifted, codes: Codes::Each(codes) })
            .collect()
    }

    pub(crate) fn rows(&self) -> usize {
        self.codes[0].len()
    }

    /// Numbers of a row's values.
    pub(crate) fn values(&self, row: usize) -> Vec<u32> {
        self.codes
            .iter()
            .zip(&self.dictionaries)
            .map(|(codes, entries)| entries[codes[row] as usize])
            .collect()
    }
}

/// Fact of a code in a space of `facts` values.
pub(crate) fn fact(code: u32, facts: usize) -> i32 {
    if code as usize + 1 == facts { MISSING } else { i32::try_from(code).unwrap() - 5 }
}

pub(crate) fn plainly(batches: &[Batch], facts: usize) -> Plain {
    let mut plain = Plain::new();
    for batch in batches {
        for row in 0..batch.rows() {
            let values = batch.values(row);
            let (last, texts) = values.split_last().unwrap();
            let mut group = [0; 6];
            group[..texts.len()]
                .iter_mut()
                .zip(texts)
                .for_each(|(place, text)| *place = i32::try_from(*text).unwrap());
            group[texts.len()] = fact(*last, facts);
            *plain.entry(group).or_default() += 1;
        }
    }
    plain
}

/// Adds a batch of results; no group may occur twice.
pub(crate) fn collect(results: &RecordBatch, into: &mut Plain) {
    let texts = results.num_columns() - 2;
    let names: Vec<_> =
        (0..texts).map(|column| results.column(column).as_dictionary::<UInt32Type>()).collect();
    // Parses names: `3/17` is text 17 of column 3.
    let numbers: Vec<Vec<i32>> = names
        .iter()
        .enumerate()
        .map(|(column, names)| {
            let names = names.values().as_string::<i32>().iter();
            names
                .map(|name| name.unwrap().strip_prefix(&format!("{column}/")).unwrap().parse().unwrap())
                .collect()
        })
        .collect();
    let facts = results.column(texts).as_primitive::<Int16Type>();
    let counts = results.column(texts + 1).as_primitive::<UInt64Type>();
    for row in 0..results.num_rows() {
        let mut group = [0; 6];
        for column in 0..texts {
            group[column] = numbers[column][names[column].key(row).unwrap()];
        }
        group[texts] = if facts.is_valid(row) { facts.value(row).into() } else { MISSING };
        assert!(into.insert(group, counts.value(row)).is_none(), "a group came twice");
    }
}

pub(crate) fn batches(seed: u64, space: &KeySpace, sizes: &[usize], rows: &[usize]) -> Vec<Batch> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    rows.iter().map(|rows| Batch::random(&mut random, space, sizes, *rows)).collect()
}
