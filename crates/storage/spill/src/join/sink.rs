use std::future::Future;

use super::JoinKind;
use crate::SpillError;
use crate::rows::Row;

/// Takes the rows that a join gives. It may wait: the join waits for it then, and holds no result back in memory.
///
/// A closure that waits for nothing and can't fail is one.
pub trait JoinSink {
    /// Why a join ends: its own failure, or the sink's.
    type Error: From<SpillError>;

    /// A row of the result, in no particular order. `build` is there where the kind of the join gives [pairs](JoinKind::Inner)
    /// and the probe row matched.
    fn row(
        &mut self,
        build: Option<Row<'_>>,
        probe: Row<'_>,
    ) -> impl Future<Output = Result<(), Self::Error>>;
}

impl<F: FnMut(Option<Row<'_>>, Row<'_>)> JoinSink for F {
    type Error = SpillError;

    async fn row(&mut self, build: Option<Row<'_>>, probe: Row<'_>) -> Result<(), SpillError> {
        self(build, probe);
        Ok(())
    }
}

/// A sink, what it is to get, and how much it got.
pub(super) struct Output<'a, S> {
    pub(super) kind: JoinKind,
    sink: &'a mut S,
    pub(super) rows: u64,
}

impl<'a, S: JoinSink> Output<'a, S> {
    pub(super) fn new(kind: JoinKind, sink: &'a mut S) -> Self {
        Self { kind, sink, rows: 0 }
    }

    pub(super) async fn pair(&mut self, build: Row<'_>, probe: Row<'_>) -> Result<(), S::Error> {
        debug_assert!(self.kind.wants_pairs(), "a pair is wanted");
        self.rows += 1;
        self.sink.row(Some(build), probe).await
    }

    /// A probe row by itself.
    pub(super) async fn probe(&mut self, probe: Row<'_>) -> Result<(), S::Error> {
        self.rows += 1;
        self.sink.row(None, probe).await
    }
}
