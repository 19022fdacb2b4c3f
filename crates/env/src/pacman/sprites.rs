//! What things look like: sprites of 8 x 8 pixels, and noise.

use std::sync::OnceLock;

use crate::pixels::PATCH;
use crate::rng::Rng;

const SIDE: usize = 8;

/// Looking to the right; there are four looks, and the mouth is where it goes.
const AGENT: [&str; 8] =
    ["..YYYY..", ".YYYYYY.", "YYYYYY..", "YYYY....", "YYYY....", "YYYYYY..", ".YYYYYY.", "..YYYY.."];
const GOAL: [&str; 8] =
    ["....GG..", "...G.G..", "..G...G.", "..R...R.", ".RRR.RRR", ".RRR.RRR", "..R...R.", "........"];
/// In the colour of the enemy.
const ENEMY: [&str; 8] =
    ["..####..", ".######.", "#WW##WW#", "#WB##WB#", "########", "########", "########", "#.##.##."];
const EMPTY: [&str; 8] =
    ["........", "........", "........", "...WW...", "...WW...", "........", "........", "........"];

/// The colours of enemies.
const COLOURS: [[f32; 3]; 4] = [[0.9, 0.1, 0.1], [0.9, 0.6, 0.8], [0.1, 0.8, 0.9], [0.9, 0.6, 0.2]];

/// The number of the direction to the right, in which sprites are drawn below.
pub const RIGHT: usize = 3;

/// How many looks an enemy may have.
pub const LOOKS: usize = COLOURS.len();

/// What stands in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sprite {
    /// Oneself, looking in this direction.
    Agent(usize),
    /// The goal.
    Goal,
    /// Nothing.
    Empty,
    /// An enemy, and how it looks.
    Enemy(usize),
}

fn colour(letter: u8, look: usize) -> [f32; 3] {
    match letter {
        b'Y' => [0.9, 0.8, 0.1],
        b'G' => [0.1, 0.7, 0.2],
        b'R' => [0.8, 0.1, 0.2],
        b'W' => [0.8, 0.8, 0.8],
        b'B' => [0.1, 0.1, 0.6],
        b'#' => COLOURS[look],
        _ => [0.1, 0.1, 0.1],
    }
}

/// Draws a sprite, shifted by so many pixels to the right and down.
fn draw(sprite: Sprite, shift: [i32; 2], patch: &mut [f32]) {
    let (rows, look, facing) = match sprite {
        Sprite::Agent(facing) => (&AGENT, 0, facing),
        Sprite::Goal => (&GOAL, 0, RIGHT),
        Sprite::Empty => (&EMPTY, 0, RIGHT),
        Sprite::Enemy(look) => (&ENEMY, look, RIGHT),
    };
    let last = SIDE as i32 - 1;
    for (i, pixel) in patch.chunks_exact_mut(3).enumerate() {
        let x = (i % SIDE) as i32 - shift[0];
        let y = (i / SIDE) as i32 - shift[1];
        // The directions are up, down, left, right.
        let (x, y) = match facing {
            0 => (last - y, x),
            1 => (y, x),
            2 => (last - x, y),
            _ => (x, y),
        };
        let inside = (0..=last).contains(&x) && (0..=last).contains(&y);
        let letter = if inside { rows[y as usize].as_bytes()[x as usize] } else { b'.' };
        pixel.copy_from_slice(&colour(letter, look));
    }
}

/// Normal numbers that are drawn once: a patch takes a run of them from a random place.
const NOISE: usize = 1 << 16;

fn noise() -> &'static [f32] {
    static DRAWN: OnceLock<Vec<f32>> = OnceLock::new();
    DRAWN.get_or_init(|| {
        let mut rng = Rng::new(0, 0);
        (0..NOISE + PATCH)
            .map(|_| {
                // Box and Muller.
                let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
                (radius * (std::f64::consts::TAU * rng.unit()).cos()) as f32
            })
            .collect()
    })
}

/// How much brighter or darker a cell may be.
const BRIGHTNESS: f32 = 0.15;

/// Appends a cell as it is seen: the sprite up to a pixel off its place, brighter or darker, with normal noise of this deviation.
pub fn look(sprite: Sprite, deviation: f32, rng: &mut Rng, frame: &mut Vec<f32>) {
    let from = frame.len();
    frame.resize(from + PATCH, 0.0);
    let patch = &mut frame[from..];
    draw(sprite, [0, 0].map(|_: i32| rng.below(3) as i32 - 1), patch);
    let brightness = BRIGHTNESS * (2.0 * rng.unit() as f32 - 1.0);
    let noise = &noise()[rng.below(NOISE)..];
    patch.iter_mut().zip(noise).for_each(|(pixel, noise)| *pixel += brightness + deviation * noise);
}
