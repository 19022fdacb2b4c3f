//! Ways through the grid: how far each cell is from the nearest one of a symbol, past another symbol.

use std::collections::VecDeque;

/// By cell, the fewest steps to a cell of symbol `to` that enter no cell of symbol `past`; `None` where there is no such way.
/// `next` lists the neighbours of a cell.
pub fn distances<N: Iterator<Item = usize>>(
    symbols: &[u8],
    to: u8,
    past: u8,
    next: impl Fn(usize) -> N,
) -> Vec<Option<u32>> {
    let mut steps = vec![None; symbols.len()];
    let mut queue: VecDeque<usize> = (0..symbols.len()).filter(|&cell| symbols[cell] == to).collect();
    for &cell in &queue {
        steps[cell] = Some(0);
    }
    while let Some(cell) = queue.pop_front() {
        // Backwards: one may have started in a cell that is not to be entered, but not come through it.
        if symbols[cell] == past {
            continue;
        }
        for before in next(cell) {
            if steps[before].is_none() {
                steps[before] = steps[cell].map(|n: u32| n + 1);
                queue.push_back(before);
            }
        }
    }
    steps
}
