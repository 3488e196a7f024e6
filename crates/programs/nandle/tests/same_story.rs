//! The terminal summary, the report's tiles and its grid agree on a profile. Each computes its text
//! independently, so they are compared on whole profiles of three kinds of drives.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "all of it is tests")]

use std::fs;
use std::process::Command;

/// Human-readable output of a probe.
struct Told {
    summary: String,
    report: String,
}

impl Told {
    fn of(model: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut probe = Command::new(env!("CARGO_BIN_EXE_nandle"));
        probe.args(["probe", &format!("model:{model}"), "--budget", "5m"]).current_dir(folder.path());
        let output = probe.output().unwrap();
        assert!(output.status.success(), "{model}: {}", String::from_utf8_lossy(&output.stderr));
        Self {
            summary: String::from_utf8(output.stdout).unwrap(),
            report: fs::read_to_string(folder.path().join("report.html")).unwrap(),
        }
    }

    /// First word of the summary's entry.
    fn said(&self, of: &str) -> &str {
        let start = format!("{of}:");
        let line = self.summary.lines().find_map(|line| line.strip_prefix(&start));
        let line = line.unwrap_or_else(|| panic!("no {of} in {}", self.summary));
        line.split_whitespace().next().unwrap().trim_end_matches(',')
    }

    /// Number and unit of a tile, without spaces.
    fn tile(&self, name: &str) -> String {
        let start = format!("<p class=\"name\">{name}</p><p class=\"figure\">");
        let (_, rest) = self.report.split_once(&start).unwrap_or_else(|| panic!("no tile {name}"));
        let (figure, _) = rest.split_once("</p>").unwrap();
        figure.replace("<span class=\"unit\">", "").replace("</span>", "").replace(char::is_whitespace, "")
    }

    /// Least depth at which the grid frames a block size.
    fn framed_from(&self, block: &str) -> String {
        let (_, grid) = self.report.split_once("class=\"map-section\"").unwrap();
        let (head, rows) = grid.split_once("</thead>").unwrap();
        let depths: Vec<&str> = head.split("<th scope=\"col\">").skip(2).map(up_to_tag).collect();
        let (_, row) = rows.split_once(&format!("<th scope=\"row\">{block}</th>")).unwrap();
        let (row, _) = row.split_once("</tr>").unwrap();
        let framed = row.split("<td class=\"").skip(1).position(|cell| cell.starts_with("near\""));
        depths[framed.unwrap_or_else(|| panic!("{block} is framed nowhere in {row}"))].to_owned()
    }
}

fn up_to_tag(text: &str) -> &str {
    text.split('<').next().unwrap()
}

/// A number with optional digit groups.
fn number(text: &str) -> f64 {
    let digits: String = text.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

fn assert_same_story(model: &str) {
    let told = Told::of(model);
    let block = told.said("Smallest efficient block").to_owned();
    assert_eq!(told.tile("Efficient block"), block, "{model}");
    assert_eq!(told.tile("Near-full depth"), told.framed_from(&block), "{model}: near full has one meaning");
    // The summary groups thousands by spaces, so the first word of a rate is only its first group.
    let reads = told.summary.lines().find_map(|line| line.strip_prefix("Random reads, max:")).unwrap();
    let reads = number(reads.split(['(', 'a']).next().unwrap());
    let tile = number(&told.tile("Random reads"));
    assert!((tile / reads - 1.0).abs() < 0.01, "{model}: {tile} and {reads} reads a second");
    for (tile, line) in [("Commit", "Commit"), ("Random write cost", "Random writes cost")] {
        let (shown, said) = (number(&told.tile(tile)), number(told.said(line)));
        assert!((shown / said - 1.0).abs() < 0.01, "{model}, {tile}: {shown} and {said}");
    }
}

#[test]
fn of_a_page_mapped_drive() {
    assert_same_story("x25-m-g2");
}

#[test]
fn of_a_drive_with_hybrid_mapping() {
    assert_same_story("mtron-16");
}

#[test]
fn of_a_card() {
    assert_same_story("sd-card");
}
