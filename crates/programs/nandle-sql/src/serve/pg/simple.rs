//! Simple query protocol: a text of statements, answered in order.

use std::fmt::Debug;

use async_trait::async_trait;
use futures_util::sink::{Sink, SinkExt as _};
use nandle_engine::{Command, Request};
use pgwire::api::portal::Format;
use pgwire::api::query::{SimpleQueryHandler, send_ready_for_query};
use pgwire::api::results::{FieldInfo, Response, Tag};
use pgwire::api::store::PortalStore;
use pgwire::api::{ClientInfo, ClientPortalStore, PgWireConnectionState};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::data::RowDescription;
use pgwire::messages::response::EmptyQueryResponse;
use pgwire::messages::simplequery::Query;

use super::answers::Answer;
use super::client::{Client, Open};
use super::errors;
use super::rows::{self, fields};

#[async_trait]
impl SimpleQueryHandler for Client {
    async fn on_query<C>(&self, client: &mut C, query: Query) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        client.set_state(PgWireConnectionState::QueryInProgress);
        self.cancellable(Box::pin(self.run_all(client, &query.query))).await?;
        client.set_state(PgWireConnectionState::ReadyForQuery);
        let status = client.transaction_status();
        send_ready_for_query(client, status).await
    }

    async fn do_query<C>(&self, _client: &mut C, _query: &str) -> PgWireResult<Vec<Response>>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        unreachable!("on_query answers by itself, so that one statement ends before the next begins")
    }
}

impl Client {
    async fn run_all<C>(&self, client: &mut C, text: &str) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let requests = self.understand(text).await?;
        if requests.is_empty() {
            client.feed(PgWireBackendMessage::EmptyQueryResponse(EmptyQueryResponse::new())).await?;
        }
        for request in &requests {
            Self::check(request, client.transaction_status())?;
            let answer = self.answer(request, client).await?;
            if let Request::Command(command) = request {
                self.forget(client, command);
            }
            self.send_described(client, answer).await?;
        }
        Ok(())
    }

    async fn answer<C>(&self, request: &Request, client: &C) -> PgWireResult<Answer>
    where
        C: ClientInfo + Sync,
    {
        match request {
            Request::Query(statement) => self.queried(statement).await,
            Request::Command(Command::Show { name, statement }) if self.show(name).is_none() => {
                self.queried(statement).await
            }
            Request::Command(command) => {
                if let Command::Declare { name, query } = command {
                    self.declare(name, self.query_of(query).await?)?;
                }
                self.command(command, client.transaction_status())
            }
        }
    }

    async fn queried(&self, statement: &nandle_engine::Statement) -> PgWireResult<Answer> {
        let source = self.query_of(statement).await?;
        let fields = fields(source.schema(), &Format::UnifiedText)?;
        Ok(Answer::Rows(source, fields))
    }

    /// Sends an answer, preceded by its columns.
    async fn send_described<C>(&self, client: &mut C, answer: Answer) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let fields = match &answer {
            Answer::Rows(_, fields) | Answer::Row(_, fields) => Some(std::sync::Arc::clone(fields)),
            Answer::Fetch(name, _) => Some(self.fields_of(name)?),
            Answer::Done(_) | Answer::Changed(..) => None,
        };
        if let Some(fields) = fields {
            client.feed(PgWireBackendMessage::RowDescription(description(&fields))).await?;
        }
        match answer {
            Answer::Rows(mut source, fields) => {
                let sent = rows::send(client, &mut source, &fields, None).await?;
                complete(client, Tag::new("SELECT").with_rows(sent.rows)).await
            }
            answer => self.send_short(client, answer, &Format::UnifiedText).await,
        }
    }

    /// Sends a command's answer, without columns.
    pub(super) async fn send_short<C>(
        &self,
        client: &mut C,
        answer: Answer,
        format: &Format,
    ) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        match answer {
            Answer::Row(row, _) => {
                client.feed(PgWireBackendMessage::DataRow(row)).await?;
                complete(client, Tag::new("SHOW")).await
            }
            Answer::Fetch(name, most) => self.send_fetched(client, &name, most, format).await,
            Answer::Done(tag) => complete(client, tag).await,
            Answer::Changed(tag, status) => {
                client.set_transaction_status(status);
                complete(client, tag).await
            }
            Answer::Rows(..) => {
                unreachable!("rows of queries are sent by those who know how many are wanted")
            }
        }
    }

    async fn send_fetched<C>(
        &self,
        client: &mut C,
        name: &str,
        most: Option<usize>,
        format: &Format,
    ) -> PgWireResult<()>
    where
        C: Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        // If its rows can't be sent, the cursor is closed.
        let open = self.open().remove(name);
        let Some(Open::Rows(mut source, described)) = open else {
            return Err(no_cursor(name));
        };
        let fields = fields(source.schema(), format)?;
        let sent = rows::send(client, &mut source, &fields, most).await?;
        // At its end it stays open and returns no rows.
        self.open().insert(name.to_owned(), Open::Rows(source, described));
        complete(client, Tag::new("FETCH").with_rows(sent.rows)).await
    }

    /// Columns of a cursor.
    pub(super) fn fields_of(&self, name: &str) -> PgWireResult<std::sync::Arc<Vec<FieldInfo>>> {
        match self.open().get(name) {
            Some(Open::Rows(_, fields)) => Ok(std::sync::Arc::clone(fields)),
            Some(Open::Finished) | None => Err(no_cursor(name)),
        }
    }
}

fn no_cursor(name: &str) -> PgWireError {
    let message = format!("there is no cursor {name}: DECLARE makes one, and it ends with its transaction");
    errors::with_code("34000", message)
}

fn description(fields: &[FieldInfo]) -> RowDescription {
    RowDescription::new(fields.iter().map(Into::into).collect())
}

/// Reports the completion of a statement.
pub(super) async fn complete<C>(client: &mut C, tag: Tag) -> PgWireResult<()>
where
    C: Sink<PgWireBackendMessage> + Unpin,
    PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
{
    client.feed(PgWireBackendMessage::CommandComplete(tag.into())).await?;
    Ok(())
}
