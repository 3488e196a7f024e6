//! Matching of a row of one side against the other side's rows in a table. Either side may be in
//! the table for every kind of join: a probe row in the table keeps a mark once it has matched.

use super::sink::Output;
use super::table::Table;
use super::{JoinKind, JoinSink};
use crate::rows::Row;

/// The side that is in the table while the other side streams past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableSide {
    Build,
    Probe,
}

impl TableSide {
    /// Matches a row of the other side against the table, which holds all its possible matches.
    pub(super) async fn meet<S: JoinSink>(
        self,
        table: &mut Table,
        hash: u64,
        row: Row<'_>,
        output: &mut Output<'_, S>,
    ) -> Result<(), S::Error> {
        match self {
            Self::Build => meet_builds(table, hash, row, output).await,
            Self::Probe => meet_probes(table, hash, row, output).await,
        }
    }

    /// Handles a row of the other side that can't match any row.
    pub(super) async fn meet_none<S: JoinSink>(
        self,
        row: Row<'_>,
        output: &mut Output<'_, S>,
    ) -> Result<(), S::Error> {
        match self {
            Self::Build if output.kind.returns_unmatched() => output.probe(row).await,
            Self::Build | Self::Probe => Ok(()),
        }
    }

    /// Completes the table after all rows that could match have been seen.
    pub(super) async fn finish<S: JoinSink>(
        self,
        table: &Table,
        output: &mut Output<'_, S>,
    ) -> Result<(), S::Error> {
        if self == Self::Build || !output.kind.returns_unmatched() {
            return Ok(());
        }
        for entry in table.entries().filter(|entry| !entry.is_matched()) {
            output.probe(entry.row).await?;
        }
        Ok(())
    }
}

async fn meet_builds<S: JoinSink>(
    table: &Table,
    hash: u64,
    probe: Row<'_>,
    output: &mut Output<'_, S>,
) -> Result<(), S::Error> {
    let mut at = table.find(hash, probe.key);
    match output.kind {
        JoinKind::Semi if at.is_some() => return output.probe(probe).await,
        JoinKind::Semi => return Ok(()),
        JoinKind::Anti if at.is_some() => return Ok(()),
        JoinKind::Left | JoinKind::Anti if at.is_none() => return output.probe(probe).await,
        JoinKind::Inner | JoinKind::Left | JoinKind::Anti => {}
    }
    while let Some(build) = at {
        output.pair(table.entry(build).row, probe).await?;
        at = table.find_next(build);
    }
    Ok(())
}

async fn meet_probes<S: JoinSink>(
    table: &mut Table,
    hash: u64,
    build: Row<'_>,
    output: &mut Output<'_, S>,
) -> Result<(), S::Error> {
    let mut at = table.find(hash, build.key);
    while let Some(probe) = at {
        let matched_before = table.mark(probe);
        let row = table.entry(probe).row;
        match output.kind {
            JoinKind::Inner | JoinKind::Left => output.pair(build, row).await?,
            JoinKind::Semi if !matched_before => output.probe(row).await?,
            // Rows with equal keys are marked together, so the remaining ones are marked, too.
            JoinKind::Semi | JoinKind::Anti if matched_before => return Ok(()),
            JoinKind::Semi | JoinKind::Anti => {}
        }
        at = table.find_next(probe);
    }
    Ok(())
}
