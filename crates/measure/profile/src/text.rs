//! Text that users, devices and other people's profiles give, made safe to show.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text as it may be shown in one line, wherever it comes from: control characters, line ends among them, and letters that
/// turn the direction of the text around stand there as escapes (`\u{1b}`), so that a name can neither steer a terminal
/// nor begin a line of its own nor rewrite what follows it.
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

/// Whether a letter does something to what stands around it: control characters, separators of lines, and marks of
/// direction (Unicode Standard Annex 9).
pub fn disturbs(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}' | '\u{2029}')
        || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_disturbs_stands_there_as_an_escape() {
        assert_eq!(escaped("a\u{202e}b\u{2069}\nc"), "a\\u{202e}b\\u{2069}\\u{a}c");
        assert_eq!(escaped("\u{1b}]0;owned\u{7}\u{9b}31m"), "\\u{1b}]0;owned\\u{7}\\u{9b}31m");
        assert!(matches!(escaped("محرك INTEL"), Cow::Borrowed("محرك INTEL")));
    }
}
