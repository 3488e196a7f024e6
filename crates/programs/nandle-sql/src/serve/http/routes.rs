use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, PoisonError, RwLock};

use axum::Router;
use axum::http::Uri;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use nandle_dashboard::{Facts, missing_columns};
use nandle_engine::{EngineError, Sessions, View};
use nandle_terminal::Failure;
use tokio::sync::watch;
use tower_http::compression::CompressionLayer;

use super::current::Current;
use super::devices::Devices;
use super::problem::Problem;
use super::query::Runs;
use super::sums::MadeSums;
use super::token::Token;
use super::{api, events, guard, openapi, page};
use crate::error::of_engine;
use crate::serve::limits::Limits;

/// Shared state of the dashboard's requests.
pub(in crate::serve) struct Dashboard {
    sessions: Arc<Sessions>,
    limits: Arc<Limits>,
    devices: Arc<Devices>,
    /// Name of the table in the engine.
    table: String,
    facts: Facts,
    token: Option<Token>,
    /// Hash of the table's name and facts.
    salt: u64,
    current: RwLock<Arc<Current>>,
    versions: watch::Sender<String>,
}

impl Dashboard {
    /// Uses the first table with the columns of flights.
    pub(in crate::serve) fn new(
        (sessions, limits): (Arc<Sessions>, Arc<Limits>),
        devices: Arc<Devices>,
        tables: &[String],
        facts: Facts,
        token: Option<Token>,
    ) -> Result<Self, Failure> {
        let mut refusals = Vec::new();
        for table in tables {
            let view = sessions.view(table).map_err(|error| of_engine(&error))?;
            let missing = missing_columns(view.schema());
            if missing.is_empty() {
                let version = view.version().to_string();
                let shared = (Arc::clone(&limits), Arc::clone(&devices));
                let current = RwLock::new(Arc::new(Current::new(runs(view, table, shared), table)));
                let (salt, versions) = (salt(table, &facts), watch::Sender::new(version));
                let table = table.clone();
                return Ok(Self { sessions, limits, devices, table, facts, token, salt, current, versions });
            }
            refusals.push(format!("{table} has no {}", missing.join(", ")));
        }
        let refusals =
            if refusals.is_empty() { "no table was named".to_owned() } else { refusals.join("; ") };
        Err(Failure::usage(format!(
            "the dashboard needs a table of flights: {refusals}. Load one with `nandle table load`, or serve SQL alone: --pg 127.0.0.1:5433"
        )))
    }

    /// Checks for a new version of the table and switches to it. Returns true if there was one.
    /// Blocks the thread.
    pub(super) fn renew(&self) -> Result<bool, EngineError> {
        if self.sessions.version(&self.table)?.to_string() == *self.versions.borrow() {
            return Ok(false);
        }
        let view = self.sessions.view(&self.table)?;
        let version = view.version().to_string();
        let shared = (Arc::clone(&self.limits), Arc::clone(&self.devices));
        let current = Arc::new(Current::new(runs(view, &self.table, shared), &self.table));
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = current;
        self.versions.send_replace(version);
        Ok(true)
    }

    pub(super) fn current(&self) -> Arc<Current> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn versions(&self) -> watch::Receiver<String> {
        self.versions.subscribe()
    }

    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Hash of everything besides rows and parameters that answers depend on.
    pub(super) fn salt(&self) -> (u64, u64) {
        (self.salt, self.devices.number())
    }

    pub(super) fn devices(&self) -> &Devices {
        &self.devices
    }

    pub(super) fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }
}

/// Stable between runs of this program version with the same arguments.
fn salt(table: &str, facts: &Facts) -> u64 {
    let mut hasher = DefaultHasher::new();
    (env!("CARGO_PKG_VERSION"), table, facts).hash(&mut hasher);
    hasher.finish()
}

/// Environment for statements on a version of the table.
fn runs(view: View, table: &str, (limits, devices): (Arc<Limits>, Arc<Devices>)) -> Runs {
    Runs { view: Arc::new(view), sums: Arc::new(MadeSums::of(table)), limits, devices }
}

/// All routes.
pub(super) fn routes(dashboard: Arc<Dashboard>) -> Router {
    let api = Router::new()
        .route("/overview", get(api::overview))
        .route("/airports", get(api::airports))
        .route("/similar", get(api::similar))
        .route("/headline", get(api::headline))
        .route("/series", get(api::series))
        .route("/ranking", get(api::ranking))
        .route("/airlines", get(api::airlines))
        .route("/pairs", get(api::pairs))
        .route("/pair", get(api::pair))
        .route("/sums", get(api::sums))
        .route("/devices", get(api::devices))
        .route("/events", get(events::events))
        .route("/openapi.json", get(openapi::document));
    Router::new()
        .nest("/api/v1", api)
        .route("/", get(page::file))
        .route("/assets/{*file}", get(page::file))
        .route(guard::SESSION, post(page::session))
        .fallback(async || Problem::not_found())
        .method_not_allowed_fallback(async |uri: Uri| Problem::wrong_method(uri.path() == guard::SESSION))
        .layer(CompressionLayer::new())
        .layer(from_fn_with_state(Arc::clone(&dashboard), guard::guard))
        .with_state(dashboard)
}
