//! Safe display of text from users, devices and foreign profiles.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes a text for display in one line. Control characters, line ends and direction marks become
/// escapes (`\u{1b}`). So a name can't control the terminal, start a new line or reorder the text
/// after it.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(disturbs) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().fold(String::with_capacity(text.len()), |mut shown, letter| {
        if disturbs(letter) {
            let _ = write!(shown, "{}", letter.escape_unicode());
        } else {
            shown.push(letter);
        }
        shown
    }))
}

/// Returns true if a letter affects the text around it: control characters, line separators and
/// direction marks (Unicode Standard Annex 9).
pub fn disturbs(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}' | '\u{2029}')
        || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escaped("a\u{202e}b\u{2069}\nc"), "a\\u{202e}b\\u{2069}\\u{a}c");
        assert_eq!(escaped("\u{1b}]0;owned\u{7}\u{9b}31m"), "\\u{1b}]0;owned\\u{7}\\u{9b}31m");
        assert!(matches!(escaped("محرك INTEL"), Cow::Borrowed("محرك INTEL")));
    }
}
