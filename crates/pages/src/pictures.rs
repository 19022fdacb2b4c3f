//! Pictures, written briefly: what repeats is written once and named by number.

use std::collections::HashMap;

use derrl_report::{Node, Picture};
use serde::Serialize;

/// What all pictures of a page are made of.
#[derive(Default, Serialize)]
pub struct Pictures {
    /// What pieces look like, and what they are called.
    looks: Vec<Vec<Node>>,
    keys: Vec<String>,
    /// Pictures of states that are no step of an episode.
    #[serde(rename = "pictures")]
    stills: Vec<Still>,
    #[serde(skip)]
    known_looks: HashMap<String, usize>,
    #[serde(skip)]
    known_keys: HashMap<String, usize>,
    #[serde(skip)]
    known_stills: HashMap<String, usize>,
}

/// What a picture shows, its size, and its pieces from back to front, each with its place and the number of its looks.
#[derive(Serialize)]
struct Still {
    label: String,
    size: (f64, f64),
    pieces: Vec<(f64, f64, usize)>,
}

impl Pictures {
    /// The number of a key.
    pub fn key(&mut self, key: &str) -> usize {
        number_of(&mut self.keys, &mut self.known_keys, key.to_string(), key)
    }

    /// The number of what a piece looks like.
    pub fn looks(&mut self, looks: &[Node]) -> usize {
        let name = serde_json::to_string(looks).unwrap_or_default();
        number_of(&mut self.looks, &mut self.known_looks, looks.to_vec(), &name)
    }

    /// The number of a picture of its own.
    pub fn still(&mut self, picture: &Picture) -> usize {
        let all = picture.pieces.iter();
        let pieces = all.map(|piece| (tenth(piece.x), tenth(piece.y), self.looks(&piece.looks))).collect();
        let still = Still { label: picture.label.clone(), size: (picture.width, picture.height), pieces };
        let name = serde_json::to_string(&still).unwrap_or_default();
        number_of(&mut self.stills, &mut self.known_stills, still, &name)
    }
}

/// The number of something in a list, where it is put if it is new.
fn number_of<T>(list: &mut Vec<T>, known: &mut HashMap<String, usize>, item: T, name: &str) -> usize {
    if let Some(&number) = known.get(name) {
        return number;
    }
    list.push(item);
    known.insert(name.to_string(), list.len() - 1);
    list.len() - 1
}

/// A number with one decimal.
pub fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
