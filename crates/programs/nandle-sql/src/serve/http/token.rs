//! Secret that admits clients from other machines.

use std::path::Path;

use nandle_terminal::Failure;

/// Shorter tokens can be guessed.
const LETTERS_MIN: usize = 16;
const LETTERS_MAX: usize = 256;

/// A secret of printable characters.
#[derive(Clone)]
pub(in crate::serve) struct Token(String);

impl Token {
    /// Reads the token from the first line of a file.
    pub(in crate::serve) fn read(path: &Path) -> Result<Self, Failure> {
        let read = std::fs::read_to_string(path);
        let text = read.map_err(|error| Failure::failed(format!("reading {}: {error}", path.display())))?;
        Self::new(text.lines().next().unwrap_or_default()).ok_or_else(|| {
            let path = path.display();
            Failure::usage(format!(
                "{path}: its first line is no token of {LETTERS_MIN} to {LETTERS_MAX} letters, digits, `-` and `_`; make one: \
                 head -c 24 /dev/urandom | basenc --base64url > {path}"
            ))
        })
    }

    fn new(text: &str) -> Option<Self> {
        let text = text.trim_end();
        let is_right = (LETTERS_MIN..=LETTERS_MAX).contains(&text.len())
            && text.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"-_".contains(&letter));
        is_right.then(|| Self(text.to_owned()))
    }

    /// Returns true if the tokens are equal. The comparison's duration reveals only their lengths.
    pub(super) fn is(&self, other: &str) -> bool {
        let differences = self.0.bytes().zip(other.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
        self.0.len() == other.len() && std::hint::black_box(differences) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_of_plain_letters() {
        for wrong in ["", "short", "with a space in it", "with;semicolons;in;it", &"x".repeat(257)] {
            assert!(Token::new(wrong).is_none(), "{wrong}");
        }
        let token = Token::new("abcdefghijklmno-_1").unwrap();
        assert!(token.is("abcdefghijklmno-_1"));
        assert!(!token.is("abcdefghijklmno-_2") && !token.is("") && !token.is("abcdefghijklmno-_12"));
    }
}
