//! Generator of plausible flights: 140 months from January 2000, 24 carriers in changing periods,
//! about 340 airports.
//!
//! Its parameters were [learned](learned) from real flights by `examples/learn.rs`; the carriers'
//! periods are in [history]. Each chunk of rows is a function of the seed and its number, so the
//! rows don't depend on the number of threads.

mod batch;
mod chance;
mod draw;
mod history;
mod learned;
mod network;

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int16Array, RecordBatch, StringArray, UInt8Array, UInt16Array};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use self::batch::record_batch;
use self::draw::{Draw, Drawn};
use self::learned::Learned;
pub use self::learned::LearnedError;
use self::network::Network;
use crate::{Column, LoadError};

/// Generates flights, ordered by month, day and carrier like the publisher's files.
#[derive(Clone)]
pub struct Generator {
    rows: u64,
    seed: u64,
    draw: Arc<Draw>,
}

/// Columns of the cubes as codes: indices into [`Generator::values`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields are named after columns")]
pub struct CubeCodes {
    pub airline: Vec<u32>,
    pub dest: Vec<u32>,
    pub month: Vec<u32>,
    pub origin: Vec<u32>,
    pub year: Vec<u32>,
    pub diverted: Vec<u32>,
    pub cancelled: Vec<u32>,
    pub delay: Vec<u32>,
}

impl CubeCodes {
    /// Codes of a cube's column; `None` for other columns.
    pub fn column(&self, column: Column) -> Option<&[u32]> {
        match column {
            Column::Airline => Some(&self.airline),
            Column::Dest => Some(&self.dest),
            Column::Month => Some(&self.month),
            Column::Origin => Some(&self.origin),
            Column::Year => Some(&self.year),
            Column::Diverted => Some(&self.diverted),
            Column::Cancelled => Some(&self.cancelled),
            Column::ArrDelay => Some(&self.delay),
            _ => None,
        }
    }
}

impl Generator {
    /// Rows of a chunk; the last one may have fewer.
    pub const CHUNK_ROWS: u64 = 1 << 16;

    /// Creates a generator. The same rows and seed give the same flights. Fewer rows mean fewer
    /// flights per day, not fewer days.
    ///
    /// # Errors
    /// The learned parameters are invalid, which is a defect of this crate.
    pub fn new(rows: u64, seed: u64) -> Result<Self, LearnedError> {
        let learned = Learned::load()?;
        let network = Network::new(&learned, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        Ok(Self { rows, seed, draw: Arc::new(Draw::new(learned, network, rows, seed)) })
    }

    /// Number of flights.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of chunks.
    pub fn chunks(&self) -> u64 {
        self.rows.div_ceil(Self::CHUNK_ROWS)
    }

    /// Generates the flights of a chunk; none after the last one.
    ///
    /// # Errors
    /// Columns don't form a batch.
    pub fn chunk(&self, number: u64) -> Result<RecordBatch, LoadError> {
        Ok(record_batch(&self.draw, &self.drawn(number))?)
    }

    /// Generates only the columns of the cubes, for the same flights: far faster than a whole
    /// chunk.
    pub fn codes(&self, number: u64) -> CubeCodes {
        let drawn = self.drawn(number);
        let network = self.draw.network();
        let mut codes = CubeCodes::default();
        for flight in &drawn {
            let route = network.route(flight.route);
            codes.airline.push(route.carrier.into());
            codes.dest.push(route.dest.into());
            codes.month.push(flight.month.into());
            codes.origin.push(route.origin.into());
            codes.year.push(u32::from(flight.month) / 12);
            codes.diverted.push(flight.is_diverted.into());
            codes.cancelled.push(flight.is_cancelled.into());
            codes.delay.push(flight.arrival_delay.map_or(0, draw::delay_code));
        }
        codes
    }

    /// Values of a cube's column by code; `None` for other columns. Those of the delay begin with a
    /// null.
    pub fn values(&self, column: Column) -> Option<ArrayRef> {
        let network = self.draw.network();
        Some(match column {
            Column::Airline => {
                Arc::new(network.carriers.iter().map(|code| Some(&**code)).collect::<StringArray>())
            }
            Column::Origin | Column::Dest => {
                Arc::new(network.airports.iter().map(|code| Some(&**code)).collect::<StringArray>())
            }
            Column::Month => Arc::new(StringArray::from_iter_values(history::months())),
            Column::Year => Arc::new(UInt16Array::from_iter_values(history::years())),
            Column::Diverted | Column::Cancelled => Arc::new(UInt8Array::from(vec![0, 1])),
            Column::ArrDelay => {
                Arc::new([None].into_iter().chain(draw::delays().map(Some)).collect::<Int16Array>())
            }
            _ => return None,
        })
    }

    fn drawn(&self, number: u64) -> Vec<Drawn> {
        self.draw.chunk(self.rows_of(number), &mut chance::stream(self.seed, number))
    }

    fn rows_of(&self, number: u64) -> Range<u64> {
        let begin = number.saturating_mul(Self::CHUNK_ROWS).min(self.rows);
        begin..(begin + Self::CHUNK_ROWS).min(self.rows)
    }
}
