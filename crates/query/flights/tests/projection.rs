//! Cubes of projections sorted by the cubes' columns.

#![allow(clippy::unwrap_used, reason = "these are tests")]

#[path = "common/cubes.rs"]
mod cubes;

use nandle_columns::{ScanSpec, Table};
use nandle_flights::{Column, CountError, CountMethod, CubeError, CubeQuery};

use self::cubes::{plainly, sorted, table};

const MEMORY_BYTES: u64 = 4 << 20;

fn names(query: CubeQuery) -> Vec<&'static str> {
    query.columns().into_iter().map(Column::name).collect()
}

#[test]
fn all_cubes_of_their_projections_are_those_of_the_rows() {
    let directory = tempfile::tempdir().unwrap();
    let generator = table(directory.path(), 20_000, 9_000);
    let table = Table::open(directory.path()).unwrap();
    for query in CubeQuery::all() {
        table.project(&names(query), MEMORY_BYTES).unwrap();
        let snapshot = table.snapshot().unwrap();
        let covering = snapshot.covering(&ScanSpec::of(names(query)));
        let projection = covering.iter().find(|projection| projection.columns == names(query)).unwrap();
        let projection = snapshot.projection(projection).unwrap();
        let (groups, run) = sorted(directory.path(), &projection, query).unwrap();
        assert!(groups == plainly(&generator, query), "{query}");
        assert_eq!((run.count.rows, run.count.groups), (20_000, groups.len() as u64));
        assert_eq!(run.count.method, CountMethod::Sorted);
        assert!(run.recorded().wants.len() > 1);
    }
}

#[test]
fn rows_that_are_not_sorted_are_an_error() {
    let directory = tempfile::tempdir().unwrap();
    drop(table(directory.path(), 20_000, 9_000));
    let snapshot = Table::open(directory.path()).unwrap().snapshot().unwrap();
    let query: CubeQuery = "delay-airline".parse().unwrap();
    let error = sorted(directory.path(), &snapshot, query).map(|_| ()).unwrap_err();
    assert!(matches!(error, CubeError::Count(CountError::NotSorted { .. })), "{error}");
}
