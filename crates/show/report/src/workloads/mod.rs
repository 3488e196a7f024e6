//! Pages of a workload, and of its placement on two devices.

mod clusters;
mod pattern;
mod times;

use nandle_workloads::{Operator, PlaceFile, PlacementRow, WorkloadFile};

use crate::questions::{PageHeading, page, question};
use crate::text::{self, Quantity};

/// Renders the report on a workload as a self-contained HTML document.
pub fn workload_html(file: &WorkloadFile) -> String {
    let pattern = match file.runs.as_slice() {
        [run] => {
            run.outcome.as_ref().and_then(|outcome| pattern::figure("pattern", &file.temporary, outcome))
        }
        _ => None,
    };
    let questions = vec![
        question("time", "Where does the time go?", times::of_runs(file)),
        question("pattern-of", "How is the temporary space accessed?", pattern.into_iter().collect()),
    ];
    let rows = Rows {
        operator: file.operator,
        records: file.records,
        row_bytes: file.row_bytes,
        key_bytes: file.key_bytes,
        seed: file.seed,
    };
    let mut particulars = rows.particulars();
    particulars.extend([
        ("Input", file.input.clone()),
        ("Temporary", file.temporary.clone()),
        ("Output", file.output.clone()),
    ]);
    let refusals = file.runs.iter().filter_map(|run| run.refusal.clone());
    let remarks = refusals.chain([file.costs.clone()]).chain(file.remarks.iter().cloned()).collect();
    page(&PageHeading { kicker: "Workload", title: file.temporary.clone(), particulars, remarks }, questions)
}

/// Renders the report on a workload on two devices.
pub fn place_html(file: &PlaceFile) -> String {
    let shown = |row: Option<&PlacementRow>, id, name: &str| pattern::figure(id, name, &row?.outcome);
    let patterns = [
        shown(file.placements.first(), "pattern-from", &file.from),
        shown(file.placements.last(), "pattern-to", &file.to),
    ];
    let mut by_cluster = question("clusters", "Which cluster is best?", clusters::figures(file));
    by_cluster.remarks = file
        .findings
        .iter()
        .map(|finding| format!("{}, the study: {}. Here: {}.", finding.claim, finding.study, finding.here))
        .collect();
    let questions = vec![
        question("placement", "Which part gains most?", vec![times::of_placements(file)]),
        by_cluster,
        question("pattern", "How is the temporary space accessed?", patterns.into_iter().flatten().collect()),
    ];
    let rows = Rows {
        operator: file.operator,
        records: file.records,
        row_bytes: file.row_bytes,
        key_bytes: file.key_bytes,
        seed: file.seed,
    };
    let mut particulars = rows.particulars();
    particulars.extend([
        ("Memory", Quantity::size(file.memory_bytes).to_string()),
        ("From", file.from.clone()),
        ("To", file.to.clone()),
    ]);
    let remarks = file.costs.iter().chain(&file.remarks).cloned().collect();
    let title = format!("{} to {}", file.from, file.to);
    page(&PageHeading { kicker: "Placement", title, particulars, remarks }, questions)
}

/// Rows that are sorted or joined.
struct Rows {
    operator: Operator,
    records: u64,
    row_bytes: u64,
    key_bytes: u64,
    seed: u64,
}

impl Rows {
    fn particulars(&self) -> Vec<(&'static str, String)> {
        let tables = match self.operator {
            Operator::Sort => "",
            Operator::Join => " in each of two tables",
        };
        vec![
            ("Operator", self.operator.name().to_owned()),
            ("Rows", format!("{}{tables}", text::plain(self.records))),
            (
                "Row",
                format!("{}, {} of them key", Quantity::size(self.row_bytes), Quantity::size(self.key_bytes)),
            ),
            ("Seed", self.seed.to_string()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up;

    #[test]
    fn workload_page_has_bars_and_points() {
        let page = workload_html(&made_up::workload_file());
        for text in ["making runs", "merging", "id=\"pattern\"", "of the writes", "A remark."] {
            assert!(page.contains(text), "{text}");
        }
        assert!(!page.contains("<b>drive"), "a target's name is no markup");
    }

    #[test]
    fn placement_page_has_both_devices() {
        let page = place_html(&made_up::place_file());
        for text in ["id=\"pattern-from\"", "id=\"pattern-to\"", "C51, the study", "temporary data", "4KiB"] {
            assert!(page.contains(text), "{text}");
        }
    }
}
