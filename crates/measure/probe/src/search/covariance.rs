use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::CellKey;
use super::fit::Curve;

/// Covariance of the residuals of two cells: of what the curve misses there.
///
/// A residual is the sum of normal numbers: one that cells share the less, the more doublings of block size and depth
/// lie between them (an exponential covariance, so that between two cells it runs straight); one of the cell's own;
/// and what the curve's parameters may be off by, which all cells share as far as they depend on these.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ResidualCovariance {
    /// Standard deviation of the shared part.
    shared: f64,
    /// Doublings over which it fades to a third.
    reach: f64,
    /// Standard deviation of the cell's own part.
    own: f64,
}

/// A cell, and by how much the curve's logarithm changes there with that of each parameter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    key: CellKey,
    slopes: [f64; Curve::PARAMETERS],
}

impl Site {
    pub(super) fn new(key: CellKey, curve: &Curve) -> Self {
        Self { key, slopes: curve.slopes(key) }
    }
}

/// How far the curve's parameters may be off (standard deviation of their logarithms): further than they ever are, so
/// that the measured cells decide.
const PARAMETERS_OFF: f64 = 0.3;
const SHARED: [f64; 6] = [0.01, 0.03, 0.06, 0.12, 0.25, 0.5];
const REACHES: [f64; 4] = [1.0, 2.0, 4.0, 8.0];
const OWN: [f64; 6] = [0.0, 0.01, 0.03, 0.06, 0.12, 0.25];
/// Times that each parameter is looked for with the others as they are.
const PASSES: usize = 2;

impl ResidualCovariance {
    /// The one that makes such residuals, measured with such errors, likeliest. `None` when there are none.
    pub(super) fn likeliest(sites: &[Site], residuals: &DVector<f64>, errors: &DVector<f64>) -> Option<Self> {
        let mut best = Self { shared: 0.06, reach: 2.0, own: 0.03 };
        let mut likelihood = best.log_likelihood(sites, residuals, errors)?;
        let vary: [fn(Self) -> Vec<Self>; 3] = [
            |at| SHARED.map(|shared| Self { shared, ..at }).to_vec(),
            |at| REACHES.map(|reach| Self { reach, ..at }).to_vec(),
            |at| OWN.map(|own| Self { own, ..at }).to_vec(),
        ];
        for vary in vary.iter().cycle().take(PASSES * vary.len()) {
            for tried in vary(best) {
                let greater = tried.log_likelihood(sites, residuals, errors);
                if let Some(greater) = greater.filter(|greater| *greater > likelihood) {
                    (best, likelihood) = (tried, greater);
                }
            }
        }
        Some(best)
    }

    /// Up to a constant.
    fn log_likelihood(self, sites: &[Site], residuals: &DVector<f64>, errors: &DVector<f64>) -> Option<f64> {
        let observed = self.observed(sites, errors)?;
        let misfit = residuals.dot(&observed.solve(residuals));
        Some(-0.5 * (misfit + observed.ln_determinant()))
    }

    /// The covariance of measured residuals, noise included.
    pub(super) fn observed(self, sites: &[Site], errors: &DVector<f64>) -> Option<Cholesky<f64, Dyn>> {
        let noise = DMatrix::from_diagonal(&errors.component_mul(errors));
        Cholesky::new(self.covariance(sites, sites) + noise)
    }

    /// The covariance of residuals without noise.
    pub(super) fn covariance(self, rows: &[Site], columns: &[Site]) -> DMatrix<f64> {
        let entries = columns.iter().flat_map(|column| rows.iter().map(|row| self.of(row, column)));
        DMatrix::from_iterator(rows.len(), columns.len(), entries)
    }

    fn of(self, one: &Site, other: &Site) -> f64 {
        let own = if one.key == other.key { self.own.powi(2) } else { 0.0 };
        let shared = self.shared.powi(2) * (-one.key.doublings_to(other.key) / self.reach).exp();
        let slopes = one.slopes.iter().zip(&other.slopes);
        own + shared + PARAMETERS_OFF.powi(2) * slopes.map(|(one, other)| one * other).sum::<f64>()
    }
}
