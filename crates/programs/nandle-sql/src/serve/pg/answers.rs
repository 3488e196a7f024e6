//! Answers statements of either query protocol.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use nandle_engine::{Command, EngineError, Prepared, Request, Rows, Statement};
use pgwire::api::portal::Format;
use pgwire::api::results::{DataRowEncoder, FieldInfo, Tag};
use pgwire::error::PgWireResult;
use pgwire::messages::data::DataRow;
use pgwire::messages::response::TransactionStatus;

use super::client::{Client, Open};
use super::errors;
use super::rows::{RowSource, fields};

/// Bound on a client's open portals and cursors, since its queries share one slot.
const OPEN_MOST: usize = 16;

/// Response to a statement.
pub(super) enum Answer {
    Rows(RowSource, Arc<Vec<FieldInfo>>),
    /// A row produced by the session itself.
    Row(DataRow, Arc<Vec<FieldInfo>>),
    /// The next rows of a cursor: the given number or all.
    Fetch(String, Option<usize>),
    /// Completion of a command.
    Done(Tag),
    /// Completion of a command that changed the transaction status.
    Changed(Tag, TransactionStatus),
}

impl Client {
    /// Checks that a statement is allowed in this transaction status.
    pub(super) fn check(request: &Request, status: TransactionStatus) -> PgWireResult<()> {
        let ends = matches!(request, Request::Command(Command::Commit | Command::Rollback { .. }));
        if matches!(status, TransactionStatus::Error) && !ends {
            let message = "the transaction has failed, so statements are ignored until ROLLBACK";
            return Err(errors::with_code("25P02", message));
        }
        Ok(())
    }

    pub(super) async fn query(
        &self,
        start: impl Future<Output = Result<Rows, EngineError>>,
    ) -> PgWireResult<RowSource> {
        let open = self.open().values().filter(|open| matches!(open, Open::Rows(..))).count();
        if open >= OPEN_MOST {
            let message = format!(
                "{open} cursors and portals of this connection have rows left, which is the most; close some, or read them to their end"
            );
            return Err(errors::with_code(errors::PROGRAM_LIMIT, message));
        }
        let timeout = self.settings().statement_timeout();
        let batches = self.limits.run(&self.query_place, timeout, start).await;
        Ok(RowSource::new(batches.map_err(|ended| errors::of_ended(&ended))?))
    }

    /// Plans and starts a statement without parameters.
    pub(super) async fn query_of(&self, statement: &Statement) -> PgWireResult<RowSource> {
        let prepared = self.prepare(statement).await?;
        self.query(self.engine.start(&prepared)).await
    }

    /// Plans a statement, within the time limit of a query.
    pub(super) async fn prepare(&self, statement: &Statement) -> PgWireResult<Prepared> {
        let prepared = self.limits.prepare(self.engine.prepare(statement)).await;
        prepared.map_err(|ended| errors::of_ended(&ended))
    }

    /// Executes a session command.
    pub(super) fn command(&self, command: &Command, status: TransactionStatus) -> PgWireResult<Answer> {
        let done = |tag: &str| Ok(Answer::Done(Tag::new(tag)));
        match command {
            Command::Begin => Ok(Answer::Changed(Tag::new("BEGIN"), TransactionStatus::Transaction)),
            Command::Commit => {
                let failed = matches!(status, TransactionStatus::Error);
                self.end_transaction();
                let tag = if failed { "ROLLBACK" } else { "COMMIT" };
                Ok(Answer::Changed(Tag::new(tag), TransactionStatus::Idle))
            }
            Command::Rollback { is_to_savepoint } => {
                let is_inside = *is_to_savepoint && !matches!(status, TransactionStatus::Idle);
                if !is_inside {
                    self.end_transaction();
                }
                let status = if is_inside { TransactionStatus::Transaction } else { TransactionStatus::Idle };
                Ok(Answer::Changed(Tag::new("ROLLBACK"), status))
            }
            Command::Savepoint => done("SAVEPOINT"),
            Command::Release => done("RELEASE"),
            Command::Set { name, value } => {
                self.set(name, value.as_deref())?;
                done("SET")
            }
            Command::Reset { name } => {
                name.as_ref().map_or_else(|| self.reset(), |name| self.set(name, None))?;
                done("RESET")
            }
            Command::Show { name, .. } => self.shown(name),
            Command::Declare { .. } => done("DECLARE CURSOR"),
            Command::Fetch { name, rows } => {
                let rows = rows.map(|rows| usize::try_from(rows).unwrap_or(usize::MAX));
                Ok(Answer::Fetch(name.clone(), rows))
            }
            Command::Close { name } => {
                name.as_ref().map_or_else(|| self.open().clear(), |name| drop(self.open().remove(name)));
                done("CLOSE CURSOR")
            }
            Command::Deallocate { name } => {
                done(if name.is_some() { "DEALLOCATE" } else { "DEALLOCATE ALL" })
            }
            Command::Discard => {
                self.end_transaction();
                self.reset()?;
                done("DISCARD ALL")
            }
            Command::Unlisten => done("UNLISTEN"),
        }
    }

    /// Closes portals and cursors, which end with their transaction.
    pub(super) fn end_transaction(&self) {
        self.open().clear();
    }

    pub(super) fn declare(&self, name: &str, source: RowSource) -> PgWireResult<()> {
        let fields = fields(source.schema(), &Format::UnifiedText)?;
        self.open().insert(name.to_owned(), Open::Rows(source, fields));
        Ok(())
    }

    fn shown(&self, name: &str) -> PgWireResult<Answer> {
        let value = self.show(name).ok_or_else(|| {
            errors::with_code("42704", format!("there is no setting {name}; SHOW ALL lists the engine's"))
        })?;
        let fields = shown_fields(name)?;
        let mut row = DataRowEncoder::new(Arc::clone(&fields));
        row.encode_field(&value)?;
        Ok(Answer::Row(row.take_row(), fields))
    }
}

/// Column of a SHOW.
pub(super) fn shown_fields(name: &str) -> PgWireResult<Arc<Vec<FieldInfo>>> {
    let column = Field::new(name.replace('.', "_"), DataType::Utf8, false);
    fields(&Schema::new(vec![column]), &Format::UnifiedText)
}
