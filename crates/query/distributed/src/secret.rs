use std::sync::Arc;

/// Shorter secrets can be guessed.
const LENGTH_MIN: usize = 16;

/// Shared secret of all parties that may run queries.
#[derive(Clone)]
pub struct Secret(Arc<str>);

/// Error for an invalid secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a secret is one line of at least {LENGTH_MIN} visible characters of ASCII, as `openssl rand -hex 32` writes one; this one {what}"
)]
pub struct SecretError {
    what: &'static str,
}

impl Secret {
    /// Creates a secret from a file's text, without surrounding white space.
    ///
    /// # Errors
    /// It is too short, or contains characters that a header can't.
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

    /// Value of the request header.
    pub(crate) fn to_header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Returns true if a header matches, in constant time.
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
