//! Numbers scattered over all 64-bit numbers, so that what they stand for is told apart.

use derrl_logic::Facts;

/// A number that tells sets of facts apart, where the world gives none: two unrelated 64-bit hashes.
pub fn digest(facts: &Facts) -> u128 {
    let mix = |h: u64, v: u64, k: u64| (h.rotate_left(23) ^ v).wrapping_mul(k);
    let (mut a, mut b) = (0x243f_6a88_85a3_08d3u64, 0x1319_8a2e_0370_7344u64);
    for (pred, args) in facts.iter() {
        for v in std::iter::once(u64::from(pred.0) | 1 << 40).chain(args.iter().map(|o| u64::from(o.0))) {
            a = mix(a, v, 0x9e37_79b9_7f4a_7c15);
            b = mix(b, v, 0xd1b5_4a32_d192_ed03);
        }
    }
    u128::from(a ^ (a >> 29)) << 64 | u128::from(b ^ (b >> 31))
}

/// A number scattered over all 64-bit numbers, so that sums of a few tell which these are.
pub fn scattered(n: usize) -> u64 {
    let mut x = (n as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Takes one more value into a hash.
pub fn mix(hash: &mut u64, value: u64) {
    *hash = (hash.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
}
