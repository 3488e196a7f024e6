//! Conversion of older profile versions.
//!
//! | version | differences |
//! |--------:|-------------|
//! | 0 | only reads; plain numbers for the bandwidth of `fitted_cells` and the time of `request_costs`; error of the fit only in `fit` |

use serde_json::{Value, json};

use crate::figures::InvalidFigure;

/// Keys that version 1 introduced.
const KEYS_OF_VERSION_1: [&str; 1] = ["experiments"];

/// Converts a version-0 profile. Leaves other versions and other files unchanged.
///
/// # Errors
/// The file claims version 0 but has keys of later ones, so its version number is wrong.
pub(crate) fn upgrade(value: &mut Value) -> Result<(), InvalidFigure> {
    if value.get("schema_version").and_then(Value::as_u64) != Some(0) {
        return Ok(());
    }
    if KEYS_OF_VERSION_1.iter().any(|key| value.get(key).is_some()) {
        let (field, got) = ("schema_version".into(), "0".into());
        return Err(InvalidFigure {
            field,
            got,
            allowed: "1 and later (it has experiments, which version 0 hadn't)",
        });
    }
    // Nine cells in ten were within this error of the measurement.
    let error = value.pointer("/fit/error_p90").and_then(Value::as_f64).unwrap_or(0.0).clamp(0.0, 1.0);
    let fitted = value.get_mut("fitted_cells").and_then(Value::as_array_mut);
    for bandwidth in fitted.into_iter().flatten().filter_map(|cell| cell.get_mut("bandwidth_bytes_per_s")) {
        give_bounds(bandwidth, error);
    }
    let costs = value.pointer_mut("/derived/flexible_io/request_costs").and_then(Value::as_array_mut);
    for cost in costs.into_iter().flatten().filter_map(|cost| cost.get_mut("cost_ns")) {
        give_bounds(cost, error);
    }
    Ok(())
}

fn give_bounds(figure: &mut Value, error: f64) {
    if let Some(number) = figure.as_f64() {
        *figure = json!({ "value": number, "low": number * (1.0 - error), "high": number * (1.0 + error) });
    }
}
