//! The additions, a file each.

mod derived_parameter;
mod drive;
mod experiment;
mod plot;
mod policy;
mod product;
mod trace_format;

use super::recipe::{Place, Recipe};

/// The drive comes first, because the others are probed on it.
pub(super) const RECIPES: &[Recipe] = &[
    drive::RECIPE,
    policy::RECIPE,
    trace_format::RECIPE,
    derived_parameter::RECIPE,
    experiment::RECIPE,
    product::RECIPE,
    plot::RECIPE,
];
