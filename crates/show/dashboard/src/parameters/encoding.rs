//! How texts stand in a query.

use std::fmt::Write as _;

/// A text of `application/x-www-form-urlencoded` (WHATWG URL, §5.1); `None` where it isn't percent-encoded UTF-8. Unlike there, nothing is put in the
/// place of what is wrong.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => (digit(rest.next()?)? << 4) | digit(rest.next()?)?,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// A text that [`decode`] reads as it was.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // A text takes all that is written to it.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn digit(letter: u8) -> Option<u8> {
    let digit = char::from(letter).to_digit(16)?;
    u8::try_from(digit).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_encoded_comes_back(text in ".*") {
            let all: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let decoded = decode(&all);
            prop_assert_eq!(decoded.as_deref(), Some(&*text));
            prop_assert_eq!(decode(&encode(&text)), Some(text));
        }

        #[test]
        fn nothing_panics(text in ".*") {
            let _ = decode(&text);
        }
    }
}
