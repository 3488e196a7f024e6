//! Random-read bandwidth of every cell from noisy measurements of some cells (kriging; Rasmussen
//! and Williams, *Gaussian Processes for Machine Learning*, §2.2 and §5.4).
//!
//! Deviations from the curve aren't only noise: a device's quirks extend over neighbouring cells.
//! So each log residual is modelled as a quirk shared with neighbours (see [`ResidualCovariance`])
//! plus the noise of its slices. On a smooth device, neighbours average out a cell's noise. The
//! error of an unmeasured cell grows with its distance from measured ones.

use std::collections::BTreeMap;

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use rand_distr::{Distribution, StandardNormal};

use super::CellKey;
use super::covariance::{ResidualCovariance, Site};
use super::estimate::{Estimate, median};
use super::fit::Curve;
use crate::pattern::Generator;

/// Model of random reads at measured and other cells, in logarithms. Measured cells come first.
pub(super) struct KrigingModel {
    cells: Vec<CellKey>,
    /// Number of slices of each cell; 0 if unmeasured.
    slices: Vec<usize>,
    /// Logarithm of the curve at all cells.
    trend: DVector<f64>,
    /// Log residuals of the measured cells.
    residuals: DVector<f64>,
    /// Standard errors of `residuals`.
    errors: DVector<f64>,
    /// Cholesky factor of the covariance of the quirks at all cells. Multiplied by independent
    /// normal numbers it gives random quirks.
    quirks: DMatrix<f64>,
    /// Covariance of all cells with the measured ones.
    with_measured: DMatrix<f64>,
    /// Covariance of the measured cells, including noise.
    observed: Cholesky<f64, Dyn>,
}

impl KrigingModel {
    /// Creates the model from the estimates of measured random cells and their curve, for these
    /// cells and `others`. `None` if nothing was measured.
    pub(super) fn new(
        estimates: &BTreeMap<CellKey, Estimate>,
        others: &[CellKey],
        curve: &Curve,
    ) -> Option<Self> {
        let cells: Vec<CellKey> = estimates.keys().chain(others).copied().collect();
        let sites: Vec<Site> = cells.iter().map(|key| Site::new(*key, curve)).collect();
        let measured = sites.get(..estimates.len())?;
        let vector = |figure: &dyn Fn((&CellKey, &Estimate)) -> f64| {
            DVector::from_iterator(measured.len(), estimates.iter().map(figure))
        };
        let residuals = vector(&|(key, estimate)| curve.log_residual(key, estimate.bandwidth_bytes_per_s));
        let errors = vector(&|(_, estimate)| estimate.log_error);
        let residual_covariance = ResidualCovariance::likeliest(measured, &residuals, &errors)?;
        let trend =
            cells.iter().map(|key| curve.bandwidth_bytes_per_s(key.block_bytes, key.queue_depth).ln());
        Some(Self {
            slices: estimates
                .values()
                .map(|estimate| estimate.slices)
                .chain(others.iter().map(|_| 0))
                .collect(),
            trend: DVector::from_iterator(cells.len(), trend),
            quirks: Cholesky::new(residual_covariance.covariance(&sites, &sites))?.unpack(),
            with_measured: residual_covariance.covariance(&sites, measured),
            observed: residual_covariance.observed(measured, &errors)?,
            residuals,
            errors,
            cells,
        })
    }

    /// Best estimate of every cell with its error.
    pub(super) fn estimates(&self) -> BTreeMap<CellKey, Estimate> {
        let logs = &self.trend + self.explained(&self.residuals);
        let explained = self.observed.l_dirty().solve_lower_triangular(&self.with_measured.transpose());
        let variance = |number: usize| {
            let explained = explained.as_ref().map_or(0.0, |parts| parts.column(number).norm_squared());
            (self.quirks.row(number).norm_squared() - explained).max(0.0)
        };
        let cells = self.cells.iter().zip(&logs).zip(&self.slices).enumerate();
        let estimate = |(number, ((key, log), slices)): (usize, ((&CellKey, &f64), &usize))| {
            let log_error = variance(number).sqrt();
            (*key, Estimate { bandwidth_bytes_per_s: log.exp(), log_error, slices: *slices })
        };
        cells.map(estimate).collect()
    }

    /// Draws bandwidths conditional on the measured cells. Unconditional quirks are drawn first and
    /// then corrected by the residuals (Journel and Huijbregts, *Mining Geostatistics*, §VII.A).
    pub(super) fn draw(&self, generator: &mut Generator) -> BTreeMap<CellKey, f64> {
        let mut normal = |count: usize| {
            DVector::<f64>::from_iterator(count, (0..count).map(|_| StandardNormal.sample(&mut *generator)))
        };
        let quirks = &self.quirks * normal(self.cells.len());
        let seen = quirks.rows(0, self.errors.len()) + normal(self.errors.len()).component_mul(&self.errors);
        let logs = &self.trend + self.explained(&(&self.residuals - seen)) + quirks;
        self.cells.iter().zip(&logs).map(|(key, log)| (*key, log.exp())).collect()
    }

    /// Expected quirks of all cells, given residuals of the measured ones.
    fn explained(&self, residuals: &DVector<f64>) -> DVector<f64> {
        &self.with_measured * self.observed.solve(residuals)
    }

    /// Relative leave-one-out errors of the measured cells: the median and the 90th percentile
    /// (Rasmussen and Williams, eq. 5.12).
    pub(super) fn errors_left_out(&self) -> (f64, f64) {
        let left_out =
            self.observed.solve(&self.residuals).component_div(&self.observed.inverse().diagonal());
        let mut errors: Vec<f64> = left_out.iter().map(|log| (log.exp() - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        let p90 = errors.get(errors.len() * 9 / 10).or(errors.last());
        (median(errors.iter().copied()), p90.copied().unwrap_or(0.0))
    }
}
