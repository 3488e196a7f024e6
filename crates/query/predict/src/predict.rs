use nandle_reads::PlanOptions;
use nandle_reads::ReadsError;
use nandle_reads::recording::{RecordedQuery, Recording};
use nandle_session::Progress;
use nandle_target::TargetSpec;

use crate::{PlayedQuery, Player, PlayerOptions, PredictError, QueryPrediction, TargetPrediction};

/// Options for all queries.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// Strategy and memory of their reads.
    pub options: PlanOptions,
    /// Factor applied to recorded processor times.
    pub cpu_scale: f64,
}

/// Plays all queries of a recording on a target. A query that doesn't fit in memory is reported in
/// its row.
///
/// # Errors
/// The target can't be opened, measured or read, or the prediction was cancelled.
pub fn predict_on(
    target: &TargetSpec,
    recording: &Recording,
    how: How,
    options: &PlayerOptions,
    progress: &mut dyn Progress,
) -> Result<TargetPrediction, PredictError> {
    let mut player = Player::open(target, recording, options, progress)?;
    progress.begin_stage();
    let mut queries = Vec::with_capacity(recording.queries.len());
    for (index, query) in recording.queries.iter().enumerate() {
        let mut row = QueryPrediction {
            number: index as u64 + 1,
            name: query.name.clone(),
            recorded_ns: query.totals.took_ns,
            played: None,
            refusal: None,
        };
        let doing = format!("{target}: {}", row.label());
        progress.progress(&doing, index as f64 / recording.queries.len() as f64);
        match played(&mut player, query, how)? {
            Ok(outcome) => row.played = Some(outcome),
            Err(refusal) => row.refusal = Some(refusal),
        }
        queries.push(row);
    }
    let times: Option<Vec<u64>> = queries.iter().map(QueryPrediction::time_ns).collect();
    let total_ns = times.map(|times| times.into_iter().fold(0, u64::saturating_add));
    let (target, remarks) = (target.to_string(), player.remarks().to_vec());
    Ok(TargetPrediction { target, is_modelled: player.is_modelled(), remarks, total_ns, queries })
}

fn played(
    player: &mut Player,
    query: &RecordedQuery,
    how: How,
) -> Result<Result<PlayedQuery, String>, PredictError> {
    match player.play(query, how.options, how.cpu_scale) {
        Ok(outcome) => Ok(Ok(outcome)),
        Err(PredictError::Reads(error @ ReadsError::Memory { .. })) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}
