//! The command line of `bench workers`.

use std::path::PathBuf;

use crate::bench::tpch;
use crate::{Outcome, workspace_root};

#[derive(Debug)]
pub(super) struct Options {
    pub(super) scale: f64,
    pub(super) rounds: usize,
    /// Numbers of queries.
    pub(super) queries: Vec<u32>,
    pub(super) parts: Vec<Part>,
    /// Value of the option of `nandle sql`.
    pub(super) distribute_above: String,
    pub(super) probe_budget: String,
    pub(super) folder: PathBuf,
    /// Folder of data to use and keep.
    pub(super) kept: Option<PathBuf>,
}

/// Part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Workers with a core each.
    Cores,
    /// Workers of which one has a slower device.
    Devices,
    /// Work before a query runs.
    Planning,
}

impl Part {
    const ALL: [(&'static str, Self); 3] =
        [("cores", Self::Cores), ("devices", Self::Devices), ("planning", Self::Planning)];

    fn list(text: &str) -> Outcome<Vec<Self>> {
        let find = |word: &str| {
            let found = Self::ALL.into_iter().find(|(name, _)| *name == word);
            found.map(|(_, part)| part).ok_or_else(|| format!("`workers` has no part {word:?}").into())
        };
        text.split(',').map(find).collect()
    }
}

impl Options {
    pub(super) fn parse(words: &[String]) -> Outcome<Self> {
        let mut options = Self {
            scale: 10.0,
            rounds: 3,
            queries: tpch::queries(),
            parts: Part::ALL.map(|(_, part)| part).to_vec(),
            distribute_above: "250ms".to_owned(),
            probe_budget: "60s".to_owned(),
            folder: workspace_root().join("target"),
            kept: None,
        };
        let (pairs, rest) = words.as_chunks::<2>();
        for [name, value] in pairs {
            options.set(name, value)?;
        }
        match rest {
            [] => Ok(options),
            [name, ..] => Err(format!("`workers`: {name} needs a value").into()),
        }
    }

    fn set(&mut self, name: &str, value: &str) -> Outcome {
        match name {
            "--scale" => self.scale = value.parse()?,
            "--rounds" => self.rounds = value.parse()?,
            "--only" => self.queries = tpch::numbers(value)?,
            "--parts" => self.parts = Part::list(value)?,
            "--distribute-above" => value.clone_into(&mut self.distribute_above),
            "--probe-budget" => value.clone_into(&mut self.probe_budget),
            "--in" => self.folder = value.into(),
            "--kept" => self.kept = Some(value.into()),
            other => {
                return Err(format!(
                    "`workers` takes --scale, --rounds, --only, --parts, --distribute-above, --probe-budget, --in, --kept; got {other}"
                )
                .into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Outcome<Options> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read() {
        let options = parse("--scale 0.1 --rounds 1 --only 6 --parts planning,cores --kept /data").unwrap();
        assert_eq!((options.scale, options.rounds, options.queries), (0.1, 1, vec![6]));
        assert_eq!(options.parts, [Part::Planning, Part::Cores]);
        assert_eq!(options.kept, Some(PathBuf::from("/data")));
        assert_eq!(parse("").unwrap().parts.len(), 3);
        for wrong in ["--scale", "--parts disks", "--only 23", "--colour red"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
