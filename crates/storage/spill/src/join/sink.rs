use std::future::Future;

use super::JoinKind;
use crate::SpillError;
use crate::rows::Row;

/// Receiver of the rows of a join. The join waits while the sink waits, and keeps no results in
/// memory.
///
/// A closure that neither waits nor fails is a sink.
pub trait JoinSink {
    /// Error of the join or the sink.
    type Error: From<SpillError>;

    /// Takes a row of the result, in no particular order. `build` is given if the join returns
    /// [pairs](JoinKind::Inner) and the probe row matched.
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

/// A sink, the kind of rows it takes, and the number of rows passed to it.
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
        debug_assert!(self.kind.returns_pairs(), "this kind of join returns pairs");
        self.rows += 1;
        self.sink.row(Some(build), probe).await
    }

    /// Passes a probe row without a build row.
    pub(super) async fn probe(&mut self, probe: Row<'_>) -> Result<(), S::Error> {
        self.rows += 1;
        self.sink.row(None, probe).await
    }
}
