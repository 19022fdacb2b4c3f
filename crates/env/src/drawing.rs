//! States as drawings: shapes on a plane, for whoever can show them.

use std::fmt::Write as _;

/// What a shape stands for; whoever draws chooses the colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// The ground, a table, a grid line.
    Ground,
    /// A wall or an obstacle.
    Wall,
    /// A thing that can be moved or taken.
    Thing,
    /// What is asked for.
    Goal,
    /// Whoever acts.
    Agent,
    /// A colour of its own: red, green, blue, purple, yellow or grey.
    Colour(&'static str),
}

/// A shape with its place in units of a block or a cell, x to the right and y downwards.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A rectangle by its upper left corner and its sides, with a label in the middle.
    Box {
        /// Its left side.
        x: f64,
        /// Its upper side.
        y: f64,
        /// How wide it is.
        width: f64,
        /// How high it is.
        height: f64,
        /// What it stands for.
        paint: Paint,
        /// What is written on it.
        label: String,
    },
    /// A disc by its centre.
    Disc {
        /// Its centre, across.
        x: f64,
        /// Its centre, down.
        y: f64,
        /// How wide it is, halved.
        radius: f64,
        /// What it stands for.
        paint: Paint,
        /// What is written on it.
        label: String,
    },
    /// A line of text by the middle of its base line.
    Text {
        /// Its middle.
        x: f64,
        /// Its base line.
        y: f64,
        /// What it says.
        text: String,
    },
}

/// A state drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// How wide it is, in units.
    pub width: f64,
    /// How high it is, in units.
    pub height: f64,
    /// What is drawn, from back to front.
    pub shapes: Vec<Shape>,
}

impl Drawing {
    /// An empty drawing of this size.
    pub fn new(width: f64, height: f64) -> Drawing {
        Drawing { width, height, shapes: Vec::new() }
    }

    /// Adds a rectangle of one unit a side.
    pub fn unit(&mut self, x: f64, y: f64, paint: Paint, label: &str) {
        self.shapes.push(Shape::Box { x, y, width: 1.0, height: 1.0, paint, label: label.to_string() });
    }

    /// Adds a disc in the middle of the unit at `x`, `y`.
    pub fn disc(&mut self, x: f64, y: f64, paint: Paint, label: &str) {
        self.shapes.push(Shape::Disc {
            x: x + 0.5,
            y: y + 0.5,
            radius: 0.32,
            paint,
            label: label.to_string(),
        });
    }

    /// Adds a line of text.
    pub fn text(&mut self, x: f64, y: f64, text: &str) {
        self.shapes.push(Shape::Text { x, y, text: text.to_string() });
    }

    /// The shapes as SVG elements with classes (`ground`, `wall`, `thing`, `goal`, `agent`, a colour, or none for text),
    /// `unit` pixels a unit.
    pub fn svg(&self, unit: f64) -> String {
        let mut svg = String::new();
        let label = |svg: &mut String, x: f64, y: f64, text: &str| {
            if !text.is_empty() {
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{:.1}\" style=\"font-size: {:.0}px\" text-anchor=\"middle\" \
                     dominant-baseline=\"central\">{}</text>",
                    x * unit,
                    y * unit,
                    unit * 0.42,
                    escape(text)
                );
            }
        };
        for shape in &self.shapes {
            match shape {
                Shape::Box { x, y, width, height, paint, label: text } => {
                    let _ = writeln!(
                        svg,
                        "<rect class=\"{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                        paint.class(),
                        x * unit,
                        y * unit,
                        width * unit,
                        height * unit
                    );
                    label(&mut svg, x + width / 2.0, y + height / 2.0, text);
                }
                Shape::Disc { x, y, radius, paint, label: text } => {
                    let _ = writeln!(
                        svg,
                        "<circle class=\"{}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{:.1}\"/>",
                        paint.class(),
                        x * unit,
                        y * unit,
                        radius * unit
                    );
                    label(&mut svg, *x, *y, text);
                }
                Shape::Text { x, y, text } => label(&mut svg, *x, *y, text),
            }
        }
        svg
    }
}

impl Paint {
    fn class(self) -> &'static str {
        match self {
            Paint::Ground => "ground",
            Paint::Wall => "wall",
            Paint::Thing => "thing",
            Paint::Goal => "goal",
            Paint::Agent => "agent",
            Paint::Colour(name) => name,
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
