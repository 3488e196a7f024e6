//! Endpoints under `/api/v1/`.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use nandle_dashboard::questions::{self, QueryContext, QuestionError, RankingView, Search, SeriesView};
use nandle_dashboard::{Answer, ParameterError, Parameters, Runner as _, Selection};
use serde::Serialize;

use super::current::Current;
use super::problem::Problem;
use super::routes::Dashboard;
use crate::serve::limits::Ended;

type Asked<T> = Result<Answer<T>, QuestionError<Arc<Ended>>>;

/// The relevant parts of a request.
struct Request {
    dashboard: Arc<Dashboard>,
    headers: HeaderMap,
    query: String,
}

impl Request {
    fn parameters(&self) -> Result<Parameters, ParameterError> {
        Parameters::parse(&self.query)
    }

    /// Parses an airport and its peers; refuses other parameters.
    fn selection(&self) -> Result<Selection, ParameterError> {
        let mut parameters = self.parameters()?;
        let selection = parameters.selection()?;
        parameters.finish(&Selection::PARAMETERS)?;
        Ok(selection)
    }
}

/// Answers, unless the client's copy is current. The `ETag` is weak, since a query's cost differs
/// between runs.
async fn answer<V, T: Serialize>(
    request: Request,
    view: Result<V, ParameterError>,
    name: &'static str,
    canonical: impl FnOnce(&V) -> String,
    ask: impl AsyncFnOnce(&QueryContext<'_, Current>, &V) -> Asked<T>,
) -> Response {
    let view = match view {
        Ok(view) => view,
        Err(error) => return Problem::of_parameter(&error).into_response(),
    };
    let current = request.dashboard.current();
    let etag = etag(&current.version(), request.dashboard.salt(), name, &canonical(&view));
    if matches(&request.headers, &etag) {
        return (StatusCode::NOT_MODIFIED, head(&etag)).into_response();
    }
    let context = QueryContext { runner: &*current, facts: request.dashboard.facts() };
    match ask(&context, &view).await {
        Ok(answer) => (head(&etag), Json(answer)).into_response(),
        Err(error) => Problem::of_question(&error).into_response(),
    }
}

fn etag(version: &str, salt: (u64, u64), name: &str, canonical: &str) -> String {
    let mut hasher = DefaultHasher::new();
    (salt, name, canonical).hash(&mut hasher);
    format!("W/\"{version}-{:016x}\"", hasher.finish())
}

fn head(etag: &str) -> [(header::HeaderName, HeaderValue); 2] {
    let etag = HeaderValue::from_str(etag).unwrap_or(HeaderValue::from_static("W/\"\""));
    [(header::ETAG, etag), (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"))]
}

/// Returns true if `If-None-Match` holds this tag (RFC 9110, §13.1.2).
pub(super) fn matches(headers: &HeaderMap, etag: &str) -> bool {
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    known.flat_map(|value| value.split(',')).any(|tag| tag.trim() == "*" || strong(tag) == strong(etag))
}

macro_rules! request {
    ($dashboard:ident, $query:ident, $headers:ident) => {
        Request { dashboard: $dashboard, headers: $headers, query: $query.unwrap_or_default() }
    };
}

/// Overview of the data.
pub(super) async fn overview(
    State(dashboard): State<Arc<Dashboard>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let request = request!(dashboard, query, headers);
    let view = request.parameters().and_then(|parameters| parameters.finish(&[]));
    answer(
        request,
        view,
        "overview",
        |()| String::new(),
        async |context, ()| questions::overview(context).await,
    )
    .await
}

pub(super) async fn airports(
    State(dashboard): State<Arc<Dashboard>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let request = request!(dashboard, query, headers);
    let view = request.parameters().and_then(Search::parse);
    answer(request, view, "airports", Search::to_string, async |context, view| {
        questions::airports(context, view).await
    })
    .await
}

/// Defines endpoints whose only parameters are a selection.
macro_rules! of_selection {
    ($(#[$doc:meta] $name:ident)*) => {$(
        #[$doc]
        pub(super) async fn $name(
            State(dashboard): State<Arc<Dashboard>>,
            RawQuery(query): RawQuery,
            headers: HeaderMap,
        ) -> Response {
            let request = request!(dashboard, query, headers);
            let view = request.selection();
            let name = stringify!($name);
            answer(request, view, name, Selection::to_string, async |context, view| questions::$name(context, view).await).await
        }
    )*};
}

of_selection! {
    /// Airports similar to the selected one.
    similar
    /// Headline figures.
    headline
    /// Airlines at the airport and elsewhere.
    airlines
    /// Airports at the other end.
    pairs
}

/// A figure over time.
pub(super) async fn series(
    State(dashboard): State<Arc<Dashboard>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let request = request!(dashboard, query, headers);
    let view = request.parameters().and_then(SeriesView::parse);
    answer(request, view, "series", SeriesView::to_string, async |context, view| {
        questions::series(context, view).await
    })
    .await
}

/// Airports ranked by a figure.
pub(super) async fn ranking(
    State(dashboard): State<Arc<Dashboard>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let request = request!(dashboard, query, headers);
    let view = request.parameters().and_then(RankingView::parse);
    answer(request, view, "ranking", RankingView::to_string, async |context, view| {
        questions::ranking(context, view).await
    })
    .await
}

/// One pair of airports, by airline.
pub(super) async fn pair(
    State(dashboard): State<Arc<Dashboard>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let request = request!(dashboard, query, headers);
    let view = request.parameters().and_then(questions::PairView::parse);
    let canonical = questions::PairView::to_string;
    answer(request, view, "pair", canonical, async |context, view| questions::pair(context, view).await).await
}

/// Responds with a state that changes by itself.
fn status<T: Serialize>(query: Option<String>, state: impl FnOnce() -> T) -> Response {
    let parameters = Parameters::parse(&query.unwrap_or_default());
    match parameters.and_then(|parameters| parameters.finish(&[])) {
        Ok(()) => {
            let head = [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
            (head, Json(state())).into_response()
        }
        Err(error) => Problem::of_parameter(&error).into_response(),
    }
}

/// Progress of the sums.
pub(super) async fn sums(State(dashboard): State<Arc<Dashboard>>, RawQuery(query): RawQuery) -> Response {
    status(query, || dashboard.current().sums_status())
}

/// Progress of the other devices' figures.
pub(super) async fn devices(State(dashboard): State<Arc<Dashboard>>, RawQuery(query): RawQuery) -> Response {
    status(query, || dashboard.devices().status())
}
