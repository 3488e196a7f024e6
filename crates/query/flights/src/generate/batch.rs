//! Builds batches of all columns from drawn flights.

use std::sync::Arc;

use arrow_array::types::UInt16Type;
use arrow_array::{
    ArrayRef, Date32Array, DictionaryArray, Int16Array, RecordBatch, StringArray, UInt8Array, UInt16Array,
};
use arrow_schema::ArrowError;

use super::draw::{Draw, Drawn};
use super::history::{FIRST_YEAR, months};
use super::network::Route;
use crate::Column;
use crate::csv::cells::day_of_week;
use crate::schema::flight_schema;

const DAY_MINUTES: i32 = 24 * 60;
/// Month from which the causes of delays are published: June 2003.
const CAUSES_FROM_MONTH: u16 = 41;
/// Minimum delay with published causes.
const CAUSES_FROM_MINUTES: i16 = 15;

/// A drawn flight with derived values.
struct Flight<'a> {
    drawn: &'a Drawn,
    route: Route,
    elapsed: i16,
    taxi_out: i16,
    taxi_in: i16,
}

impl<'a> Flight<'a> {
    fn of(draw: &Draw, drawn: &'a Drawn) -> Self {
        let route = draw.network().route(drawn.route);
        let [constant, by_mile] = draw.learned.elapsed_minutes;
        #[allow(clippy::cast_possible_truncation, reason = "some hours, in minutes")]
        let elapsed = (constant + by_mile * f64::from(route.miles)).round() as i16;
        Self { drawn, route, elapsed, taxi_out: 8 + part(drawn, 8, 18), taxi_in: 3 + part(drawn, 16, 9) }
    }

    fn arrival(&self) -> i32 {
        i32::from(self.drawn.departure) + i32::from(self.elapsed)
    }

    /// Returns the actual duration of a flight that arrived.
    fn actual_elapsed(&self) -> Option<i16> {
        Some(self.elapsed + self.drawn.arrival_delay? - self.drawn.departure_delay?)
    }

    /// Minutes of a delay due to a cause, from its range of hundredths.
    fn cause(&self, from: i16, to: i16) -> Option<i16> {
        let late = self
            .drawn
            .arrival_delay
            .filter(|late| *late >= CAUSES_FROM_MINUTES && self.drawn.month >= CAUSES_FROM_MONTH)?;
        let which = part(self.drawn, 24, 100);
        Some(if (from..to).contains(&which) { late } else { 0 })
    }
}

/// Derives a number less than `below` from a flight's noise.
fn part(drawn: &Drawn, shift: u32, below: u64) -> i16 {
    i16::try_from((drawn.noise >> shift & 0xffff) % below).unwrap_or_default()
}

/// Formats a minute of this or another day as `hhmm`.
fn clock(minute: i32) -> u16 {
    let minute = minute.rem_euclid(DAY_MINUTES);
    u16::try_from(minute / 60 * 100 + minute % 60).unwrap_or_default()
}

pub(super) fn record_batch(draw: &Draw, drawn: &[Drawn]) -> Result<RecordBatch, ArrowError> {
    let flights: Vec<Flight<'_>> = drawn.iter().map(|drawn| Flight::of(draw, drawn)).collect();
    let names = Names::of(draw);
    let arrays =
        Column::ALL.iter().map(|column| array(*column, &flights, &names)).collect::<Result<_, _>>()?;
    RecordBatch::try_new(flight_schema(), arrays)
}

/// Dictionaries of the columns.
struct Names {
    carriers: ArrayRef,
    airports: ArrayRef,
    months: ArrayRef,
    reasons: ArrayRef,
    /// Cumulative percentages of the cancellation reasons.
    reason_sums: Vec<f64>,
}

impl Names {
    fn of(draw: &Draw) -> Self {
        let network = draw.network();
        let mut sum = 0.0;
        let sums = draw.learned.reasons.iter().map(|share| {
            sum += 100.0 * share;
            sum
        });
        Self {
            carriers: Arc::new(network.carriers.iter().map(|code| Some(&**code)).collect::<StringArray>()),
            airports: Arc::new(network.airports.iter().map(|code| Some(&**code)).collect::<StringArray>()),
            months: Arc::new(StringArray::from_iter_values(months())),
            reasons: Arc::new(StringArray::from(vec!["A", "B", "C", "D"])),
            reason_sums: sums.collect(),
        }
    }

    fn reason(&self, drawn: &Drawn) -> Option<u16> {
        let which = f64::from(part(drawn, 24, 100));
        let found = self.reason_sums.iter().position(|sum| which < *sum).unwrap_or_default();
        drawn.is_cancelled.then(|| u16::try_from(found).unwrap_or_default())
    }
}

fn array(column: Column, flights: &[Flight<'_>], names: &Names) -> Result<ArrayRef, ArrowError> {
    let minutes = |of: &dyn Fn(&Flight<'_>) -> Option<i16>| -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(flights.iter().map(of).collect::<Int16Array>()))
    };
    let number = |of: &dyn Fn(&Flight<'_>) -> u16| -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(UInt16Array::from_iter_values(flights.iter().map(of))))
    };
    let time = |of: &dyn Fn(&Flight<'_>) -> Option<i32>| -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(flights.iter().map(|flight| of(flight).map(clock)).collect::<UInt16Array>()))
    };
    let small = |of: &dyn Fn(&Flight<'_>) -> u8| -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(UInt8Array::from_iter_values(flights.iter().map(of))))
    };
    let code = |values: &ArrayRef, of: &dyn Fn(&Flight<'_>) -> Option<u16>| -> Result<ArrayRef, ArrowError> {
        let keys = flights.iter().map(of).collect::<UInt16Array>();
        // A key array without nulls matches its non-nullable column.
        Ok(Arc::new(DictionaryArray::<UInt16Type>::try_new(keys, Arc::clone(values))?))
    };
    let arrived = |flight: &Flight<'_>| flight.drawn.arrival_delay.is_some();
    match column {
        Column::Year => number(&|flight| FIRST_YEAR + flight.drawn.month / 12),
        Column::Month => code(&names.months, &|flight| Some(flight.drawn.month)),
        Column::FlightDate => {
            Ok(Arc::new(Date32Array::from_iter_values(flights.iter().map(|flight| flight.drawn.day))))
        }
        Column::DayOfWeek => small(&|flight| day_of_week(flight.drawn.day)),
        Column::Airline => code(&names.carriers, &|flight| Some(flight.route.carrier.into())),
        Column::FlightNum => number(&|flight| flight_number(flight)),
        Column::TailNum => Ok(Arc::new(StringArray::from_iter_values(flights.iter().map(tail_number)))),
        Column::Origin => code(&names.airports, &|flight| Some(flight.route.origin)),
        Column::Dest => code(&names.airports, &|flight| Some(flight.route.dest)),
        Column::CrsDepTime => time(&|flight| Some(flight.drawn.departure.into())),
        Column::DepTime => {
            time(&|flight| Some(i32::from(flight.drawn.departure) + i32::from(flight.drawn.departure_delay?)))
        }
        Column::CrsArrTime => time(&|flight| Some(flight.arrival())),
        Column::ArrTime => time(&|flight| Some(flight.arrival() + i32::from(flight.drawn.arrival_delay?))),
        Column::DepDelay => minutes(&|flight| flight.drawn.departure_delay),
        Column::ArrDelay => minutes(&|flight| flight.drawn.arrival_delay),
        Column::CrsElapsedTime => minutes(&|flight| Some(flight.elapsed)),
        Column::ActualElapsedTime => minutes(&|flight| flight.actual_elapsed()),
        Column::AirTime => {
            minutes(&|flight| Some(flight.actual_elapsed()? - flight.taxi_out - flight.taxi_in))
        }
        Column::TaxiIn => minutes(&|flight| arrived(flight).then_some(flight.taxi_in)),
        Column::TaxiOut => minutes(&|flight| (!flight.drawn.is_cancelled).then_some(flight.taxi_out)),
        Column::Distance => number(&|flight| flight.route.miles),
        Column::Cancelled => small(&|flight| flight.drawn.is_cancelled.into()),
        Column::CancellationCode => code(&names.reasons, &|flight| names.reason(flight.drawn)),
        Column::Diverted => small(&|flight| flight.drawn.is_diverted.into()),
        Column::CarrierDelay => minutes(&|flight| flight.cause(0, 28)),
        Column::WeatherDelay => minutes(&|flight| flight.cause(28, 34)),
        Column::NasDelay => minutes(&|flight| flight.cause(34, 63)),
        Column::SecurityDelay => minutes(&|flight| flight.cause(99, 100)),
        Column::LateAircraftDelay => minutes(&|flight| flight.cause(63, 99)),
    }
}

/// Equal for the same route and time of day.
fn flight_number(flight: &Flight<'_>) -> u16 {
    let Route { carrier, origin, dest, .. } = flight.route;
    let mixed = u32::from(origin) * 641
        + u32::from(dest) * 113
        + u32::from(flight.drawn.departure / 60) * 7
        + u32::from(carrier);
    u16::try_from(mixed % 7000 + 1).unwrap_or_default()
}

/// Tail number of one of the carrier's aircraft.
fn tail_number(flight: &Flight<'_>) -> String {
    let carrier = flight.route.carrier;
    let letter = |number: u8| char::from(b'A' + number);
    format!("N{}{}{}", 100 + part(flight.drawn, 32, 400), letter(carrier), letter(carrier / 2))
}
