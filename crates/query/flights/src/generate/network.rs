//! Routes of carriers by month. A pair of airports that a carrier served in the samples is a slot
//! of its network. Slots pause, and later return with another airport at their smaller end, so that
//! a year has more routes than each of its months.

use std::collections::HashMap;

use rand::{Rng, RngExt};
use rand_distr::{Distribution, LogNormal};

use super::chance::{Alias, fraction, mix};
use super::history::{CAREERS, MONTHS, OTHER_AIRPORTS};
use super::learned::{Carrier, Learned};

/// Probability that a slot pauses from a month on.
const ENDS: f64 = 0.017;
/// Probability that a paused slot returns in a month.
const BEGINS: f64 = 0.2;
/// Probability that a slot's new airport isn't in the samples.
const OTHER_AIRPORT: f64 = 0.035;
/// Number of flights in two months below which a pair has no schedule, and is served in some months
/// only.
const SCHEDULED_FLIGHTS: u32 = 8;
const UNSCHEDULED: f64 = 0.3;
/// Relative variation of a carrier's flights on a route between months.
const MONTHLY_SPREAD: f64 = 0.15;

/// A carrier's flights from one airport to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Route {
    pub(super) carrier: u8,
    pub(super) origin: u16,
    pub(super) dest: u16,
    pub(super) miles: u16,
}

/// Flights of a carrier in a month.
pub(super) struct Share {
    /// Numbers of its routes.
    routes: Vec<u32>,
    alias: Alias,
}

impl Share {
    pub(super) fn draw(&self, random: &mut impl Rng) -> u32 {
        self.routes.get(self.alias.draw(random)).copied().unwrap_or_default()
    }
}

/// Flights of a month.
#[derive(Default)]
pub(super) struct Month {
    pub(super) shares: Vec<Share>,
    /// Cumulative flights of the shares.
    pub(super) sums: Vec<f64>,
}

pub(super) struct Network {
    pub(super) carriers: Vec<Box<str>>,
    pub(super) airports: Vec<Box<str>>,
    pub(super) months: Vec<Month>,
    routes: Vec<Route>,
}

/// Pair of airports of a slot, the larger one first.
#[derive(Clone, Copy)]
struct Slot {
    hub: u16,
    spoke: u16,
    flights: u32,
    is_served: bool,
}

/// A carrier whose network is being built.
struct Making<'a> {
    carrier: u8,
    slots: Vec<Slot>,
    /// Candidates for a slot's new airport.
    spokes: Vec<u16>,
    by_weight: Alias,
    others: &'a [u16],
}

impl Network {
    pub(super) fn new(learned: &Learned, random: &mut impl Rng) -> Self {
        let known = learned.airports.iter().map(|code| &**code);
        let airports: Vec<Box<str>> = known
            .chain(
                OTHER_AIRPORTS.into_iter().filter(|code| !learned.airports.iter().any(|known| known == code)),
            )
            .map(Into::into)
            .collect();
        let others: Vec<u16> =
            (learned.airports.len()..airports.len()).filter_map(|index| u16::try_from(index).ok()).collect();
        let carriers = CAREERS.iter().map(|career| career.code.into()).collect();
        let mut network = Self { carriers, airports, months: Vec::new(), routes: Vec::new() };
        network.months.resize_with(MONTHS.into(), Month::default);
        let miles = learned
            .carriers
            .iter()
            .flat_map(|carrier| &carrier.pairs)
            .map(|(one, other, _, miles)| ((*one, *other), *miles));
        let miles: HashMap<(u16, u16), u16> = miles.collect();
        let mut numbers = HashMap::new();
        for (number, career) in CAREERS.iter().enumerate() {
            let like = career.like.map_or(career.code, |(like, _)| like);
            let Some(carrier) = learned.carriers.iter().find(|carrier| carrier.code == like) else {
                continue;
            };
            let through = career.like.map_or(&[][..], |(_, through)| through);
            let through: Vec<u16> = through.iter().filter_map(|code| network.airport(code)).collect();
            let mut making = Making::new(u8::try_from(number).unwrap_or(u8::MAX), carrier, &through, &others);
            for month in career.first..career.end {
                making.pass_month(random);
                network.add_month(month, &making, &miles, &mut numbers, random);
            }
        }
        network
    }

    fn airport(&self, code: &str) -> Option<u16> {
        self.airports
            .iter()
            .position(|airport| &**airport == code)
            .and_then(|index| u16::try_from(index).ok())
    }

    fn add_month(
        &mut self,
        month: u16,
        making: &Making<'_>,
        miles: &HashMap<(u16, u16), u16>,
        numbers: &mut HashMap<Route, u32>,
        random: &mut impl Rng,
    ) {
        let spread = LogNormal::new(0.0, MONTHLY_SPREAD);
        let (mut routes, mut weights) = (Vec::new(), Vec::new());
        for slot in making.slots.iter().filter(|slot| slot.is_served) {
            let pair = (slot.hub.min(slot.spoke), slot.hub.max(slot.spoke));
            // Without a known distance, use a fixed one for all carriers.
            let far = mix(u64::from(pair.0), u64::from(pair.1)) % 900;
            let miles =
                miles.get(&pair).copied().unwrap_or_else(|| 150 + u16::try_from(far).unwrap_or_default());
            for (origin, dest) in [(slot.hub, slot.spoke), (slot.spoke, slot.hub)] {
                let route = Route { carrier: making.carrier, origin, dest, miles };
                let number = *numbers.entry(route).or_insert_with(|| {
                    self.routes.push(route);
                    u32::try_from(self.routes.len() - 1).unwrap_or(u32::MAX)
                });
                routes.push(number);
                weights.push(f64::from(slot.flights) * spread.map_or(1.0, |spread| spread.sample(random)));
            }
        }
        if let Some(month) = self.months.get_mut(usize::from(month)) {
            let before = month.sums.last().copied().unwrap_or_default();
            month.sums.push(before + weights.iter().sum::<f64>());
            month.shares.push(Share { alias: Alias::new(&weights), routes });
        }
    }

    pub(super) fn route(&self, number: u32) -> Route {
        let route = self.routes.get(number as usize).copied();
        let Some(route) = route else { unreachable!("a share's routes are the network's") };
        route
    }
}

impl<'a> Making<'a> {
    /// Network of a carrier in the samples, or the part of it through some airports.
    fn new(number: u8, carrier: &Carrier, through: &[u16], others: &'a [u16]) -> Self {
        let is_its =
            |one: u16, other: u16| through.is_empty() || through.contains(&one) || through.contains(&other);
        let pairs = carrier.pairs.iter().filter(|(one, other, ..)| is_its(*one, *other));
        let mut flights: HashMap<u16, u32> = HashMap::new();
        for (one, other, number, _) in pairs.clone() {
            *flights.entry(*one).or_default() += number;
            *flights.entry(*other).or_default() += number;
        }
        let slots = pairs.map(|(one, other, number, _)| {
            let is_larger = flights.get(one) >= flights.get(other);
            let (hub, spoke) = if is_larger { (*one, *other) } else { (*other, *one) };
            Slot { hub, spoke, flights: *number, is_served: true }
        });
        let slots = slots.collect();
        let mut spokes: Vec<u16> = flights.keys().copied().collect();
        spokes.sort_unstable();
        let weights: Vec<f64> = spokes
            .iter()
            .map(|spoke| flights.get(spoke).map_or(0.0, |number| f64::from(*number).sqrt()))
            .collect();
        Self { carrier: number, slots, by_weight: Alias::new(&weights), spokes, others }
    }

    /// Advances the slots by a month: they pause, return with another airport, or continue.
    fn pass_month(&mut self, random: &mut impl Rng) {
        for slot in &mut self.slots {
            if slot.flights < SCHEDULED_FLIGHTS {
                slot.is_served = random.random_bool(UNSCHEDULED);
            } else if slot.is_served {
                slot.is_served = !random.random_bool(ENDS);
            } else if random.random_bool(BEGINS) {
                slot.is_served = true;
                let other = self.others.get(random.random_range(0..self.others.len().max(1)));
                slot.spoke = match other {
                    Some(other) if random.random_bool(OTHER_AIRPORT) => *other,
                    Some(_) | None => {
                        self.spokes.get(self.by_weight.draw(random)).copied().unwrap_or(slot.spoke)
                    }
                };
                if slot.spoke == slot.hub {
                    slot.is_served = false;
                }
            }
        }
    }
}

/// Badness of the weather at an airport on a day: mostly good, with few storms. The mean is 1.
pub(super) fn weather(seed: u64, airport: u16, day: i32) -> f64 {
    let place = u64::from(airport) << 32 | u64::from(day.unsigned_abs());
    match fraction(mix(seed ^ 0x57ea_7e12, place)) {
        chance if chance < 0.01 => 28.0,
        chance if chance < 0.08 => 4.0,
        _ => 0.478,
    }
}
