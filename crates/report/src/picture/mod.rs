//! A state as pieces: each has a key, and moves while the key stays.

mod cart;
mod facts;
mod grid;
mod letters;
mod numbers;
mod own;
mod places;
mod roads;
mod stacks;
mod streets;
mod towers;

use derrl_env::Scene;
use derrl_learn::Match;

use crate::node::{Document, Node};

pub use letters::in_letters;
pub use towers::towers;

/// A state drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Its width in pixels. It stays the same for all states of an instance.
    pub width: f64,
    /// Its height in pixels.
    pub height: f64,
    /// What it shows, in words.
    pub label: String,
    /// What is drawn, from back to front.
    pub pieces: Vec<Piece>,
}

/// A few elements at a place. From one state to the next, pieces of the same key are the same thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// What it is: unique in a picture.
    pub key: String,
    /// Its place, across.
    pub x: f64,
    /// Its place, down.
    pub y: f64,
    /// What it looks like, around its place.
    pub looks: Vec<Node>,
    /// The places it came along in the last action, the present one last; empty where it came straight.
    pub path: Vec<(f64, f64)>,
}

impl Picture {
    /// A state drawn: by its scene, else by its facts, as blocks, as things at places, or as a graph. `marks` says which variables stand for which objects.
    pub fn new(scene: &Scene, facts: &[String], marks: &Marks) -> Picture {
        match scene {
            Scene::Facts => facts::draw(&[], facts, marks),
            Scene::Objects(objects) => towers::draw(facts, marks)
                .or_else(|| places::draw(&objects.groups, facts, marks))
                .unwrap_or_else(|| facts::draw(&objects.groups, facts, marks)),
            Scene::Stacks(scene) => stacks::draw(scene, marks),
            Scene::Numbers(scene) => numbers::draw(scene, marks),
            Scene::Grid(scene) => grid::draw(scene, marks),
            Scene::Roads(scene) => roads::draw(scene, marks),
            Scene::Streets(scene) => streets::draw(scene, marks),
            Scene::Cart(scene) => cart::draw(scene),
            Scene::Text { text } => own::text(text),
            Scene::Image(image) => own::image(image, facts),
        }
    }

    fn empty(width: f64, height: f64, label: String) -> Picture {
        Picture { width, height, label, pieces: Vec::new() }
    }

    fn put(&mut self, key: impl Into<String>, (x, y): (f64, f64), looks: Vec<Node>) {
        self.pieces.push(Piece { key: key.into(), x, y, looks, path: Vec::new() });
    }

    /// All pieces in their places.
    pub fn nodes(&self) -> Vec<Node> {
        self.pieces.iter().map(|piece| Node::group(piece.looks.clone()).moved(piece.x, piece.y)).collect()
    }

    /// The picture alone, as a drawing.
    pub fn document(&self) -> Document {
        Document { width: self.width, height: self.height, label: self.label.clone(), nodes: self.nodes() }
    }
}

/// Which variables of the rule that fired stand for which objects. Each variable has a colour.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// Object, place of its first variable in the rule, names of its variables.
    of: Vec<(String, usize, String)>,
}

impl Marks {
    /// The marks of a rule that fired.
    pub fn of(fired: Option<&Match>) -> Marks {
        let pairs = fired.map(|m| m.substitution.as_slice()).unwrap_or_default();
        let mut marks = Marks::default();
        for (place, (variable, object)) in pairs.iter().enumerate() {
            match marks.of.iter_mut().find(|m| m.0 == *object) {
                Some((_, _, names)) => {
                    names.push(' ');
                    names.push_str(variable);
                }
                None => marks.of.push((object.clone(), place, variable.clone())),
            }
        }
        marks
    }

    /// The colour and the variables of an object.
    fn get(&self, object: &str) -> Option<Mark<'_>> {
        let (_, place, names) = self.of.iter().find(|m| m.0 == object)?;
        Some(Mark { colour: VARIABLES[place % VARIABLES.len()], names })
    }
}

const VARIABLES: [&str; 6] = ["var(--v0)", "var(--v1)", "var(--v2)", "var(--v3)", "var(--v4)", "var(--v5)"];

/// An object that a rule speaks of.
#[derive(Clone, Copy)]
struct Mark<'a> {
    colour: &'static str,
    names: &'a str,
}

impl Mark<'_> {
    /// A disc with the names of the variables, around a place.
    fn badge(self, x: f64, y: f64) -> Vec<Node> {
        let width = 22.0 + 8.0 * (self.names.chars().count() as f64 - 1.0);
        vec![
            Node::rect(x - width / 2.0, y - 11.0, width, 22.0).at("rx", 11.0).fill(self.colour),
            Node::text(x, y + 4.6, 13.0, self.names).middle().bold().fill("var(--card)"),
        ]
    }
}

/// Text with the one minus sign that is used everywhere.
pub(crate) fn minus(text: &str) -> String {
    text.replace('-', "\u{2212}")
}
