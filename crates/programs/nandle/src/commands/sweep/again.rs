//! The command line that goes on with an interrupted sweep.

use std::path::Path;

use nandle_terminal::words::quoted;

/// The whole command again, with `--resume` in the place of `--output`: the file doesn't know the grid.
pub(super) fn command_to_resume(arguments: impl Iterator<Item = String>, path: &Path) -> String {
    let mut words = vec!["nandle".to_owned()];
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        match argument.split_once('=').map_or(argument.as_str(), |(name, _)| name) {
            "--output" | "--resume" if argument.contains('=') => {}
            "--output" | "--resume" => drop(arguments.next()),
            _ => words.push(quoted(&argument)),
        }
    }
    format!("{} --resume {}", words.join(" "), quoted(&path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_to_go_on_with_has_the_grid() {
        let given = ["sweep", "my disk", "--block-sizes", "2K,4K", "--output", "q.csv", "--rate=5"];
        let command = command_to_resume(given.into_iter().map(Into::into), Path::new("q.csv"));
        assert_eq!(command, "nandle sweep 'my disk' --block-sizes 2K,4K --rate=5 --resume q.csv");
        let again = ["sweep", ".", "--resume=q.csv"];
        let command = command_to_resume(again.into_iter().map(Into::into), Path::new("q.csv"));
        assert_eq!(command, "nandle sweep . --resume q.csv");
    }
}
