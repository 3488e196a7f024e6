//! Start of a connection.

use std::fmt::Debug;
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use futures_util::sink::Sink;
use pgwire::api::auth::{
    DefaultServerParameterProvider, StartupHandler, finish_authentication, protocol_negotiation,
    save_startup_parameters_to_metadata,
};
use pgwire::api::{
    ClientInfo, ConnectionManager, METADATA_APPLICATION_NAME, PidSecretKeyGenerator as _,
    RandomPidSecretKeyGenerator,
};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};

use super::client::Client;
use super::errors;
use super::settings::constant;

/// Connection numbers, which psql shows as process ids.
static NUMBERS: LazyLock<RandomPidSecretKeyGenerator> = LazyLock::new(RandomPidSecretKeyGenerator::default);

/// Accepts any user and database within the connection limit: only local programs can connect.
pub(super) struct Startup {
    pub(super) client: Arc<Client>,
    pub(super) manager: Arc<ConnectionManager>,
}

#[async_trait]
impl StartupHandler for Startup {
    async fn on_startup<C>(&self, client: &mut C, message: PgWireFrontendMessage) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let PgWireFrontendMessage::Startup(startup) = message else { return Ok(()) };
        if !self.client.has_place() {
            return Err(errors::too_many_clients());
        }
        protocol_negotiation(client, &startup).await?;
        save_startup_parameters_to_metadata(client, &startup);
        if let Some(name) = client.metadata().get(METADATA_APPLICATION_NAME) {
            self.client.name(name);
        }
        let (pid, secret) = NUMBERS.generate(client);
        client.set_pid_and_secret_key(pid, secret.clone());
        self.client.register(self.manager.register(pid, secret));
        finish_authentication(client, &parameters()).await
    }
}

/// Server parameters reported to the client.
fn parameters() -> DefaultServerParameterProvider {
    let mut parameters = DefaultServerParameterProvider::default();
    constant("server_version").clone_into(&mut parameters.server_version);
    constant("timezone").clone_into(&mut parameters.time_zone);
    parameters.is_superuser = false;
    parameters.default_transaction_read_only = true;
    parameters
}
