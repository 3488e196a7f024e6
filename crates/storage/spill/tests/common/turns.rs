//! A sort by several sorters in one world.

use nandle_io::runtime::Handle;
use nandle_spill::{
    ParallelSort, Place, Row, SortOptions, SortOutput, SortReport, Sorted, SortedPart, Sorter, SpillError,
};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::OwnedRow;

/// Pushes rows to the sorters in turn, each as many as it has room for, as threads would.
pub(crate) async fn sort_in_turns(
    handle: &Handle,
    place: Place,
    options: &SortOptions,
    rows: &[OwnedRow],
    threads: usize,
    random: &mut Xoshiro256PlusPlus,
) -> Result<(Vec<OwnedRow>, SortReport), SpillError> {
    let sort = ParallelSort::new(place, options.clone(), threads)?;
    let sorters: Result<Vec<Sorter>, _> = (0..threads).map(|_| sort.sorter(handle)).collect();
    let mut sorters = sorters?;
    let mut rows = rows.iter().peekable();
    while rows.peek().is_some() {
        let sorter = &mut sorters[random.random_range(0..threads)];
        // Sometimes a sorter writes before its memory is full.
        let mut left = if random.random_bool(0.1) { random.random_range(1..50) } else { usize::MAX };
        while left > 0
            && let Some((key, payload)) = rows.peek()
            && sorter.try_push(Row { key, payload })?
        {
            rows.next();
            left -= 1;
        }
        sorter.sort();
        if rows.peek().is_some() {
            sorter.make_room().await?;
        }
    }
    while !sorters.is_empty() {
        sorters.swap_remove(random.random_range(0..sorters.len())).end().await?;
    }
    match sort.finish_in_parts(handle, random.random_range(1..5)).await? {
        SortOutput::Whole(mut sorted) => Ok((all_of(&mut sorted).await?, sorted.report())),
        SortOutput::Parts(parts, report) => Ok((all_parts(handle, parts).await?, report)),
    }
}

/// Merges all parts at the same time, row by row in turn.
async fn all_parts(handle: &Handle, parts: Vec<SortedPart>) -> Result<Vec<OwnedRow>, SpillError> {
    let expected: Vec<_> =
        parts.iter().map(|part| (part.rows(), part.key_bytes(), part.payload_bytes())).collect();
    let opened: Result<Vec<Sorted>, _> = parts.into_iter().map(|part| part.open(handle)).collect();
    let (mut opened, mut rows) = (opened?, vec![Vec::new(); expected.len()]);
    let mut is_at_end = false;
    while !is_at_end {
        is_at_end = true;
        for (part, rows) in opened.iter_mut().zip(&mut rows) {
            if let Some(Row { key, payload }) = part.next().await? {
                rows.push((key.to_vec(), payload.to_vec()));
                is_at_end = false;
            }
        }
    }
    let combines = rows.iter().zip(&expected).any(|(rows, expected)| (rows.len() as u64) < expected.0);
    for (rows, expected) in rows.iter().zip(&expected).filter(|_| !combines) {
        let bytes = |of: fn(&OwnedRow) -> usize| rows.iter().map(|row| of(row) as u64).sum::<u64>();
        let got = (rows.len() as u64, bytes(|row| row.0.len()), bytes(|row| row.1.len()));
        assert_eq!(got, *expected, "rows and bytes of a part");
    }
    Ok(rows.concat())
}

pub(crate) async fn all_of(sorted: &mut Sorted) -> Result<Vec<OwnedRow>, SpillError> {
    let mut got = Vec::new();
    while let Some(row) = sorted.next().await? {
        got.push((row.key.to_vec(), row.payload.to_vec()));
    }
    Ok(got)
}
