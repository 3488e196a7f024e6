use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::CellKey;
use super::fit::Curve;

/// Covariance of the residuals of two cells, where a residual is the log deviation from the curve.
///
/// A residual is a sum of three normal terms. The first is shared by neighbouring cells; its
/// correlation decays exponentially with the doublings of block size and depth between them, so
/// interpolation between two cells is linear. The second belongs to one cell alone. The third comes
/// from errors of the curve's parameters, which cells share according to their sensitivity to them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ResidualCovariance {
    /// Standard deviation of the shared term.
    shared: f64,
    /// Doublings over which the shared correlation decays to 1/e.
    reach: f64,
    /// Standard deviation of the cell's own term.
    own: f64,
}

/// A cell with the sensitivity of the curve's logarithm to the logarithm of each parameter.
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

/// Prior standard deviation of the logarithm of each curve parameter. It is deliberately wide, so
/// that measured cells decide.
const PARAMETER_DEVIATION: f64 = 0.3;
const SHARED: [f64; 6] = [0.01, 0.03, 0.06, 0.12, 0.25, 0.5];
const REACHES: [f64; 4] = [1.0, 2.0, 4.0, 8.0];
const OWN: [f64; 6] = [0.0, 0.01, 0.03, 0.06, 0.12, 0.25];
/// Passes of the coordinate search over the three parameters.
const PASSES: usize = 2;

impl ResidualCovariance {
    /// Maximum-likelihood covariance for the given residuals and measurement errors. `None` if
    /// there are none.
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

    /// Log likelihood up to a constant.
    fn log_likelihood(self, sites: &[Site], residuals: &DVector<f64>, errors: &DVector<f64>) -> Option<f64> {
        let observed = self.observed(sites, errors)?;
        let misfit = residuals.dot(&observed.solve(residuals));
        Some(-0.5 * (misfit + observed.ln_determinant()))
    }

    /// Covariance of measured residuals, including noise.
    pub(super) fn observed(self, sites: &[Site], errors: &DVector<f64>) -> Option<Cholesky<f64, Dyn>> {
        let noise = DMatrix::from_diagonal(&errors.component_mul(errors));
        Cholesky::new(self.covariance(sites, sites) + noise)
    }

    /// Covariance of residuals without noise.
    pub(super) fn covariance(self, rows: &[Site], columns: &[Site]) -> DMatrix<f64> {
        let entries = columns.iter().flat_map(|column| rows.iter().map(|row| self.of(row, column)));
        DMatrix::from_iterator(rows.len(), columns.len(), entries)
    }

    fn of(self, one: &Site, other: &Site) -> f64 {
        let own = if one.key == other.key { self.own.powi(2) } else { 0.0 };
        let shared = self.shared.powi(2) * (-one.key.doublings_to(other.key) / self.reach).exp();
        let slopes = one.slopes.iter().zip(&other.slopes);
        own + shared + PARAMETER_DEVIATION.powi(2) * slopes.map(|(one, other)| one * other).sum::<f64>()
    }
}
