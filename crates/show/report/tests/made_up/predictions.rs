use std::collections::BTreeMap;

use nandle_predict::{
    PREDICTION_SCHEMA_VERSION, PlayedQuery, PredictionFile, QueryPrediction, TargetPrediction,
};
use nandle_profile::Interval;

/// Prediction of three queries on two drives, as `nandle predict` writes it. The third query needs
/// more memory than there is.
pub(crate) fn prediction_file() -> PredictionFile {
    PredictionFile {
        schema_version: PREDICTION_SCHEMA_VERSION,
        recording: "cubes<b>.needs.zst".into(),
        queries: 3,
        files: 2,
        files_bytes: 5 << 30,
        reads: "flexible".into(),
        memory_bytes: 64 << 20,
        cpu_scale: 0.5,
        targets: vec![target("model:<b>drive</b>", 1), target("model:disk", 9)],
    }
}

fn target(name: &str, slowness: u64) -> TargetPrediction {
    let query = |number, name: Option<&str>, time_ns| QueryPrediction {
        number,
        name: name.map(str::to_owned),
        recorded_ns: None,
        played: Some(played(time_ns, slowness)),
        refusal: None,
    };
    let refused = QueryPrediction {
        played: None,
        refusal: Some("step 0 needs more".into()),
        ..query(3, Some("wide"), 0)
    };
    TargetPrediction {
        target: name.into(),
        is_modelled: true,
        remarks: vec!["A remark.".into()],
        total_ns: None,
        queries: vec![query(1, Some("C41"), 2_000_000_000), query(2, None, 300_000_000), refused],
    }
}

fn played(time_ns: u64, slowness: u64) -> PlayedQuery {
    PlayedQuery {
        time_ns: time_ns * slowness,
        predicted_ns: Interval { value: time_ns * slowness, low: time_ns, high: 2 * time_ns * slowness },
        spill_ns: 0,
        computing_ns: 100_000_000,
        cpu_ns: 120_000_000,
        requests: 5000 / slowness,
        continued_requests: 0,
        read_bytes: 500_000_000 * slowness,
        wanted_bytes: 400_000_000,
        requests_by_length_bytes: BTreeMap::from([(8192, 5000 / slowness)]),
        depth_max: 32,
        memory_bytes: 64 << 20,
    }
}
