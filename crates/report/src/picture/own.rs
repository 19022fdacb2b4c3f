//! What a world drew of a state itself: text or an image.

use derrl_env::scene::Image;

use super::Picture;
use crate::node::Node;

const SIZE: f64 = 15.0;
const LINE: f64 = 19.0;
/// The width of a letter of a font of one width, as a share of its size.
const LETTER: f64 = 0.61;
/// Lines, and letters of a line, that are shown at the most.
const MOST_LINES: usize = 80;
const MOST_LETTERS: usize = 200;
/// Small images are enlarged to this width.
const WIDTH: f64 = 320.0;

/// The text in lines, in letters of one width.
pub(super) fn text(text: &str) -> Picture {
    // Spaces in a row would be drawn as one.
    let cut = |line: &str| -> String { line.replace(' ', "\u{a0}").chars().take(MOST_LETTERS).collect() };
    let lines: Vec<String> = text.lines().take(MOST_LINES).map(cut).collect();
    let letters = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0) as f64;
    let width = (32.0 + letters * LETTER * SIZE).max(200.0);
    let mut picture = Picture::empty(width, 24.0 + LINE * lines.len() as f64, text.to_string());
    for (i, line) in lines.iter().enumerate() {
        let drawn = Node::text(0.0, 0.0, SIZE, line.as_str())
            .set("font-family", "ui-monospace, monospace")
            .fill("var(--ink)");
        picture.put(format!("line {i}"), (16.0, 12.0 + LINE * (i as f64 + 0.75)), vec![drawn]);
    }
    picture
}

/// The image, small ones enlarged without blurring. What it shows is said by the facts.
pub(super) fn image(image: &Image, facts: &[String]) -> Picture {
    let (width, height) = (f64::from(image.width.max(1)), f64::from(image.height.max(1)));
    let scale = (WIDTH / width).max(1.0);
    let (width, height) = (width * scale, height * scale);
    let mut picture = Picture::empty(width, height, format!("{}.", facts.join("; ")));
    let drawn = Node::new("image")
        .set("href", image.address.as_str())
        .at("width", width)
        .at("height", height)
        .set("image-rendering", "pixelated");
    picture.put("image", (0.0, 0.0), vec![drawn]);
    picture
}
