use std::fmt::Write as _;

use crate::Outcome;
use crate::bench::machine::Machine;
use crate::bench::results::today;

/// A case on a device.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) device: String,
    pub(super) table: String,
    pub(super) predicates: String,
    pub(super) read_bytes: f64,
    pub(super) requests: f64,
    pub(super) seconds: f64,
    pub(super) predicted_seconds: f64,
}

/// Record with a table for each device.
pub(super) fn page(
    rows: &str,
    rounds: usize,
    columns: &str,
    machine: &Machine,
    lines: &[Line],
) -> Outcome<String> {
    let mut text = format!(
        "# Predicates, {}\n\n`cargo xtask bench predicates`. The same {rows} made-up flights as they come (`loaded`), as `sort:Month,Origin` and as `cells:Airline,Origin,Year`. A scan of {columns} takes rows \
         of one airport, then of one year too, then of one carrier too. Here: medians of {rounds} rounds past the page cache, planned by a probe of this disk. On models: the recordings of these scans in virtual \
         time, planned by a probe of each model; processor time is that of this machine.\n\n{}\n",
        today()?,
        machine.sentence()
    );
    let mut devices: Vec<&str> = Vec::new();
    for line in lines {
        if !devices.contains(&line.device.as_str()) {
            devices.push(&line.device);
        }
    }
    for device in devices {
        write!(
            text,
            "\n## {device}\n\n| predicates | table | read, MB | requests | time, ms | predicted, ms |\n|---|---|--:|--:|--:|--:|\n"
        )?;
        let mut of_device: Vec<&Line> = lines.iter().filter(|line| line.device == device).collect();
        of_device.sort_by_key(|line| line.predicates.len());
        for Line { table, predicates, read_bytes, requests, seconds, predicted_seconds, .. } in of_device {
            let (megabytes, time, predicted) = (read_bytes / 1e6, seconds * 1e3, predicted_seconds * 1e3);
            writeln!(
                text,
                "| {predicates} | {table} | {megabytes:.2} | {requests:.0} | {time:.1} | {predicted:.1} |"
            )?;
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::machine::machine;

    #[test]
    fn each_device_has_a_table_by_predicates() {
        let line = |device: &str, predicates: &str, table: &str| Line {
            device: device.to_owned(),
            table: table.to_owned(),
            predicates: predicates.to_owned(),
            read_bytes: 1_500_000.0,
            requests: 7.0,
            seconds: 0.25,
            predicted_seconds: 0.2,
        };
        let lines = [line("a", "x + y", "t"), line("b", "x", "t"), line("a", "x", "t")];
        let text = page("10", 5, "c", &machine(&crate::workspace_root()), &lines).unwrap();
        let (of_a, of_b) = text.split_once("## b").unwrap();
        let places =
            ["| x | t | 1.50 | 7 | 250.0 | 200.0 |", "| x + y | t |"].map(|row| of_a.find(row).unwrap());
        assert!(places.is_sorted());
        assert!(of_b.contains("| x | t |") && !of_b.contains("x + y"));
    }
}
