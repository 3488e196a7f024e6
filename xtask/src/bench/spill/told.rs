//! JSON output of `nandle sort` and `nandle join`, and its tables.

use serde_json::Value;

use crate::Outcome;

pub(super) struct Told(Value);

impl Told {
    pub(super) fn parse(json: &[u8]) -> Outcome<Self> {
        Ok(Self(serde_json::from_slice(json)?))
    }

    pub(super) fn count(&self, key: &str) -> Outcome<u64> {
        self.0.get(key).and_then(Value::as_u64).ok_or_else(|| format!("no {key} in {}", self.0).into())
    }

    /// Seconds of a field in nanoseconds.
    pub(super) fn seconds(&self, key: &str) -> Outcome<f64> {
        let ns = self.0.get(key).and_then(Value::as_f64);
        ns.map(|ns| ns / 1e9).ok_or_else(|| format!("no {key} in {}", self.0).into())
    }
}

/// Table with a row for each cluster, the chosen one last, and the ratio of its time to the best.
pub(super) fn table(title: &str, heads: &str, rows: Vec<String>, seconds: &[f64]) -> String {
    let columns = heads.split('|').count();
    let lines = [format!("| {heads} |"), format!("|---{}|", "|--:".repeat(columns - 1))];
    let lines: Vec<String> = lines.into_iter().chain(rows).collect();
    let text = format!("\n## {title}\n\n{}\n", lines.join("\n"));
    let Some((auto, tried)) = seconds.split_last() else { return text };
    let best = tried.iter().copied().fold(f64::INFINITY, f64::min);
    format!("{text}\n`auto` takes {:.2} of the best.\n", auto / best)
}
