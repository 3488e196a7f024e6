//! Costs with cached prices.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Prices, ReadCosts};
use crate::{Plan, PlanFile, PlanOptions, ReadsError, Want};

/// Price tables kept: one for each combination of alignment, memory and depth.
const KEPT_MOST: usize = 16;

/// Measured read costs of a device with the prices derived from them. Prices are cached, because
/// deriving them takes longer than a short plan. Clones share the cache.
#[derive(Debug, Clone)]
pub struct Pricing(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    costs: ReadCosts,
    /// Most recently used last.
    kept: Mutex<Vec<(Key, Arc<Prices>)>>,
}

/// Inputs of the prices besides the costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) align_bytes: u64,
    /// Limit on request length.
    pub(crate) request_bytes_max: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) depth: Option<u32>,
}

impl Pricing {
    /// Creates the pricing of valid costs.
    ///
    /// # Errors
    /// See [`ReadCosts::check`].
    pub fn new(costs: ReadCosts) -> Result<Self, ReadsError> {
        costs.check()?;
        Ok(Self(Arc::new(Shared { costs, kept: Mutex::default() })))
    }

    /// Measured costs of the device.
    pub fn costs(&self) -> &ReadCosts {
        &self.0.costs
    }

    /// Plans as [`Plan::new`] does.
    ///
    /// # Errors
    /// See [`Plan::new`].
    pub fn plan(
        &self,
        wants: Vec<Want>,
        files: &[PlanFile],
        options: PlanOptions,
    ) -> Result<Plan, ReadsError> {
        let align_bytes =
            files.iter().map(|file| file.align_bytes).fold(self.costs().logical_block_bytes, u64::max);
        let asked_bytes = options.request_bytes_max.unwrap_or(u64::MAX);
        let key = Key {
            align_bytes,
            request_bytes_max: asked_bytes.min(self.costs().largest_request_bytes),
            memory_bytes: options.window_bytes(),
            depth: options.strategy.depth(options.depth),
        };
        Plan::priced(wants, files, self.prices(key), options)
    }

    /// Prices without a limit on memory.
    pub(crate) fn unbounded(&self) -> Arc<Prices> {
        let ReadCosts { logical_block_bytes, largest_request_bytes, .. } = self.costs();
        self.prices(Key {
            align_bytes: *logical_block_bytes,
            request_bytes_max: *largest_request_bytes,
            memory_bytes: u64::MAX,
            depth: None,
        })
    }

    fn prices(&self, key: Key) -> Arc<Prices> {
        let kept = || self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().iter().find(|(of, _)| *of == key).map(|(_, prices)| Arc::clone(prices));
        known.unwrap_or_else(|| {
            let prices = Arc::new(Prices::of(&self.0.costs, key));
            let mut kept = kept();
            // Another thread may have derived them meanwhile.
            if let Some((_, known)) = kept.iter().find(|(of, _)| *of == key) {
                return Arc::clone(known);
            }
            if kept.len() >= KEPT_MOST {
                kept.remove(0);
            }
            kept.push((key, Arc::clone(&prices)));
            prices
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::flash;
    use super::*;

    fn key(memory_bytes: u64) -> Key {
        Key { align_bytes: 4096, request_bytes_max: 256 << 10, memory_bytes, depth: None }
    }

    #[test]
    fn prices_are_found_once_for_each_way_of_asking() {
        let pricing = Pricing::new(flash()).unwrap();
        let first = pricing.prices(key(1 << 20));
        assert!(Arc::ptr_eq(&first, &pricing.clone().prices(key(1 << 20))));
        assert!(!Arc::ptr_eq(&first, &pricing.prices(key(2 << 20))));
        for more in 3..20 {
            pricing.prices(key(more << 20));
        }
        assert_eq!(pricing.0.kept.lock().unwrap().len(), KEPT_MOST);
        assert!(!Arc::ptr_eq(&first, &pricing.prices(key(1 << 20))), "the oldest went");
    }

    #[test]
    fn plans_are_those_of_the_costs() {
        let want =
            |offset_bytes, step| Want { file: crate::FileId(0), offset_bytes, length_bytes: 4096, step };
        let wants: Vec<Want> = (0..100).map(|number| want(u64::from(number) * 12_288, number)).collect();
        let files = [PlanFile::new(2 << 20, 4096)];
        let options = PlanOptions { request_bytes_max: Some(64 << 10), ..PlanOptions::new(1 << 20) };
        let one = Plan::new(wants.clone(), &files, &flash(), options).unwrap();
        let other = Pricing::new(flash()).unwrap().plan(wants, &files, options).unwrap();
        assert_eq!(one.reads(), other.reads());
    }
}
