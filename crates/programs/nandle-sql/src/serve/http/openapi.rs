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

/// Months, and which of an airport's flights.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "it is what the document says; `Parameters` reads them")]
struct Months {
    /// The first month.
    #[param(pattern = "^[0-9]{4}-[0-9]{2}$", example = "2008-01")]
    from: String,
    /// The last month.
    #[param(pattern = "^[0-9]{4}-[0-9]{2}$", example = "2008-12")]
    to: String,
    /// Flights that depart (unless said otherwise) or that arrive.
    #[param(inline)]
    direction: Option<Direction>,
}

/// An airport.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "it is what the document says; `Parameters` reads them")]
struct Airport {
    /// The airport.
    #[param(pattern = "^[A-Z0-9]{3}$", example = "IAH")]
    airport: String,
}

/// What it is compared with.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "it is what the document says; `Parameters` reads them")]
struct PeerChoice {
    /// By what airports are similar: flights in the chosen direction unless said otherwise.
    #[param(inline)]
    by: Option<SimilarBy>,
    /// How many similar airports: 10 unless said otherwise.
    #[param(minimum = 1, maximum = 50)]
    count: Option<u32>,
    /// A list of one's own, with commas, instead of `by` and `count`.
    #[param(example = "ATL,ORD")]
    similar: Option<String>,
}

macro_rules! documents {
    ($($name:ident $path:literal $answer:ty, $says:literal, ($($parameter:tt)*);)*) => {
        $(
            #[utoipa::path(
                get, path = $path, tag = "questions", summary = $says, params($($parameter)*),
                responses(
                    (status = 200, description = "The answer", body = Answer<$answer>),
                    (status = 304, description = "The client has the answer (If-None-Match)"),
                    (status = "4XX", description = "It isn't understood, or there is nothing", body = Problem, content_type = "application/problem+json"),
                    (status = 503, description = "Too many queries, or too long a one", body = Problem, content_type = "application/problem+json"),
                )
            )]
            #[expect(dead_code, reason = "it is what the document says; the handler is in `api`")]
            fn $name() {}
        )*

        #[derive(OpenApi)]
        #[openapi(
            info(title = "Flights of airports", description = "The questions of the dashboard of `nandle serve`. Figures that aren't known are null: no rate is given of fewer than 30 flights."),
            paths($($name,)* sums, devices, events::events),
        )]
        struct Document;
    };
}

#[utoipa::path(
    get, path = "/api/v1/sums", tag = "sums", summary = "Whether questions are answered from sums of the flights",
    responses(
        (status = 200, description = "How far they are", body = SumsStatus),
        (status = "4XX", description = "It isn't understood", body = Problem, content_type = "application/problem+json"),
    )
)]
#[expect(dead_code, reason = "it is what the document says; the handler is in `api`")]
fn sums() {}

#[utoipa::path(
    get, path = "/api/v1/devices", tag = "devices", summary = "Whether queries have figures of other devices",
    responses(
        (status = 200, description = "How far measuring their models is", body = DevicesStatus),
        (status = "4XX", description = "It isn't understood", body = Problem, content_type = "application/problem+json"),
    )
)]
#[expect(dead_code, reason = "it is what the document says; the handler is in `api`")]
fn devices() {}

documents! {
    overview "/api/v1/overview" Overview, "What there is to look at", ();
    airports "/api/v1/airports" Airports, "Airports, the one with most flights first",
        (Months, ("search" = Option<String>, Query, description = "The beginning of a code, or a part of a name"));
    similar "/api/v1/similar" Similar, "The airports that one is compared with", (Airport, Months, PeerChoice);
    headline "/api/v1/headline" Headline, "Headline figures beside those of similar airports", (Airport, Months, PeerChoice);
    series "/api/v1/series" Series, "A figure over time, with the range of similar airports",
        (Airport, Months, PeerChoice, ("measure" = inline(Option<Measure>), Query, description = "Mean delay unless said otherwise"),
         ("period" = inline(Option<Period>), Query, description = "By the number of months unless said"));
    ranking "/api/v1/ranking" Ranking, "Airports by a figure",
        (Airport, Months, PeerChoice, ("measure" = inline(Option<Measure>), Query, description = "Mean delay unless said otherwise"),
         ("among" = inline(Option<RankScope>), Query, description = "Similar airports unless said otherwise"));
    airlines "/api/v1/airlines" Airlines, "Airlines, here and elsewhere", (Airport, Months, PeerChoice);
    pairs "/api/v1/pairs" Pairs, "The airports at the other end, the worst first", (Airport, Months, PeerChoice);
    pair "/api/v1/pair" Pair, "One pair, airline by airline",
        (Airport, Months, PeerChoice, ("other" = String, Query, description = "The airport at the other end"));
}

/// Serves the description.
pub(super) async fn document(State(_): State<Arc<Dashboard>>) -> Response {
    Json(Document::openapi()).into_response()
}
