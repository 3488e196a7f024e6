use std::fmt::Write as _;

use serde_json::Value;

use crate::Outcome;

/// A replay with its predictions.
pub(super) struct Row {
    drive: String,
    trace: String,
    fill: &'static str,
    batch_pages: f64,
    sync_pages: Option<f64>,
    living_percent: f64,
    /// Policies with predicted and actual nanoseconds per page, as in the result.
    policies: Vec<(String, f64, f64)>,
}

impl Row {
    pub(super) fn of(drive: &str, fill: &'static str, replay: &Value) -> Outcome<Self> {
        let decision = &replay["decision"];
        let number = |value: &Value| value.as_f64().ok_or("a figure is missing in the replay's decision");
        let mut policies = Vec::new();
        for predicted in decision["predicted"].as_array().ok_or("a replay with a profile predicts")? {
            let name = predicted["policy"].as_str().unwrap_or_default();
            let all = replay["policies"].as_array().ok_or("a replay tells of no policies")?;
            let took =
                all.iter().find(|policy| policy["policy"] == name).ok_or("what is predicted has run")?;
            let page_ns = number(&took["elapsed_ns"])? / number(&took["writes"])?;
            policies.push((name.to_owned(), number(&predicted["page_ns"])?, page_ns));
        }
        let trace = replay["trace"].as_str().unwrap_or_default();
        Ok(Self {
            drive: drive.to_owned(),
            trace: trace.rsplit('/').next().unwrap_or_default().trim_end_matches(".csv").to_owned(),
            fill,
            batch_pages: number(&decision["batch_pages"])?,
            sync_pages: decision["sync_pages"].as_f64(),
            living_percent: number(&decision["living_percent"])?,
            policies,
        })
    }

    /// Policy predicted to be fastest.
    fn chosen(&self) -> Option<&(String, f64, f64)> {
        self.policies.iter().min_by(|one, other| one.1.total_cmp(&other.1))
    }

    fn quickest(&self) -> Option<&(String, f64, f64)> {
        self.policies.iter().min_by(|one, other| one.2.total_cmp(&other.2))
    }

    /// Policies whose predictions lie within the model's error of the chosen one.
    fn within_error(&self) -> Vec<&str> {
        /// Error of `PredictedPolicy::is_within_error_of`.
        const ERROR: f64 = 1.25;
        let Some(chosen) = self.chosen() else { return Vec::new() };
        let others = self.policies.iter().filter(|(name, ..)| *name != chosen.0);
        others.filter(|(_, ns, _)| *ns <= ERROR * chosen.1).map(|(name, ..)| name.as_str()).collect()
    }

    /// Returns true if the chosen policy takes at most 10 % more than the fastest, or the fastest
    /// is within the model's error.
    fn is_right(&self) -> bool {
        const NEAR: f64 = 1.1;
        let names_it =
            self.quickest().is_some_and(|quickest| self.within_error().contains(&quickest.0.as_str()));
        self.loss() <= NEAR || names_it
    }

    /// Ratio of the chosen policy's time to that of the fastest.
    fn loss(&self) -> f64 {
        self.chosen().zip(self.quickest()).map_or(f64::NAN, |(chosen, quickest)| chosen.2 / quickest.2)
    }
}

/// Two tables: the choices, and the error of each prediction.
pub(super) fn table(rows: &[Row]) -> String {
    let mut text = choices(rows);
    text += &summary(rows);
    text += "\nPredicted time of a page by that which it took:\n\n| drive | trace | fill |";
    let names: Vec<&str> = rows.first().map_or_else(Vec::new, |row| {
        let mut names: Vec<&str> = row.policies.iter().map(|(name, ..)| name.as_str()).collect();
        names.sort_unstable();
        names
    });
    for name in &names {
        let _ = write!(text, " {name} |");
    }
    let _ = writeln!(text, "\n|---|---|--:|{}", "--:|".repeat(names.len()));
    for row in rows {
        let _ = write!(text, "| {} | {} | {} |", row.drive, row.trace, row.fill);
        for name in &names {
            let policy = row.policies.iter().find(|(own, ..)| own == name);
            let ratio =
                policy.map_or("–".to_owned(), |(_, predicted, took)| format!("{:.2}", predicted / took));
            let _ = write!(text, " {ratio} |");
        }
        text.push('\n');
    }
    text
}

fn choices(rows: &[Row]) -> String {
    let mut text = "| drive | trace | fill | alive | pages a write | pages a sync | chosen | or | predicted (us a page) | took (us) | \
                    quickest | took (us) | loss |\n|---|---|--:|--:|--:|--:|---|---|--:|--:|---|--:|--:|\n"
        .to_owned();
    for row in rows {
        let Some((chosen, quickest)) = row.chosen().zip(row.quickest()) else { continue };
        let us = |ns: f64| format!("{:.1}", ns / 1e3);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.0} % | {:.1} | {} | {} | {} | {} | {} | {} | {} | {:.2} |",
            row.drive,
            row.trace,
            row.fill,
            row.living_percent,
            row.batch_pages,
            row.sync_pages.map_or("–".to_owned(), |pages| format!("{pages:.1}")),
            chosen.0,
            row.within_error().join(", "),
            us(chosen.1),
            us(chosen.2),
            quickest.0,
            us(quickest.2),
            row.loss(),
        );
    }
    text
}

fn summary(rows: &[Row]) -> String {
    let mut losses: Vec<f64> = rows.iter().map(Row::loss).collect();
    losses.sort_by(f64::total_cmp);
    let right = losses.iter().filter(|loss| **loss <= 1.0).count();
    let worst = losses.last().copied().unwrap_or(f64::NAN);
    let near = losses.iter().filter(|loss| **loss <= 1.1).count();
    let told = rows.iter().filter(|row| row.is_right()).count();
    format!(
        "\nOf {} choices {right} are the quickest policy, {near} take at most a tenth more, and {told} do or name the quickest as within \
         the error; the worst takes {worst:.2} times as long as the quickest.\n",
        losses.len()
    )
}
