//! Weighted fuzzy conjunction: how true a body is, given how true and how certain its atoms are.

use crate::settings::named::named;

/// A t-norm over a body of n atoms with truth values y and weights w.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum TNorm {
    /// max(0, <y, w> - n + 1), the paper's choice.
    #[default]
    Lukasiewicz,
    /// min_j w_j y_j.
    Godel,
    /// prod_j w_j y_j.
    Product,
}

/// Every t-norm with its name.
pub const TNORMS: [(TNorm, &str); 3] =
    [(TNorm::Lukasiewicz, "lukasiewicz"), (TNorm::Godel, "godel"), (TNorm::Product, "product")];

impl TNorm {
    /// The truth of the conjunction. The empty conjunction is 1, the unit of every t-norm.
    ///
    /// ```
    /// use derrl_learn::TNorm;
    /// // The paper's rule r <- p(Y), q(Y,X) with w = [0.8, 0.7], under the substitution that satisfies it.
    /// let z = TNorm::Lukasiewicz.value(&[1.0, 1.0], &[0.8, 0.7]);
    /// assert!((z - 0.5).abs() < 1e-12);
    /// ```
    pub fn value(self, y: &[f64], w: &[f64]) -> f64 {
        let terms = y.iter().zip(w).map(|(y, w)| y * w);
        match self {
            // z = max(0, <y, w> - n + 1)
            TNorm::Lukasiewicz => (terms.sum::<f64>() - y.len() as f64 + 1.0).max(0.0),
            TNorm::Godel => terms.fold(1.0, f64::min),
            TNorm::Product => terms.product(),
        }
    }

    /// Writes dz/dw_j into `out`. At a kink (z = 0 for Łukasiewicz, ties for Gödel) one valid subgradient.
    pub fn gradient(self, y: &[f64], w: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        match self {
            TNorm::Lukasiewicz => {
                if self.value(y, w) > 0.0 {
                    out.copy_from_slice(y);
                }
            }
            TNorm::Godel => {
                let least = (0..y.len()).min_by(|&i, &j| (y[i] * w[i]).total_cmp(&(y[j] * w[j])));
                if let Some(j) = least.filter(|&j| y[j] * w[j] < 1.0) {
                    out[j] = y[j];
                }
            }
            TNorm::Product => {
                for j in 0..y.len() {
                    let others = (0..y.len()).filter(|&i| i != j).map(|i| y[i] * w[i]).product::<f64>();
                    out[j] = y[j] * others;
                }
            }
        }
    }
}

named!(TNorm, "t-norm", TNORMS);
