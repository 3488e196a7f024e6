//! Command line that resumes an interrupted sweep.

use std::ffi::OsString;
use std::path::Path;

use nandle_terminal::words::quoted_os;

/// The command line with `--resume` in place of `--output`: the file doesn't store the grid.
pub(super) fn command_to_resume(arguments: impl Iterator<Item = OsString>, path: &Path) -> String {
    let mut words = vec!["nandle".to_owned()];
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        let bytes = argument.as_encoded_bytes();
        let name = bytes.split(|byte| *byte == b'=').next().unwrap_or(bytes);
        match name {
            b"--output" | b"--resume" if name.len() < bytes.len() => {}
            b"--output" | b"--resume" => drop(arguments.next()),
            _ => words.push(quoted_os(&argument)),
        }
    }
    format!("{} --resume {}", words.join(" "), quoted_os(path.as_os_str()))
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
