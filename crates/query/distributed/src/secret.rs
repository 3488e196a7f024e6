use std::sync::Arc;

/// Shorter ones can be guessed.
const LENGTH_MIN: usize = 16;

/// What only those know who may have queries computed.
#[derive(Clone)]
pub struct Secret(Arc<str>);

/// A text that is no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a secret is one line of at least {LENGTH_MIN} visible characters of ASCII, as `openssl rand -hex 32` writes one; this one {what}"
)]
pub struct SecretError {
    what: &'static str,
}

impl Secret {
    /// Takes a file's text; space around it doesn't count.
    ///
    /// # Errors
    /// It is too short, or has characters that a header can't.
    pub fn new(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SecretError { what: "has others" });
        }
        if text.len() < LENGTH_MIN {
            return Err(SecretError { what: "is shorter" });
        }
        Ok(Self(text.into()))
    }

    /// As the header of a request.
    pub(crate) fn to_header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Whether a header has it. How long that takes doesn't depend on where it differs.
    pub(crate) fn is_in(&self, header: &[u8]) -> bool {
        let expected = self.to_header();
        let differing = expected.bytes().zip(header).fold(0, |found, (one, other)| found | (one ^ other));
        differing == 0 && expected.len() == header.len()
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_long_and_plain_and_compared_whole() {
        let secret = Secret::new(" 0123456789abcdef\n").unwrap();
        assert!(secret.is_in(b"Bearer 0123456789abcdef"));
        for wrong in ["Bearer 0123456789abcdeg", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", ""] {
            assert!(!secret.is_in(wrong.as_bytes()), "{wrong}");
        }
        assert!(!format!("{secret:?}").contains("0123"));
        assert!(Secret::new("short").is_err() && Secret::new("0123456789 abcdef").is_err());
    }
}
