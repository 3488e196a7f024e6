//! Percent-encoding of query strings.

use std::fmt::Write as _;

/// Decodes `application/x-www-form-urlencoded` (WHATWG URL, §5.1). Returns `None` for anything but
/// percent-encoded UTF-8; unlike the standard it doesn't replace invalid parts.
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

/// Encodes a text so that [`decode`] restores it.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string can't fail.
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
        fn decoding_restores_the_encoded_text(text in ".*") {
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
