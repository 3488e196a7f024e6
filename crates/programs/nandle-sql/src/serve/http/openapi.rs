//! `OpenAPI` 3.1 description of the API.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use nandle_dashboard::questions::{
    Airlines, Airports, Headline, Overview, Pair, Pairs, Ranking, Series, Similar,
};
use nandle_dashboard::{Answer, DevicesStatus, Direction, Measure, Period, RankScope, SimilarBy, SumsStatus};
use utoipa::{IntoParams, OpenApi};

use super::events;
use super::problem::Problem;
use super::routes::Dashboard;

/// Months and direction of the flights.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "only documents the parameters; `Parameters` parses them")]
struct Months {
    /// First month.
    #[param(pattern = "^[0-9]{4}-[0-9]{2}$", example = "2008-01")]
    from: String,
    /// Last month.
    #[param(pattern = "^[0-9]{4}-[0-9]{2}$", example = "2008-12")]
    to: String,
    /// Departures (default) or arrivals.
    #[param(inline)]
    direction: Option<Direction>,
}

/// Selected airport.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "only documents the parameters; `Parameters` parses them")]
struct Airport {
    /// Code of the airport.
    #[param(pattern = "^[A-Z0-9]{3}$", example = "IAH")]
    airport: String,
}

/// Choice of similar airports.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "only documents the parameters; `Parameters` parses them")]
struct PeerChoice {
    /// Count that similar airports are chosen by. Default: flights in the chosen direction.
    #[param(inline)]
    by: Option<SimilarBy>,
    /// Number of similar airports. Default: 10.
    #[param(minimum = 1, maximum = 50)]
    count: Option<u32>,
    /// Comma-separated list of airports, instead of `by` and `count`.
    #[param(example = "ATL,ORD")]
    similar: Option<String>,
}

macro_rules! documents {
    ($($name:ident $path:literal $answer:ty, $says:literal, ($($parameter:tt)*);)*) => {
        $(
            #[utoipa::path(
                get, path = $path, tag = "questions", summary = $says, params($($parameter)*),
                responses(
                    (status = 200, description = "Answer", body = Answer<$answer>),
                    (status = 304, description = "Answer unchanged (If-None-Match)"),
                    (status = "4XX", description = "Invalid request, or no data for it", body = Problem, content_type = "application/problem+json"),
                    (status = 503, description = "Temporary failure: too many queries, time limit, memory, or changed or unreadable data", body = Problem, content_type = "application/problem+json"),
                )
            )]
            #[expect(dead_code, reason = "only documents the handler in `api`")]
            fn $name() {}
        )*

        #[derive(OpenApi)]
        #[openapi(
            info(title = "Airport flights", description = "Figures of the dashboard of `nandle serve`. Unknown figures are null, and so are rates of fewer than 30 flights."),
            paths($($name,)* sums, devices, events::events),
        )]
        struct Document;
    };
}

#[utoipa::path(
    get, path = "/api/v1/sums", tag = "sums", summary = "State of the sums, which answer questions faster than the flights",
    responses(
        (status = 200, description = "State of the sums", body = SumsStatus),
        (status = "4XX", description = "Invalid request", body = Problem, content_type = "application/problem+json"),
    )
)]
#[expect(dead_code, reason = "only documents the handler in `api`")]
fn sums() {}

#[utoipa::path(
    get, path = "/api/v1/devices", tag = "devices", summary = "Progress of measuring modelled devices",
    responses(
        (status = 200, description = "State of each device's measurement", body = DevicesStatus),
        (status = "4XX", description = "Invalid request", body = Problem, content_type = "application/problem+json"),
    )
)]
#[expect(dead_code, reason = "only documents the handler in `api`")]
fn devices() {}

documents! {
    overview "/api/v1/overview" Overview, "Overview of the table: flights by month", ();
    airports "/api/v1/airports" Airports, "Airports by number of flights, greatest first",
        (Months, ("search" = Option<String>, Query, description = "Start of a code, or part of a name"));
    similar "/api/v1/similar" Similar, "Similar airports", (Airport, Months, PeerChoice);
    headline "/api/v1/headline" Headline, "Headline figures, compared with similar airports", (Airport, Months, PeerChoice);
    series "/api/v1/series" Series, "Measure over time, with the range of similar airports",
        (Airport, Months, PeerChoice, ("measure" = inline(Option<Measure>), Query, description = "Default: mean delay"),
         ("period" = inline(Option<Period>), Query, description = "Default: by the number of months"));
    ranking "/api/v1/ranking" Ranking, "Airports ranked by a measure",
        (Airport, Months, PeerChoice, ("measure" = inline(Option<Measure>), Query, description = "Default: mean delay"),
         ("among" = inline(Option<RankScope>), Query, description = "Airports to rank. Default: similar airports"));
    airlines "/api/v1/airlines" Airlines, "Airlines at this airport and elsewhere", (Airport, Months, PeerChoice);
    pairs "/api/v1/pairs" Pairs, "Airports at the other end, greatest mean delay first", (Airport, Months, PeerChoice);
    pair "/api/v1/pair" Pair, "Pair of airports, by airline",
        (Airport, Months, PeerChoice, ("other" = String, Query, description = "Airport at the other end"));
}

/// Serves the description.
pub(super) async fn document(State(_): State<Arc<Dashboard>>) -> Response {
    Json(Document::openapi()).into_response()
}
