//! Shares of workers, from EXPLAIN.

use serde::Serialize;
use serde_json::Value;

use crate::Outcome;

/// Shares of a table's scan in a query.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Share {
    pub(super) query: u32,
    /// Name of the set of workers.
    pub(super) workers: String,
    pub(super) table: String,
    /// Parts of the first and of the second worker.
    pub(super) parts: Vec<SharePart>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct SharePart {
    pub(super) row_groups: u64,
    /// Text from EXPLAIN.
    pub(super) bytes: String,
    pub(super) predicted: String,
}

/// Shares of each distributed scan. `said` has a row per line, as JSON. Lines of one scan are
/// adjacent, in the order of the workers.
pub(super) fn shares(query: u32, workers: &str, said: &str, urls: &[&str]) -> Outcome<Vec<Share>> {
    let mut shares: Vec<Share> = Vec::new();
    for row in said.lines() {
        let row: Value = serde_json::from_str(row)?;
        let text = |name| row.get(name).and_then(Value::as_str);
        let Some(plan) = text("plan").filter(|_| text("plan_type") == Some("workers")) else { continue };
        // Other lines hold totals or a sentence.
        for line in plan.lines().filter(|line| line.contains(": http")) {
            let (table, url, part) = part(line).ok_or_else(|| format!("no share is said in {line:?}"))?;
            let place = urls.iter().position(|known| *known == url).ok_or("a share of no known worker")?;
            match shares.last_mut().filter(|_| place > 0) {
                Some(share) => share.parts.push(part),
                None => shares.push(Share {
                    query,
                    workers: workers.to_owned(),
                    table: table.to_owned(),
                    parts: vec![part],
                }),
            }
        }
    }
    Ok(shares)
}

/// Parses `lineitem: http://127.0.0.1:1: 3 row groups, 20 MiB, predicted 1.5 s`.
fn part(line: &str) -> Option<(&str, &str, SharePart)> {
    let (rest, predicted) = line.split_once(", predicted ")?;
    let (rest, bytes) = rest.split_once(" row groups, ")?;
    let (rest, row_groups) = rest.rsplit_once(": ")?;
    let (table, url) = rest.split_once(": ")?;
    let row_groups = row_groups.parse().ok()?;
    Some((table, url, SharePart { row_groups, bytes: bytes.to_owned(), predicted: predicted.to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_found_in_what_explain_says() {
        let plan = "a: http://h:1: 3 row groups, 20 MiB, predicted 1.5 s\\na: http://h:2: 1 row groups, 7 MiB, predicted 1.4 s\\n\
                    a: all workers side by side: 4 row groups, 27 MiB, predicted 1.5 s\\n\
                    b, projection 2: http://h:1: 5 row groups, 1 MiB, predicted 1 s\\nb, projection 2: http://h:2: 5 row groups, 1 MiB, predicted 1 s\\nHow long the query takes isn't predicted.";
        let said = format!(
            "{{\"plan_type\": \"physical_plan\", \"plan\": \"Exec\"}}\n{{\"plan_type\": \"workers\", \"plan\": \"{plan}\"}}\n"
        );
        let shares = shares(6, "two workers", &said, &["http://h:1", "http://h:2"]).unwrap();
        assert_eq!(
            shares.iter().map(|share| share.table.as_str()).collect::<Vec<_>>(),
            ["a", "b, projection 2"]
        );
        let groups = |share: &Share| share.parts.iter().map(|part| part.row_groups).collect::<Vec<_>>();
        assert_eq!((groups(&shares[0]), groups(&shares[1])), (vec![3, 1], vec![5, 5]));
        assert_eq!(shares[0].parts[1].predicted, "1.4 s");
    }

    #[test]
    fn what_isnt_dealt_out_has_no_shares() {
        let said = "{\"plan_type\": \"reads\", \"plan\": \"a: 3 requests\"}\n";
        assert_eq!(shares(6, "two workers", said, &[]).unwrap(), []);
    }
}
