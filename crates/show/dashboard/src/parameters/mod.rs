//! What an address says behind its question mark. Everything in it is a name that is known, once, with a value of its type; anything else is an error.

mod encoding;
mod typed;

use std::collections::BTreeMap;

pub(crate) use encoding::encode;
pub(crate) use typed::choice;

/// More than any view has.
const QUERY_BYTES_MAX: usize = 2048;
/// Longer values no parameter has.
const VALUE_BYTES_MAX: usize = 256;

/// What an address says, as far as it wasn't taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters(BTreeMap<String, String>);

/// Why an address isn't understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// The whole is too long.
    #[error("the query has {bytes} bytes, and {QUERY_BYTES_MAX} is the most")]
    QueryTooLong {
        /// How long it is.
        bytes: usize,
    },
    /// A name or value isn't percent-encoded UTF-8.
    #[error("part {part} of the query isn't percent-encoded UTF-8")]
    Encoding {
        /// Which, from 1 on.
        part: usize,
    },
    /// A value is too long.
    #[error("{name} has {bytes} bytes, and {VALUE_BYTES_MAX} is the most")]
    TooLong {
        /// The parameter.
        name: String,
        /// How long its value is.
        bytes: usize,
    },
    /// It is there twice.
    #[error("{name} is there more than once; name it once")]
    Doubled {
        /// The parameter.
        name: String,
    },
    /// It isn't there.
    #[error("{name} is missing; expected {expected}")]
    Missing {
        /// The parameter.
        name: &'static str,
        /// What its value is like.
        expected: String,
    },
    /// It isn't what it should be.
    #[error("`{name}`: expected {expected}")]
    Invalid {
        /// The parameter.
        name: &'static str,
        /// What its value is like.
        expected: String,
    },
    /// There is no such parameter here.
    #[error("there is no parameter of that name here; those that there are: {known}")]
    Unknown {
        /// Its name, cut where it is long.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// Two don't go together.
    #[error("{name} and {other} don't go together; name one of them")]
    Together {
        /// One.
        name: &'static str,
        /// The other.
        other: &'static str,
    },
}

impl ParameterError {
    /// The parameter that it is about, where it is about one.
    pub fn parameter(&self) -> Option<&str> {
        match self {
            Self::QueryTooLong { .. } | Self::Encoding { .. } => None,
            Self::TooLong { name, .. } | Self::Doubled { name } | Self::Unknown { name, .. } => Some(name),
            Self::Missing { name, .. } | Self::Invalid { name, .. } | Self::Together { name, .. } => {
                Some(name)
            }
        }
    }
}

impl Parameters {
    /// What stands behind an address's question mark.
    ///
    /// # Errors
    /// It is too long, isn't percent-encoded UTF-8, or names something twice.
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
                return Err(ParameterError::Doubled { name: shown(&name) });
            }
        }
        Ok(Self(all))
    }

    /// Takes a value, if there is one.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<String> {
        self.0.remove(name)
    }

    /// `token`, of a form in which there is nothing else.
    pub fn token(mut self) -> Option<String> {
        let token = self.take("token");
        token.filter(|_| self.0.is_empty())
    }

    /// Sees that nothing is left; `known` are the parameters that there are.
    ///
    /// # Errors
    /// Something is left.
    pub fn finish(self, known: &[&str]) -> Result<(), ParameterError> {
        match self.0.into_keys().next() {
            None => Ok(()),
            Some(name) => Err(ParameterError::Unknown { name: shown(&name), known: known.join(", ") }),
        }
    }
}

/// A name from outside, as messages have it.
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
    fn what_is_wrong_is_refused() {
        let refusal = |query: &str| Parameters::parse(query).unwrap_err();
        assert_eq!(refusal("a=1&a=1"), ParameterError::Doubled { name: "a".to_owned() });
        assert_eq!(refusal("a=1&%61=2"), ParameterError::Doubled { name: "a".to_owned() });
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
