//! Query string of an address. Each parameter must be known, unique and valid; anything else is an
//! error.

mod encoding;
mod typed;

use std::collections::BTreeMap;

pub(crate) use encoding::encode;
pub(crate) use typed::choice;

/// Greatest length of a query string.
const QUERY_BYTES_MAX: usize = 2048;
/// Greatest length of a value.
const VALUE_BYTES_MAX: usize = 256;

/// Parameters that weren't taken yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters(BTreeMap<String, String>);

/// Reason for rejecting an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// The query string is too long.
    #[error("the query has {bytes} bytes; at most {QUERY_BYTES_MAX} are allowed")]
    QueryTooLong {
        /// Length.
        bytes: usize,
    },
    /// A name or value isn't percent-encoded UTF-8.
    #[error("part {part} of the query isn't percent-encoded UTF-8")]
    Encoding {
        /// Position, from 1.
        part: usize,
    },
    /// A value is too long.
    #[error("{name} has {bytes} bytes; at most {VALUE_BYTES_MAX} are allowed")]
    TooLong {
        /// Parameter.
        name: String,
        /// Length of the value.
        bytes: usize,
    },
    /// A parameter occurs twice.
    #[error("{name} occurs more than once; give it once")]
    Duplicate {
        /// Parameter.
        name: String,
    },
    /// A parameter is missing.
    #[error("{name} is missing; expected {expected}")]
    Missing {
        /// Parameter.
        name: &'static str,
        /// Description of a valid value.
        expected: String,
    },
    /// A value is invalid.
    #[error("`{name}`: expected {expected}")]
    Invalid {
        /// Parameter.
        name: &'static str,
        /// Description of a valid value.
        expected: String,
    },
    /// The parameter is unknown.
    #[error("unknown parameter; the known ones are: {known}")]
    Unknown {
        /// Name, truncated if it is long.
        name: String,
        /// Known parameters.
        known: String,
    },
    /// Two parameters exclude each other.
    #[error("{name} and {other} exclude each other; give one of them")]
    Exclusive {
        /// One parameter.
        name: &'static str,
        /// Other parameter.
        other: &'static str,
    },
}

impl ParameterError {
    /// Parameter that the error is about, if any.
    pub fn parameter(&self) -> Option<&str> {
        match self {
            Self::QueryTooLong { .. } | Self::Encoding { .. } => None,
            Self::TooLong { name, .. } | Self::Duplicate { name } | Self::Unknown { name, .. } => Some(name),
            Self::Missing { name, .. } | Self::Invalid { name, .. } | Self::Exclusive { name, .. } => {
                Some(name)
            }
        }
    }
}

impl Parameters {
    /// Parses the query string of an address.
    ///
    /// # Errors
    /// It is too long, isn't percent-encoded UTF-8, or repeats a parameter.
    pub fn parse(query: &str) -> Result<Self, ParameterError> {
        if query.len() > QUERY_BYTES_MAX {
            return Err(ParameterError::QueryTooLong { bytes: query.len() });
        }
        let mut all = BTreeMap::new();
        let parts = query.split('&').enumerate().filter(|(_, part)| !part.is_empty());
        for (place, part) in parts {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let decode = |text| encoding::decode(text).ok_or(ParameterError::Encoding { part: place + 1 });
            let (name, value) = (decode(name)?, decode(value)?);
            if value.len() > VALUE_BYTES_MAX {
                return Err(ParameterError::TooLong { bytes: value.len(), name: shown(&name) });
            }
            if all.insert(name.clone(), value).is_some() {
                return Err(ParameterError::Duplicate { name: shown(&name) });
            }
        }
        Ok(Self(all))
    }

    /// Takes a value, if present.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<String> {
        self.0.remove(name)
    }

    /// Takes `token`, the only parameter of its form.
    pub fn token(mut self) -> Option<String> {
        let token = self.take("token");
        token.filter(|_| self.0.is_empty())
    }

    /// Checks that no parameter is left; `known` are the valid ones.
    ///
    /// # Errors
    /// A parameter is left.
    pub fn finish(self, known: &[&str]) -> Result<(), ParameterError> {
        match self.0.into_keys().next() {
            None => Ok(()),
            Some(name) => Err(ParameterError::Unknown { name: shown(&name), known: known.join(", ") }),
        }
    }
}

/// External name for messages.
fn shown(name: &str) -> String {
    const LETTERS: usize = 40;
    let mut shown: String = name.chars().take(LETTERS).flat_map(char::escape_debug).collect();
    if name.chars().count() > LETTERS {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_decoded() {
        let mut parameters = Parameters::parse("a=1&b=x%2Cy%20z+w&&c").unwrap();
        assert_eq!(parameters.take("b").as_deref(), Some("x,y z w"));
        assert_eq!(parameters.take("c").as_deref(), Some(""));
        assert_eq!(parameters.take("d"), None);
        let left = parameters.finish(&["b", "c"]).unwrap_err();
        assert_eq!(left.parameter(), Some("a"));
    }

    #[test]
    fn invalid_queries_are_refused() {
        let refusal = |query: &str| Parameters::parse(query).unwrap_err();
        assert_eq!(refusal("a=1&a=1"), ParameterError::Duplicate { name: "a".to_owned() });
        assert_eq!(refusal("a=1&%61=2"), ParameterError::Duplicate { name: "a".to_owned() });
        assert_eq!(refusal("b=1&a=%ff"), ParameterError::Encoding { part: 2 });
        for query in ["a=%", "a=%4", "a=%zz", "%c3%28=1", "a=%c3"] {
            assert_eq!(refusal(query), ParameterError::Encoding { part: 1 }, "{query}");
        }
        assert!(matches!(
            refusal(&format!("a={}", "x".repeat(257))),
            ParameterError::TooLong { bytes: 257, .. }
        ));
        assert!(matches!(refusal(&"&".repeat(3000)), ParameterError::QueryTooLong { bytes: 3000 }));
    }
}
