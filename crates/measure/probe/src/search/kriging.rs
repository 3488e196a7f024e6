//! Random reading at every cell, from noisy measurements of some (kriging; Rasmussen and Williams, Gaussian Processes
//! for Machine Learning, §2.2 and §5.4).
//!
//! What the curve misses isn't all noise: a device's quirks reach over neighbouring cells. So the logarithm of each
//! cell's residual is taken for the sum of a quirk that neighbours share (see [`ResidualCovariance`]) and of the noise of
//! its slices. Neighbours then help to average a cell's noise out, as far as the device is smooth, and a cell that
//! wasn't measured has an error that says how far from measured ones it is.

use std::collections::BTreeMap;

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use rand_distr::{Distribution, StandardNormal};

use super::CellKey;
use super::covariance::{ResidualCovariance, Site};
use super::estimate::{Estimate, median};
use super::fit::Curve;
use crate::pattern::Generator;

/// Random reading at the measured cells, and at others. Figures are logarithms; the measured cells come first.
pub(super) struct Kriged {
    cells: Vec<CellKey>,
    /// Slices of each cell; none of those that weren't measured.
    slices: Vec<usize>,
    /// The curve at all cells.
    trend: DVector<f64>,
    /// What the measured cells say beyond the curve.
    residuals: DVector<f64>,
    /// The standard errors of these.
    errors: DVector<f64>,
    /// The shape of quirks at all cells: they are this by independent normal numbers.
    quirks: DMatrix<f64>,
    /// The covariance of all cells with the measured ones.
    with_measured: DMatrix<f64>,
    /// The covariance of the measured ones among themselves, noise included.
    observed: Cholesky<f64, Dyn>,
}

impl Kriged {
    /// From estimates of random cells and the curve through them, to those cells and others. `None` when nothing was
    /// measured.
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

    /// The best estimate of every cell, with its error.
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

    /// Bandwidths that the measured cells allow: quirks drawn as if nothing had been measured, less what measured
    /// cells say against them (Journel and Huijbregts, Mining Geostatistics, §VII.A).
    pub(super) fn draw(&self, generator: &mut Generator) -> BTreeMap<CellKey, f64> {
        let mut normal = |count: usize| {
            DVector::<f64>::from_iterator(count, (0..count).map(|_| StandardNormal.sample(&mut *generator)))
        };
        let quirks = &self.quirks * normal(self.cells.len());
        let seen = quirks.rows(0, self.errors.len()) + normal(self.errors.len()).component_mul(&self.errors);
        let logs = &self.trend + self.explained(&(&self.residuals - seen)) + quirks;
        self.cells.iter().zip(&logs).map(|(key, log)| (*key, log.exp())).collect()
    }

    /// What such residuals of the measured cells say of all cells' quirks.
    fn explained(&self, residuals: &DVector<f64>) -> DVector<f64> {
        &self.with_measured * self.observed.solve(residuals)
    }

    /// By what share each measured cell differs from what the others say of it: the median, and the 90th percentile
    /// (leaving one out; Rasmussen and Williams, eq. 5.12).
    pub(super) fn errors_left_out(&self) -> (f64, f64) {
        let left_out =
            self.observed.solve(&self.residuals).component_div(&self.observed.inverse().diagonal());
        let mut errors: Vec<f64> = left_out.iter().map(|log| (log.exp() - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        let p90 = errors.get(errors.len() * 9 / 10).or(errors.last());
        (median(errors.iter().copied()), p90.copied().unwrap_or(0.0))
    }
}
