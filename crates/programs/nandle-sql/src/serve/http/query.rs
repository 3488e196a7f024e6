//! Runs a statement within the limits, and reports its cost.

use std::sync::Arc;

use nandle_dashboard::{PredictedQuery, QueryCost, Statement, StatementResult};
use nandle_engine::{Account, EngineError, Needs, View};
use nandle_io::Nanos;
use tokio::time::Instant;

use super::devices::Devices;
use super::sums::MadeSums;
use crate::serve::limits::{Counted, Ended, Limits};

/// Environment of statements.
pub(super) struct Runs {
    pub(super) view: Arc<View>,
    pub(super) sums: Arc<MadeSums>,
    pub(super) limits: Arc<Limits>,
    pub(super) devices: Arc<Devices>,
}

/// Runs a statement to its end. Dropping the future cancels it.
pub(super) async fn run(runs: Arc<Runs>, statement: Statement) -> Result<Arc<StatementResult>, Arc<Ended>> {
    // Operators count their computing, since other queries compute at the same time.
    let needs = Arc::new(Needs::new(Arc::new(|| Nanos::ZERO)));
    let began = std::sync::OnceLock::new();
    let start = async {
        let _ = began.set(Instant::now());
        runs.view.start(statement.text(), Arc::clone(&needs)).await
    };
    let (mut rows, counted) = runs.limits.run_counted(start).await?;
    let mut batches = Vec::new();
    while let Some(batch) = rows.next().await? {
        batches.push(batch);
    }
    let wall_ns = began.get().map_or(0, |began| nanos(began.elapsed()));
    let failed = |error| Arc::new(Ended::Failed(error));
    let counted = counted.await.map_err(|_| failed(EngineError::Interrupted))?;
    let Counted { account, place, until } = counted;
    let account = account.map_err(failed)?;
    let played = Arc::clone(&runs.devices).play_within(needs.finish(), &account, place, until);
    let elsewhere = played.await.map_err(|_| failed(EngineError::Interrupted))?;
    let refusal = statement.made_by().and_then(|_| runs.sums.refusal());
    let cost = QueryCost { elsewhere, ..cost(&statement, wall_ns, account, refusal) };
    Ok(Arc::new(StatementResult { batches, cost }))
}

fn cost(statement: &Statement, wall_ns: u64, account: Account, refusal: Option<&'static str>) -> QueryCost {
    let Account { requests, read_bytes, unplanned_requests, device, computing, spilled_bytes, predicted } =
        account;
    let predicted_seconds = refusal.map_or(predicted.seconds, |why| Err(why.to_owned()));
    let seconds = predicted_seconds.as_ref().ok();
    let scans =
        |figure: fn(&nandle_reads::Estimate) -> f64| seconds.map(|seconds| of_seconds(figure(seconds)));
    QueryCost {
        sql: statement.text().to_owned(),
        sums_sql: statement.made_by().map(str::to_owned),
        wall_ns,
        device_ns: device.0,
        computing_ns: computing.0,
        read_bytes,
        requests,
        unplanned_requests,
        spilled_bytes,
        predicted: PredictedQuery {
            read_bytes: predicted.read_bytes,
            requests: predicted.requests,
            scans_ns: scans(|seconds| seconds.value),
            scans_low_ns: scans(|seconds| seconds.low),
            scans_high_ns: scans(|seconds| seconds.high),
            refusal: predicted_seconds.err(),
        },
        elsewhere: Vec::new(),
    }
}

pub(super) fn nanos(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a span of time of a query")]
fn of_seconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}
