//! Session settings. Most can't be changed; setting one to its current value is no error.

use std::time::Duration;

use nandle_engine::SERVER_SETTINGS;
use pgwire::error::PgWireResult;

use super::client::Client;
use super::errors;

/// Settings without effect on reads, which drivers set on connecting.
const WITHOUT_EFFECT: [&str; 11] = [
    "client_min_messages",
    "default_transaction_isolation",
    "extra_float_digits",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
    "jit",
    "lock_timeout",
    "row_security",
    "synchronous_commit",
    "transaction_isolation",
    "work_mem",
];
/// Synonyms of current values.
const SAME: [(&str, &[&str]); 4] = [
    ("client_encoding", &["utf8", "utf-8", "unicode"]),
    ("datestyle", &["iso", "iso, ymd", "iso, mdy", "iso, dmy", "iso,ymd", "iso,mdy", "iso,dmy"]),
    ("timezone", &["utc", "etc/utc", "gmt", "z", "0", "+00", "+00:00"]),
    (
        "search_path",
        &["public", "\"$user\", public", "\"$user\",public", "public, pg_catalog", "pg_catalog, public"],
    ),
];

/// A client's settings.
#[derive(Debug, Default)]
pub(super) struct Settings {
    application_name: String,
    statement_timeout: Option<Duration>,
}

impl Settings {
    /// Time limit set by the client.
    pub(super) fn statement_timeout(&self) -> Option<Duration> {
        self.statement_timeout
    }

    /// Sets the client's application name.
    pub(super) fn name(&mut self, name: &str) {
        self.application_name = name.chars().take(63).collect();
    }
}

/// Value of a constant setting.
pub(super) fn constant(name: &str) -> &'static str {
    let found = SERVER_SETTINGS.iter().find(|(known, _)| *known == name);
    found.map_or("", |(_, value)| value)
}

impl Client {
    /// Value of a setting, if it exists.
    pub(super) fn show(&self, name: &str) -> Option<String> {
        let name = match name {
            "time.zone" => "timezone",
            "transaction.isolation.level" => "transaction_isolation",
            name => name,
        };
        match name {
            "application_name" => Some(self.settings().application_name.clone()),
            "statement_timeout" => {
                Some(self.settings().statement_timeout.map_or("0".to_owned(), milliseconds))
            }
            "nandle.reads" => Some(self.engine.reads().to_string()),
            name => {
                SERVER_SETTINGS.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            }
        }
    }

    /// Changes a setting; without a value restores its default.
    pub(super) fn set(&self, name: &str, value: Option<&str>) -> PgWireResult<()> {
        match name {
            "nandle.reads" => {
                let set = self.engine.set_reads(value.unwrap_or("flexible"));
                return set.map_err(|error| errors::with_code("22023", error.to_string()));
            }
            "application_name" => self.settings().name(value.unwrap_or_default()),
            "statement_timeout" => self.settings().statement_timeout = value.map_or(Ok(None), timeout)?,
            name if WITHOUT_EFFECT.contains(&name) => {}
            name => return value.map_or(Ok(()), |value| check_same(name, value)),
        }
        Ok(())
    }

    /// Restores all defaults.
    pub(super) fn reset(&self) -> PgWireResult<()> {
        self.settings().statement_timeout = None;
        self.set("nandle.reads", None)
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{}ms", time.as_millis())
}

/// Checks that a constant setting has this value.
fn check_same(name: &str, value: &str) -> PgWireResult<()> {
    let Some((_, own)) = SERVER_SETTINGS.iter().find(|(known, _)| *known == name) else {
        return Err(errors::with_code(
            "42501",
            format!(
                "setting {name} isn't allowed here: a client sets nandle.reads, statement_timeout and application_name, and nothing of the server"
            ),
        ));
    };
    let given = value.trim().to_lowercase();
    let same = SAME.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, same)| same);
    if given == own.to_lowercase() || same.contains(&&*given) {
        Ok(())
    } else {
        Err(errors::with_code("0A000", format!("{name} is {own} here and can't be {value}")))
    }
}

/// Parses `5000`, `5s` or `'100 ms'`: milliseconds without a unit; 0 for the server's limit.
fn timeout(text: &str) -> PgWireResult<Option<Duration>> {
    let refused = || {
        errors::with_code(
            "22023",
            format!("statement_timeout: {text} is no time; write milliseconds, or 5s, 2min"),
        )
    };
    let text = text.trim();
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let number: u64 = text.strip_suffix(unit).and_then(|number| number.parse().ok()).ok_or_else(refused)?;
    let milliseconds = match unit.trim() {
        "" | "ms" => 1,
        "s" => 1000,
        "min" => 60_000,
        "h" => 3_600_000,
        _ => return Err(refused()),
    };
    let time = Duration::from_millis(number.saturating_mul(milliseconds));
    Ok((time > Duration::ZERO).then_some(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let of = |text: &str| timeout(text).unwrap();
        assert_eq!(of("250"), Some(Duration::from_millis(250)));
        assert_eq!(of("5s"), Some(Duration::from_secs(5)));
        assert_eq!(of("2 min"), Some(Duration::from_mins(2)));
        assert_eq!(of("0"), None);
        for text in ["", "s", "-1", "5 years"] {
            assert!(timeout(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_so_can_be_set_and_nothing_else() {
        for (name, value) in
            [("client_encoding", "utf-8"), ("timezone", "UTC"), ("datestyle", "ISO"), ("bytea_output", "hex")]
        {
            check_same(name, value).unwrap();
        }
        for (name, value) in [
            ("client_encoding", "LATIN1"),
            ("timezone", "Europe/Berlin"),
            ("datafusion.runtime.memory_limit", "1G"),
        ] {
            assert!(check_same(name, value).unwrap_err().to_string().contains(name));
        }
    }
}
