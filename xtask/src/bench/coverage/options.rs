//! Options after `cargo xtask bench coverage`.

use crate::Outcome;

#[derive(Debug)]
pub(super) struct Options {
    pub(super) drives: u64,
    pub(super) seeds: u64,
    pub(super) reads: bool,
    pub(super) writes: bool,
}

impl Options {
    pub(super) fn parse(options: &[String]) -> Outcome<Self> {
        let mut parsed = Self { drives: 5, seeds: 8, reads: true, writes: true };
        for option in options {
            let number = |text: &str| text.parse().map_err(|error| format!("{option}: {error}"));
            match option.split_once('=') {
                Some(("--drives", text)) => parsed.drives = number(text)?,
                Some(("--seeds", text)) => parsed.seeds = number(text)?,
                None if option == "--reads" => parsed.writes = false,
                None if option == "--writes" => parsed.reads = false,
                _ => {
                    let known = "--drives=N, --seeds=N, --reads, --writes";
                    return Err(format!("`coverage` takes {known}; got {option:?}").into());
                }
            }
        }
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_say_how_many_and_which_side() {
        let parse =
            |options: &[&str]| Options::parse(&options.iter().map(ToString::to_string).collect::<Vec<_>>());
        let few = parse(&["--drives=2", "--seeds=3", "--reads"]).unwrap();
        assert_eq!((few.drives, few.seeds, few.reads, few.writes), (2, 3, true, false));
        assert!(parse(&[]).unwrap().writes);
        assert!(parse(&["--drives=many"]).is_err() && parse(&["mtron-16"]).is_err());
    }
}
