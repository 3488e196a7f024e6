//! Bound on a connection's prepared statements: a plan takes many times the memory of its text, and
//! no pool accounts for it.

use std::collections::BTreeMap;

use nandle_engine::Command;
use pgwire::api::ClientPortalStore;
use pgwire::api::store::PortalStore;
use pgwire::error::PgWireResult;

use super::client::Client;
use super::errors;

/// Total length of all texts.
const BYTES_MAX: usize = 1 << 20;
/// Least size that a statement counts for.
const BYTES_MIN: usize = 1 << 10;

/// Names of a connection's prepared statements, and the sizes they count for.
#[derive(Debug, Default)]
pub(super) struct PreparedTexts(BTreeMap<String, usize>);

impl PreparedTexts {
    /// Adds or replaces a statement.
    pub(super) fn add(&mut self, name: &str, text: &str) -> PgWireResult<()> {
        let bytes = text.len().max(BYTES_MIN);
        let others = self.0.iter().filter(|(other, _)| *other != name).map(|(_, bytes)| bytes);
        let others: usize = others.sum();
        if others + bytes > BYTES_MAX && others > 0 {
            let message = format!(
                "prepared statements of a connection have {BYTES_MAX} bytes of text at most, {BYTES_MIN} at least each; DEALLOCATE some, or \
                 send statements without a name"
            );
            return Err(errors::with_code(errors::PROGRAM_LIMIT, message));
        }
        self.0.insert(name.to_owned(), bytes);
        Ok(())
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }
}

impl Client {
    /// Forgets the statements that a command deallocates.
    pub(super) fn forget<C>(&self, client: &C, command: &Command)
    where
        C: ClientPortalStore,
        C::PortalStore: PortalStore,
    {
        let forgotten: Vec<String> = match command {
            Command::Deallocate { name: Some(name) } => vec![name.clone()],
            Command::Deallocate { name: None } | Command::Discard => self.texts().0.keys().cloned().collect(),
            _ => return,
        };
        for name in forgotten {
            self.texts().remove(&name);
            client.portal_store().rm_statement(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_keeps_a_mebibyte_of_statements() {
        let mut texts = PreparedTexts::default();
        for number in 0..BYTES_MAX / BYTES_MIN {
            texts.add(&number.to_string(), "SELECT 1").unwrap();
        }
        let refused = texts.add("one more", "SELECT 1").unwrap_err().to_string();
        assert!(refused.contains("DEALLOCATE"), "{refused}");
        texts.add("7", "SELECT 2").unwrap();
        texts.remove("7");
        texts.add("one more", "SELECT 1").unwrap();
        let mut texts = PreparedTexts::default();
        texts.add("", &"x".repeat(BYTES_MAX)).unwrap();
        texts.add("", "SELECT 1").unwrap();
    }
}
