//! Extended query protocol: statements that are parsed, described, bound and executed separately,
//! as drivers' prepared statements are.

use std::fmt::Debug;
use std::sync::Arc;

use arrow_pg::datatypes::df::deserialize_parameters;
use arrow_schema::DataType;
use async_trait::async_trait;
use futures_util::sink::{Sink, SinkExt as _};
use nandle_engine::{Command, Prepared, Request};
use pgwire::api::portal::Portal;
use pgwire::api::query::{ExtendedQueryHandler, send_describe_response};
use pgwire::api::results::{DescribePortalResponse, Response, Tag};
use pgwire::api::stmt::StoredStatement;
use pgwire::api::store::{Entry, PortalStore};
use pgwire::api::{ClientInfo, ClientPortalStore, DEFAULT_NAME, PgWireConnectionState};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::extendedquery::{
    Bind, BindComplete, Close, CloseComplete, Describe, Execute, Parse, ParseComplete, PortalSuspended,
    Sync as SyncMessage, TARGET_TYPE_BYTE_PORTAL,
};
use pgwire::messages::response::{EmptyQueryResponse, ReadyForQuery, TransactionStatus};

use super::answers::Answer;
use super::client::{Client, Open};
use super::errors;
use super::parsed::Parsed;
use super::rows::{self, fields};
use super::simple::complete;

/// Handler of these messages for a client.
pub(super) struct Extended(pub(super) Arc<Client>);

#[async_trait]
impl ExtendedQueryHandler for Extended {
    type Statement = Parsed;
    type QueryParser = Client;

    fn query_parser(&self) -> Arc<Client> {
        Arc::clone(&self.0)
    }

    async fn on_parse<C>(&self, client: &mut C, message: Parse) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Parsed>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let name = message.name.clone().unwrap_or_else(|| DEFAULT_NAME.to_owned());
        // A failed parse also removes the old statement of that name.
        client.portal_store().rm_statement(&name);
        self.0.texts().remove(&name);
        self.0.texts().add(&name, &message.query)?;
        let parsed = StoredStatement::parse(client, &message, self.query_parser()).await;
        match parsed.inspect_err(|_| self.0.texts().remove(&name))? {
            Some(statement) => client.portal_store().put_statement(Arc::new(statement)),
            None => client.portal_store().put_empty_statement(&name),
        }
        client.send(PgWireBackendMessage::ParseComplete(ParseComplete::new())).await?;
        Ok(())
    }

    async fn on_bind<C>(&self, client: &mut C, message: Bind) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Parsed>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let name = message.portal_name.as_deref().unwrap_or(DEFAULT_NAME);
        let statement_name = message.statement_name.as_deref().unwrap_or(DEFAULT_NAME);
        drop(self.0.open().remove(name));
        match client.portal_store().get_statement(statement_name) {
            Some(Entry::Value(statement)) => {
                check_bound(&message, &statement.statement)?;
                client.portal_store().put_portal(Arc::new(Portal::try_new(&message, statement)?));
            }
            Some(Entry::Empty) => client.portal_store().put_empty_portal(name),
            None => return Err(PgWireError::StatementNotFound(statement_name.to_owned())),
        }
        client.send(PgWireBackendMessage::BindComplete(BindComplete::new())).await?;
        Ok(())
    }

    async fn on_describe<C>(&self, client: &mut C, message: Describe) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Parsed>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        // A cursor is a portal without a Bind message.
        let name = message.name.as_deref().unwrap_or(DEFAULT_NAME);
        let is_portal = message.target_type == TARGET_TYPE_BYTE_PORTAL;
        if is_portal && client.portal_store().get_portal(name).is_none() {
            let fields = self.0.fields_of(name)?.to_vec();
            return send_describe_response(client, &DescribePortalResponse::new(fields)).await;
        }
        self._on_describe(client, message).await
    }

    async fn do_describe_portal<C>(
        &self,
        _client: &mut C,
        portal: &Portal<Parsed>,
    ) -> PgWireResult<DescribePortalResponse>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Parsed>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let bound = self.0.bound(portal).await?;
        let request = Arc::clone(&portal.statement.statement.request);
        let parsed = Parsed { request, prepared: bound };
        let fields = pgwire::api::stmt::QueryParser::get_result_schema(
            &*self.0,
            &parsed,
            Some(&portal.result_column_format),
        )?;
        Ok(DescribePortalResponse::new(fields))
    }

    async fn on_execute<C>(&self, client: &mut C, message: Execute) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Parsed>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let name = message.name.as_deref().unwrap_or(DEFAULT_NAME);
        let portal = match client.portal_store().get_portal(name) {
            Some(Entry::Value(portal)) => portal,
            Some(Entry::Empty) => {
                client.feed(PgWireBackendMessage::EmptyQueryResponse(EmptyQueryResponse::new())).await?;
                return Ok(());
            }
            None => return Err(PgWireError::PortalNotFound(name.to_owned())),
        };
        // Zero means all.
        let most = usize::try_from(message.max_rows).ok().filter(|rows| *rows > 0);
        client.set_state(PgWireConnectionState::QueryInProgress);
        self.0.cancellable(Box::pin(self.0.execute(client, &portal, most))).await?;
        client.set_state(PgWireConnectionState::ReadyForQuery);
        Ok(())
    }

    async fn on_sync<C>(&self, client: &mut C, _message: SyncMessage) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Parsed>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let status = client.transaction_status();
        // Outside an explicit transaction, Sync ends one.
        if matches!(status, TransactionStatus::Idle) {
            client.portal_store().clear_portals();
            self.0.end_transaction();
        }
        client.send(PgWireBackendMessage::ReadyForQuery(ReadyForQuery::new(status))).await?;
        Ok(())
    }

    async fn on_close<C>(&self, client: &mut C, message: Close) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Parsed>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let name = message.name.as_deref().unwrap_or(DEFAULT_NAME);
        if message.target_type == TARGET_TYPE_BYTE_PORTAL {
            drop(self.0.open().remove(name));
            client.portal_store().rm_portal(name);
        } else {
            client.portal_store().rm_statement(name);
            self.0.texts().remove(name);
        }
        client.send(PgWireBackendMessage::CloseComplete(CloseComplete::new())).await?;
        Ok(())
    }

    async fn do_query<C>(
        &self,
        _client: &mut C,
        _portal: &Portal<Parsed>,
        _max_rows: usize,
    ) -> PgWireResult<Response>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Parsed>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        unreachable!("on_execute answers by itself, because rows are sent as they come")
    }
}

/// Checks that the numbers of values and formats match the parameters.
fn check_bound(message: &Bind, parsed: &Parsed) -> PgWireResult<()> {
    let (values, formats) = (message.parameters.len(), message.parameter_format_codes.len());
    let wanted = parsed.prepared.as_ref().map_or(0, |prepared| prepared.parameters().len());
    let broken = |what: String| Err(errors::with_code("08P01", what));
    if values != wanted {
        return broken(format!("{values} values were bound, and the statement has {wanted} parameters"));
    }
    if formats > 1 && formats != values {
        return broken(format!("{formats} formats came for {values} values"));
    }
    Ok(())
}

impl Client {
    /// A portal's statement with its values.
    async fn bound(&self, portal: &Portal<Parsed>) -> PgWireResult<Option<Arc<Prepared>>> {
        let Some(prepared) = &portal.statement.statement.prepared else { return Ok(None) };
        if prepared.parameters().is_empty() {
            return Ok(Some(Arc::clone(prepared)));
        }
        // A parameter of unknown type is a text, as in PostgreSQL.
        let given = |place: usize| portal.statement.parameter_types.get(place).is_some_and(Option::is_some);
        let parameters = prepared.parameters().iter().enumerate();
        let types = parameters.map(|(place, known)| match known {
            Some(known) => Some(known),
            None if given(place) => None,
            None => Some(&DataType::Utf8),
        });
        let values = deserialize_parameters(portal, &types.collect::<Vec<_>>())?;
        let bound = self.limits.prepare(self.engine.bind(prepared, values)).await;
        Ok(Some(Arc::new(bound.map_err(|ended| errors::of_ended(&ended))?)))
    }

    /// Sends up to `most` rows of a portal; starts it if needed.
    async fn execute<C>(
        &self,
        client: &mut C,
        portal: &Portal<Parsed>,
        most: Option<usize>,
    ) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        // On failure or cancellation it isn't put back, and has thus ended.
        let open = self.open().remove(&portal.name);
        let open = match open {
            Some(open) => open,
            None => match self.executed(portal, client.transaction_status()).await? {
                Answer::Rows(source, fields) => Open::Rows(source, fields),
                answer => {
                    if let Request::Command(command) = &*portal.statement.statement.request {
                        self.forget(client, command);
                    }
                    return self.send_short(client, answer, &portal.result_column_format).await;
                }
            },
        };
        let Open::Rows(mut source, fields) = open else {
            self.open().insert(portal.name.clone(), Open::Finished);
            return complete(client, Tag::new("SELECT").with_rows(0)).await;
        };
        let sent = rows::send(client, &mut source, &fields, most).await?;
        if sent.is_all {
            self.open().insert(portal.name.clone(), Open::Finished);
            return complete(client, Tag::new("SELECT").with_rows(sent.rows)).await;
        }
        self.open().insert(portal.name.clone(), Open::Rows(source, fields));
        client.feed(PgWireBackendMessage::PortalSuspended(PortalSuspended::new())).await?;
        Ok(())
    }

    async fn executed(&self, portal: &Portal<Parsed>, status: TransactionStatus) -> PgWireResult<Answer> {
        let request = &portal.statement.statement.request;
        Self::check(request, status)?;
        let Some(bound) = self.bound(portal).await? else {
            let Request::Command(command) = &**request else {
                unreachable!("a statement for the engine was planned when it was parsed")
            };
            return self.command(command, status);
        };
        let source = self.query(self.engine.start(&bound)).await?;
        if let Request::Command(command @ Command::Declare { name, .. }) = &**request {
            self.declare(name, source)?;
            return self.command(command, status);
        }
        let fields = fields(source.schema(), &portal.result_column_format)?;
        Ok(Answer::Rows(source, fields))
    }
}
