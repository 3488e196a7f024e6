use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use utoipa::ToSchema;

/// Airport code: three capital letters or digits, as in flight records.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, ToSchema)]
#[schema(value_type = String, pattern = "^[A-Z0-9]{3}$", example = "IAH")]
pub struct AirportCode([u8; 3]);

/// The text isn't an airport code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an airport code has three capital letters or digits, such as IAH")]
pub struct NotAnAirport;

impl AirportCode {
    /// Code as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl FromStr for AirportCode {
    type Err = NotAnAirport;

    fn from_str(text: &str) -> Result<Self, NotAnAirport> {
        let code: [u8; 3] = text.as_bytes().try_into().map_err(|_| NotAnAirport)?;
        let is_code = code.iter().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit());
        is_code.then_some(Self(code)).ok_or(NotAnAirport)
    }
}

impl fmt::Display for AirportCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for AirportCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for AirportCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_three_letters_or_digits() {
        for code in ["IAH", "0S9", "ZZZ"] {
            assert_eq!(code.parse::<AirportCode>().unwrap().to_string(), code);
        }
        for wrong in ["", "IA", "IAHX", "iah", "I'H", "IÄ", "I H", "'--"] {
            assert_eq!(wrong.parse::<AirportCode>(), Err(NotAnAirport), "{wrong}");
        }
    }
}
