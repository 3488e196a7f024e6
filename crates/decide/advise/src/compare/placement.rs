use nandle_profile::{DeviceProfile, Interval};
use serde::Serialize;

use crate::figures::Figures;
use crate::settings::MissingFigure;
use nandle_profile::arithmetic::{inverse, map, product, sum};

/// Component of a database that can have its own drive (Lee, Moon, Park, Kim, Kim: *A Case for
/// Flash Memory SSD in Enterprise Database Applications*, SIGMOD 2008).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tenant {
    /// Log: small durable sequential writes (§3).
    Log,
    /// Temporary table space: runs are written in sequence and read at random (§5).
    TemporarySpace,
    /// Rollback segments: versions are appended in several streams and read along scattered chains
    /// (§4).
    RollbackSegments,
    /// Indexes: random reads and writes of pages.
    Indexes,
    /// Tables: random reads and writes of pages, and scans (§2).
    Tables,
}

/// Requests of each pattern per page of the tenant's work; for the log, per commit. The paper gives
/// the patterns; the shares are ours.
#[derive(Debug, Clone, Copy, Default)]
struct Mix {
    commit: f64,
    sequential_write: f64,
    partitioned_write: f64,
    random_write: f64,
    sequential_read: f64,
    random_read: f64,
}

impl Tenant {
    const ALL: [Self; 5] =
        [Self::Log, Self::TemporarySpace, Self::RollbackSegments, Self::Indexes, Self::Tables];

    /// Name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::TemporarySpace => "temporary space",
            Self::RollbackSegments => "rollback segments",
            Self::Indexes => "indexes",
            Self::Tables => "tables",
        }
    }

    /// Access pattern in words.
    pub fn pattern(self) -> &'static str {
        match self {
            Self::Log => "one small durable write per commit",
            Self::TemporarySpace => "one sequential page write, one random page read",
            Self::RollbackSegments => {
                "one page appended to one of several streams, one random \
                page read"
            }
            Self::Indexes => "two random page reads per random page write",
            Self::Tables => {
                "one random page read and one random page write per two sequential \
                page reads"
            }
        }
    }

    fn mix(self) -> Mix {
        match self {
            Self::Log => Mix { commit: 1.0, ..Mix::default() },
            Self::TemporarySpace => Mix { sequential_write: 1.0, random_read: 1.0, ..Mix::default() },
            Self::RollbackSegments => Mix { partitioned_write: 1.0, random_read: 1.0, ..Mix::default() },
            Self::Indexes => Mix { random_read: 2.0, random_write: 1.0, ..Mix::default() },
            Self::Tables => {
                Mix { random_read: 1.0, random_write: 1.0, sequential_read: 2.0, ..Mix::default() }
            }
        }
    }
}

/// Best drive for one tenant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Placement {
    /// Component to be placed.
    pub tenant: Tenant,
    /// Time of one unit of work on each drive, in the order of the profiles; `null` if the profile
    /// lacks a figure.
    pub cost_ns: Vec<Option<Interval<f64>>>,
    /// Position of the cheapest drive; `null` if fewer than two costs are known.
    pub best: Option<usize>,
    /// Positions of other drives with intervals that overlap the cheapest drive's.
    pub maybe_as_good: Vec<usize>,
    /// Cost on the most expensive drive divided by the cost on the cheapest.
    pub gain_ratio: Option<f64>,
    /// Figures that the profiles lack, without duplicates.
    pub missing: Vec<MissingFigure>,
}

/// Finds the cheapest drive for each tenant from the measured cost of its pattern. The tenant with
/// the greatest gain comes first.
pub fn place(profiles: &[&DeviceProfile], page_bytes: u64) -> Vec<Placement> {
    let mut placements: Vec<_> =
        Tenant::ALL.iter().map(|tenant| place_one(*tenant, profiles, page_bytes)).collect();
    placements.sort_by(|a, b| b.gain_ratio.unwrap_or(0.0).total_cmp(&a.gain_ratio.unwrap_or(0.0)));
    placements
}

fn place_one(tenant: Tenant, profiles: &[&DeviceProfile], page_bytes: u64) -> Placement {
    let costs: Vec<_> =
        profiles.iter().map(|profile| cost_ns(&Figures::of(profile), tenant.mix(), page_bytes)).collect();
    let mut missing: Vec<MissingFigure> =
        costs.iter().filter_map(|cost| cost.as_ref().err().copied()).collect();
    missing.sort_unstable();
    missing.dedup();
    let known = || costs.iter().enumerate().filter_map(|(index, cost)| Some((index, *cost.as_ref().ok()?)));
    let comparable = known().count() > 1;
    let least = known().min_by(|a, b| a.1.value.total_cmp(&b.1.value)).filter(|_| comparable);
    let most = known().map(|(_, cost)| cost.value).max_by(f64::total_cmp).filter(|_| comparable);
    let is_as_good = |(index, cost): &(usize, Interval<f64>)| {
        least.is_some_and(|(best, least)| *index != best && cost.low <= least.high)
    };
    Placement {
        tenant,
        best: least.map(|(index, _)| index),
        maybe_as_good: known().filter(is_as_good).map(|(index, _)| index).collect(),
        gain_ratio: least.zip(most).map(|((_, least), most)| most / least.value),
        cost_ns: costs.into_iter().map(Result::ok).collect(),
        missing,
    }
}

/// Assumes reads at depth 1, as in merges and walks along version chains. A sequential page costs
/// its share of the best sequential transfer, because databases combine such pages into long
/// requests.
fn cost_ns(figures: &Figures<'_>, mix: Mix, page_bytes: u64) -> Result<Interval<f64>, MissingFigure> {
    let sequential_write = || figures.sequential_write_ns(page_bytes).map(|figure| figure.value);
    let mut total = Interval::exact(0.0);
    let mut add = |weight: f64, cost: &dyn Fn() -> Result<Interval<f64>, MissingFigure>| {
        if weight > 0.0 {
            total = sum(&total, &map(&cost()?, |cost| weight * cost));
        }
        Ok(())
    };
    add(mix.commit, &|| Ok(figures.commit()?.value))?;
    add(mix.sequential_write, &sequential_write)?;
    add(mix.partitioned_write, &|| Ok(product(&sequential_write()?, &figures.partitioned_write()?.value)))?;
    add(mix.random_write, &|| Ok(figures.random_write_ns(page_bytes)?.value))?;
    add(mix.sequential_read, &|| {
        Ok(inverse(1e9 * page_bytes as f64, &figures.sequential_read_bandwidth()?.value))
    })?;
    add(mix.random_read, &|| figures.random_page_ns(page_bytes))?;
    Ok(total)
}
