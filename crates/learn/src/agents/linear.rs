//! Three loops on which every dense layer and its gradient rest. Matrices are flat, one row an output.

/// y += W x.
#[inline]
pub fn add_product(w: &[f64], x: &[f64], y: &mut [f64]) {
    for (y, row) in y.iter_mut().zip(w.chunks_exact(x.len())) {
        *y += row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
    }
}

/// dx += W^T dy.
#[inline]
pub fn add_transposed(w: &[f64], dy: &[f64], dx: &mut [f64]) {
    for (d, row) in dy.iter().zip(w.chunks_exact(dx.len())) {
        dx.iter_mut().zip(row).for_each(|(dx, w)| *dx += d * w);
    }
}

/// dW += dy x^T.
#[inline]
pub fn add_outer(dy: &[f64], x: &[f64], dw: &mut [f64]) {
    for (d, row) in dy.iter().zip(dw.chunks_exact_mut(x.len())) {
        row.iter_mut().zip(x).for_each(|(g, x)| *g += d * x);
    }
}

/// dx = dy (1 - y^2) in place, for y = tanh(x).
#[inline]
pub fn through_tanh(y: &[f64], d: &mut [f64]) {
    d.iter_mut().zip(y).for_each(|(d, y)| *d *= 1.0 - y * y);
}

/// pi = softmax(logits) in place.
#[inline]
pub fn softmax_in_place(logits: &mut [f64]) {
    let highest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut total = 0.0;
    for x in logits.iter_mut() {
        *x = (*x - highest).exp();
        total += *x;
    }
    for x in logits.iter_mut() {
        *x /= total;
    }
}

/// The gradient with respect to the logits, in place of that with respect to pi: d_x = pi (d_pi - <pi, d_pi>).
#[inline]
pub fn through_softmax(pi: &[f64], d: &mut [f64]) {
    let mean: f64 = pi.iter().zip(&*d).map(|(p, d)| p * d).sum();
    d.iter_mut().zip(pi).for_each(|(d, p)| *d = p * (*d - mean));
}
