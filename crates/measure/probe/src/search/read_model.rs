use std::collections::BTreeMap;

use nandle_profile::FitSummary;
use rand_distr::{Distribution, StandardNormal};

use super::ablation::{on_curve, on_lines};
use super::estimate::{Estimate, Slice, estimates};
use super::fit::{Curve, in_between, is_random};
use super::kriging::KrigingModel;
use super::{CellKey, Grid, OmittedStatistics, Statistic, Surface};
use crate::pattern::Generator;

/// Bandwidth model of all cells, inferred from the slices of some.
pub(super) struct ReadModel {
    /// Best estimate of each cell. Cells without slices are random reads between measured cells.
    pub(super) cells: BTreeMap<CellKey, Estimate>,
    /// Model of random reads. `None` if too few cells were measured to fit a curve; then each cell
    /// has only its own estimate.
    random: Option<(Curve, KrigingModel)>,
    without: OmittedStatistics,
}

impl ReadModel {
    pub(super) fn of(
        slices: &BTreeMap<CellKey, Vec<Slice>>,
        grid: &Grid,
        without: &OmittedStatistics,
    ) -> Self {
        let mut cells = estimates(slices, without);
        let measured: BTreeMap<_, _> =
            cells.iter().filter(|(key, _)| is_random(key)).map(|(key, estimate)| (*key, *estimate)).collect();
        let others = in_between(grid, &measured);
        let (has_curve, has_kriging) =
            (!without.contains(&Statistic::Curve), !without.contains(&Statistic::Kriging));
        let curve = if has_curve { Curve::fit(&measured) } else { Curve::flat(&measured) };
        let random = curve.filter(|_| has_kriging).and_then(|curve| {
            let kriged = KrigingModel::new(&measured, &others, &curve)?;
            Some((curve, kriged))
        });
        cells.extend(match (&random, curve) {
            (Some((_, kriged)), _) => kriged.estimates(),
            (None, Some(curve)) if has_curve && !has_kriging => on_curve(&measured, &others, &curve),
            (None, _) if !has_kriging => on_lines(&measured, &others),
            (None, _) => BTreeMap::new(),
        });
        Self { cells, random, without: without.clone() }
    }

    /// Surface of the best estimates.
    pub(super) fn surface(&self) -> Surface {
        Surface::new(self.cells.iter().map(|(key, cell)| (*key, cell.bandwidth_bytes_per_s)).collect())
            .without(&self.without)
    }

    /// Surface drawn at random from the uncertainty of the estimates.
    pub(super) fn draw(&self, generator: &mut Generator) -> Surface {
        let mut cells: BTreeMap<CellKey, f64> =
            self.cells.iter().map(|(key, estimate)| (*key, drawn(estimate, generator))).collect();
        if let Some((_, kriged)) = &self.random {
            cells.extend(kriged.draw(generator));
        }
        Surface::new(cells).without(&self.without)
    }

    /// The curve of random reads with its prediction errors at left-out cells.
    pub(super) fn fit(&self) -> Option<FitSummary> {
        self.random.as_ref().map(|(curve, kriged)| curve.summary(kriged.errors_left_out()))
    }
}

fn drawn(estimate: &Estimate, generator: &mut Generator) -> f64 {
    let deviation: f64 = StandardNormal.sample(generator);
    estimate.bandwidth_bytes_per_s * (deviation * estimate.log_error).exp()
}
