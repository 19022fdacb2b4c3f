//! Roads between places: random graphs in one piece.

use derrl_env::Rng;

/// Places from 0, and the pairs of them that are joined, both ways.
pub(super) struct Roads {
    joined: Vec<Vec<usize>>,
}

impl Roads {
    /// A random tree of the places, and up to so many roads more.
    pub(super) fn new(places: usize, more: usize, rng: &mut Rng) -> Roads {
        let mut roads = Roads { joined: vec![Vec::new(); places] };
        let mut order: Vec<usize> = (0..places).collect();
        rng.shuffle(&mut order);
        for i in 1..places {
            // One of the last few: trees of many places are long, like maps, and not stars.
            let back = 1 + rng.below(i.min(4));
            roads.join(order[i], order[i - back]);
        }
        for _ in 0..more {
            let (a, b) = (rng.below(places), rng.below(places));
            if a != b && !roads.joined(a, b) {
                roads.join(a, b);
            }
        }
        roads
    }

    fn join(&mut self, a: usize, b: usize) {
        self.joined[a].push(b);
        self.joined[b].push(a);
    }

    /// Whether a road joins the two.
    pub(super) fn joined(&self, a: usize, b: usize) -> bool {
        self.joined[a].contains(&b)
    }

    /// Every road, both ways.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.joined.iter().enumerate().flat_map(|(a, to)| to.iter().map(move |&b| (a, b)))
    }

    /// So many places that hang together, the given one first, and the roads by which they were found.
    pub(super) fn part(
        &self,
        from: usize,
        places: usize,
        rng: &mut Rng,
    ) -> (Vec<usize>, Vec<(usize, usize)>) {
        let (mut part, mut used) = (vec![from], Vec::new());
        let mut known = vec![false; self.joined.len()];
        known[from] = true;
        let mut out: Vec<(usize, usize)> = self.joined[from].iter().map(|&b| (from, b)).collect();
        while part.len() < places && !out.is_empty() {
            let road = out.swap_remove(rng.below(out.len()));
            if !std::mem::replace(&mut known[road.1], true) {
                part.push(road.1);
                used.push(road);
                out.extend(self.joined[road.1].iter().map(|&b| (road.1, b)));
            }
        }
        (part, used)
    }
}
