//! Draws individual flights.

use std::ops::Range;

use rand::{Rng, RngExt};

use super::chance::{Alias, Quantiles, mix};
use super::history::{CAREERS, FIRST_YEAR, MONTHS};
use super::learned::Learned;
use super::network::{Network, weather};
use crate::csv::cells::{days_of_month, days_since_1970};

/// Range of delays in minutes.
const DELAY_MIN: i16 = -200;
const DELAY_MAX: i16 = 3000;
/// From 2000 to 2011 fewer flights were cancelled or diverted than in the samples of winter months.
const CANCELLED_OF_SAMPLES: f64 = 0.85;
const DIVERTED_OF_SAMPLES: f64 = 0.85;
/// Combined effects of carrier, origin, hour and month are less than their sum, because they
/// correlate.
const JOINT_EFFECT: f64 = 0.8;

/// Code of a delay among [`delays`], after that of a missing delay.
pub(super) fn delay_code(minutes: i16) -> u32 {
    u32::from((minutes.clamp(DELAY_MIN, DELAY_MAX) - DELAY_MIN).unsigned_abs()) + 1
}

/// All possible delays.
pub(super) fn delays() -> impl Iterator<Item = i16> {
    DELAY_MIN..=DELAY_MAX
}

/// Drawn values of a flight; the others are derived.
pub(super) struct Drawn {
    pub(super) route: u32,
    /// Counted from January 2000.
    pub(super) month: u16,
    /// Counted from 1970-01-01.
    pub(super) day: i32,
    /// Scheduled departure, in minutes of the day.
    pub(super) departure: u16,
    /// Missing if it was cancelled.
    pub(super) departure_delay: Option<i16>,
    /// Missing if it was cancelled or diverted.
    pub(super) arrival_delay: Option<i16>,
    pub(super) is_cancelled: bool,
    pub(super) is_diverted: bool,
    /// Source of all other values.
    pub(super) noise: u64,
}

pub(super) struct Draw {
    pub(super) learned: Learned,
    network: Network,
    seed: u64,
    /// First row of each month, and the end of the last one.
    begins: Vec<u64>,
    hours: Alias,
    departures: Quantiles,
    gains: Quantiles,
    /// For each carrier, the learned carrier that it is or resembles.
    carriers: Vec<usize>,
}

/// Rows of a month.
struct MonthRows<'a> {
    number: u16,
    rows: Range<u64>,
    first_day: i32,
    days: u64,
    delay_logit: f64,
    cancelled: f64,
    diverted: f64,
    month: &'a super::network::Month,
}

impl Draw {
    pub(super) fn new(learned: Learned, network: Network, rows: u64, seed: u64) -> Self {
        let flights = |month: &super::network::Month| month.sums.last().copied().unwrap_or_default();
        let total: f64 = network.months.iter().map(flights).sum();
        let mut sum = 0.0;
        let mut begins = vec![0];
        for month in &network.months {
            sum += flights(month);
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of the rows"
            )]
            begins.push((rows as f64 * (sum / total)).round() as u64);
        }
        if let Some(end) = begins.last_mut() {
            *end = rows;
        }
        let quantiles = |values: &[i16]| Quantiles {
            from: learned.logit_from,
            step: learned.logit_step,
            values: values.to_vec(),
        };
        let carrier =
            |code: &str| learned.carriers.iter().position(|carrier| carrier.code == code).unwrap_or_default();
        Self {
            hours: Alias::new(&learned.hours),
            departures: quantiles(&learned.departure_minutes),
            gains: quantiles(&learned.gain_minutes),
            carriers: CAREERS
                .iter()
                .map(|career| carrier(career.like.map_or(career.code, |(like, _)| like)))
                .collect(),
            learned,
            network,
            seed,
            begins,
        }
    }

    pub(super) fn network(&self) -> &Network {
        &self.network
    }

    /// Draws the flights of these rows.
    pub(super) fn chunk(&self, rows: Range<u64>, random: &mut impl Rng) -> Vec<Drawn> {
        let mut drawn = Vec::with_capacity(usize::try_from(rows.end - rows.start).unwrap_or_default());
        for number in 0..MONTHS {
            let Some(month) = self.month(number) else { continue };
            for row in rows.start.max(month.rows.start)..rows.end.min(month.rows.end) {
                drawn.push(self.flight(&month, row, random));
            }
        }
        drawn
    }

    fn month(&self, number: u16) -> Option<MonthRows<'_>> {
        let at = usize::from(number);
        let of_year = at % 12;
        let (year, calendar_month) = (FIRST_YEAR + number / 12, u8::try_from(of_year + 1).ok()?);
        // Each month differs from the same month of other years.
        let noise = |what: u64| 2.0 * super::chance::fraction(mix(self.seed ^ what, u64::from(number))) - 1.0;
        let of = |values: &[f64], otherwise| values.get(of_year).copied().unwrap_or(otherwise);
        let learned = &self.learned;
        Some(MonthRows {
            number,
            rows: *self.begins.get(at)?..*self.begins.get(at + 1)?,
            first_day: days_since_1970(year, calendar_month, 1)?,
            days: days_of_month(year, calendar_month)?.into(),
            delay_logit: of(&learned.month_delay_logits, 0.0) + 0.25 * noise(1),
            cancelled: learned.cancelled
                * CANCELLED_OF_SAMPLES
                * of(&learned.month_cancelled, 1.0).sqrt()
                * (0.4 * noise(2)).exp(),
            diverted: learned.diverted
                * DIVERTED_OF_SAMPLES
                * of(&learned.month_diverted, 1.0)
                * (0.2 * noise(3)).exp(),
            month: self.network.months.get(at)?,
        })
    }

    fn flight(&self, month: &MonthRows<'_>, row: u64, random: &mut impl Rng) -> Drawn {
        let rows = (month.rows.end - month.rows.start).max(1);
        let place = (row - month.rows.start) * month.days;
        let day = month.first_day + i32::try_from(place / rows).unwrap_or_default();
        // Within a day, flights are ordered by carrier.
        let of_day =
            (place % rows) as f64 / rows as f64 * month.month.sums.last().copied().unwrap_or_default();
        let share = month.month.sums.partition_point(|sum| *sum <= of_day);
        let number = month.month.shares.get(share).map_or(0, |share| share.draw(random));
        let route = self.network.route(number);
        let noise = random.next_u64();
        let hour = self.hours.draw(random);
        let departure =
            u16::try_from(hour * 60).unwrap_or_default() + u16::try_from(noise % 12).unwrap_or_default() * 5;
        let learned =
            self.carriers.get(usize::from(route.carrier)).and_then(|at| self.learned.carriers.get(*at));
        let (logit, cancelled, diverted) = learned
            .map_or((0.0, 1.0, 1.0), |carrier| (carrier.delay_logit, carrier.cancelled, carrier.diverted));
        let weather = weather(self.seed, route.origin, day);
        let chance: f64 = random.random();
        let is_cancelled = chance < (month.cancelled * cancelled * weather).min(0.9);
        let is_diverted = !is_cancelled && random.random::<f64>() < (month.diverted * diverted).min(0.5);
        let at = |values: &[f64], index: usize| values.get(index).copied().unwrap_or_default();
        let shift = logit
            + month.delay_logit
            + at(&self.learned.airport_delay_logits, route.origin.into())
            + at(&self.learned.hour_delay_logits, hour);
        let delayed = |minutes: i16| minutes.clamp(DELAY_MIN, DELAY_MAX);
        let departure_delay =
            (!is_cancelled).then(|| delayed(self.departures.draw(JOINT_EFFECT * shift, random)));
        let arrives = departure_delay.filter(|_| !is_diverted);
        let arrival_delay =
            arrives.map(|departure| delayed(departure.saturating_add(self.gains.draw(0.0, random))));
        Drawn {
            route: number,
            month: month.number,
            day,
            departure,
            departure_delay,
            arrival_delay,
            is_cancelled,
            is_diverted,
            noise,
        }
    }
}
