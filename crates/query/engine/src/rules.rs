//! Physical optimizer rules: the engine's, some of them replaced, and this crate's.

use std::sync::Arc;

use datafusion::common::{DataFusionError, internal_err};
use datafusion::physical_optimizer::PhysicalOptimizerRule as _;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;

use crate::EngineOptions;
use crate::grace::{JOINS_DECIDED, Rule};
use crate::outer::MarkOuterSides;
use crate::scan::{KeepFilters, PlanReads, PushFilters};
use crate::yielding::YieldInJoins;

/// All rules in order.
///
/// # Errors
/// The engine lacks a rule that another replaces or follows.
pub(crate) fn rules(options: &EngineOptions) -> Result<Vec<Rule>, DataFusionError> {
    let mut rules = PhysicalOptimizer::new().rules;
    let push_filters = PushFilters::default();
    let named = |rules: &[Rule], name| rules.iter().position(|rule| rule.name() == name);
    let (Some(pushing), Some(decided)) = (named(&rules, push_filters.name()), named(&rules, JOINS_DECIDED))
    else {
        return internal_err!("there is no rule {} or {JOINS_DECIDED}", push_filters.name());
    };
    if let Some(own) = rules.get_mut(pushing) {
        *own = Arc::new(push_filters);
    }
    rules.insert(decided + 1, Arc::new(MarkOuterSides));
    rules.push(Arc::new(YieldInJoins));
    rules.push(Arc::new(KeepFilters));
    rules.push(Arc::new(PlanReads::new(options)));
    Ok(rules)
}
