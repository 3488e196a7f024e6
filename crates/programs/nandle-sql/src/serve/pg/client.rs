use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use nandle_engine::{Request, Session};
use pgwire::api::results::FieldInfo;
use pgwire::api::{ConnectionGuard, ConnectionHandle};
use pgwire::error::{PgWireError, PgWireResult};
use tokio::sync::OwnedSemaphorePermit;

use super::errors;
use super::rows::RowSource;
use super::settings::Settings;
use super::statements::PreparedTexts;
use crate::serve::limits::{ClientPlace, Ended, Limits};

/// A client's settings and partly read queries.
pub(super) struct Client {
    pub(super) engine: Session,
    pub(super) limits: Arc<Limits>,
    settings: Mutex<Settings>,
    open: Mutex<HashMap<String, Open>>,
    texts: Mutex<PreparedTexts>,
    /// Admission slot of its queries.
    pub(super) query_place: ClientPlace,
    /// Slot among the connections.
    place: Option<OwnedSemaphorePermit>,
    /// Handle by which other connections cancel its queries.
    registered: OnceLock<(Arc<ConnectionHandle>, ConnectionGuard)>,
}

/// A portal or cursor that was executed.
pub(super) enum Open {
    /// More rows may follow.
    Rows(RowSource, Arc<Vec<FieldInfo>>),
    /// All rows were sent.
    Finished,
}

impl Client {
    pub(super) fn new(engine: Session, limits: Arc<Limits>, place: Option<OwnedSemaphorePermit>) -> Self {
        let settings = Settings::default();
        Self {
            engine,
            limits,
            settings: Mutex::new(settings),
            open: Mutex::default(),
            texts: Mutex::default(),
            query_place: ClientPlace::default(),
            place,
            registered: OnceLock::new(),
        }
    }

    /// Returns true if the client was within the limit of connections.
    pub(super) fn has_place(&self) -> bool {
        self.place.is_some()
    }

    pub(super) fn name(&self, name: &str) {
        self.settings().name(name);
    }

    pub(super) fn register(&self, registered: (Arc<ConnectionHandle>, ConnectionGuard)) {
        // There is no second startup message.
        let _ = self.registered.set(registered);
    }

    pub(super) fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn open(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn texts(&self) -> MutexGuard<'_, PreparedTexts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parses a client's text.
    pub(super) async fn understand(&self, text: &str) -> PgWireResult<Vec<Request>> {
        self.limits.prepare(self.engine.parse(text)).await.map_err(|ended| match ended {
            Ended::Failed(error) => errors::of_text(text, &error),
            Ended::Full { .. } | Ended::TimedOut(_) => errors::of_ended(&ended),
        })
    }

    /// Runs a future unless the client cancels it.
    pub(super) async fn cancellable<T>(
        &self,
        work: impl Future<Output = PgWireResult<T>>,
    ) -> PgWireResult<T> {
        let Some((handle, _)) = self.registered.get() else { return work.await };
        let asked = handle.start_query().await;
        let cancelled = async {
            // The sender is dropped when the next query starts.
            if asked.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            done = work => done,
            () = cancelled => Err(PgWireError::QueryCanceled),
        }
    }
}
