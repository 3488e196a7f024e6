//! Options of `cargo xtask bench agreement`.

use super::drives::{DRIVES, Drive};
use super::truth::Side;
use crate::Outcome;

const SEEDS: u64 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Agreement,
    Ablation,
    /// Record the exhaustive runs again.
    Truth,
}

#[derive(Debug)]
pub(super) struct Options {
    pub(super) what: What,
    pub(super) seeds: u64,
    /// Only side to record or probe.
    pub(super) side: Option<Side>,
    pub(super) drives: Vec<&'static Drive>,
}

impl Options {
    pub(super) fn parse(options: &[String]) -> Outcome<Self> {
        let mut parsed = Self { what: What::Agreement, seeds: SEEDS, side: None, drives: Vec::new() };
        for option in options {
            match option.as_str() {
                "--ablation" => parsed.what = What::Ablation,
                "--truth=anew" => parsed.what = What::Truth,
                "--truth=recorded" => {}
                "--reads" => parsed.side = Some(Side::Reads),
                "--writes" => parsed.side = Some(Side::Writes),
                other => match other.strip_prefix("--seeds=") {
                    Some(seeds) => {
                        parsed.seeds = seeds.parse().map_err(|error| format!("{other}: {error}"))?;
                    }
                    None => parsed.drives.push(named(other)?),
                },
            }
        }
        if parsed.drives.is_empty() {
            parsed.drives = DRIVES.iter().collect();
        }
        Ok(parsed)
    }
}

fn named(name: &str) -> Outcome<&'static Drive> {
    let known = DRIVES.iter().map(|drive| drive.name).collect::<Vec<_>>().join(", ");
    DRIVES.iter().find(|drive| drive.name == name).ok_or_else(|| {
        let options = "--seeds=N, --reads, --writes, --ablation, --truth=recorded, --truth=anew";
        format!("`agreement` takes {options}, and the drives {known}; got {name:?}").into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_say_what_to_run_on_which_drives() {
        let parse =
            |options: &[&str]| Options::parse(&options.iter().map(ToString::to_string).collect::<Vec<_>>());
        let options = parse(&["--seeds=3", "x25-e-64", "--ablation"]).unwrap();
        assert_eq!((options.what, options.seeds, options.drives.len()), (What::Ablation, 3, 1));
        assert_eq!(parse(&[]).unwrap().drives.len(), DRIVES.len());
        assert!(parse(&["no-such-drive"]).is_err() && parse(&["--seeds=many"]).is_err());
    }
}
