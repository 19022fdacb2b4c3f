//! SVG elements as data: written as text for files, as JSON for pages.

use std::fmt::Write as _;

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use crate::theme::Theme;

/// An SVG element, or a piece of text. Colours are `var(--name)` of [`Theme`].
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// An element with attributes and what it holds.
    Element {
        /// Its name.
        tag: &'static str,
        /// Its attributes, in order.
        attrs: Vec<(&'static str, String)>,
        /// What it holds.
        children: Vec<Node>,
    },
    /// Text.
    Text(String),
}

impl Node {
    /// An element without attributes.
    pub fn new(tag: &'static str) -> Node {
        Node::Element { tag, attrs: Vec::new(), children: Vec::new() }
    }

    /// A group of elements.
    pub fn group(children: Vec<Node>) -> Node {
        Node::new("g").all(children)
    }

    /// A line of text at a place, of a size in pixels.
    pub fn text(x: f64, y: f64, size: f64, text: impl Into<String>) -> Node {
        Node::new("text").at("x", x).at("y", y).at("font-size", size).with(Node::Text(text.into()))
    }

    /// A rectangle by its upper left corner and its sides.
    pub fn rect(x: f64, y: f64, width: f64, height: f64) -> Node {
        Node::new("rect").at("x", x).at("y", y).at("width", width).at("height", height)
    }

    /// A disc by its centre and radius.
    pub fn circle(x: f64, y: f64, radius: f64) -> Node {
        Node::new("circle").at("cx", x).at("cy", y).at("r", radius)
    }

    /// A line between two points.
    pub fn line(x1: f64, y1: f64, x2: f64, y2: f64) -> Node {
        Node::new("line").at("x1", x1).at("y1", y1).at("x2", x2).at("y2", y2)
    }

    /// A path.
    pub fn path(d: impl Into<String>) -> Node {
        Node::new("path").set("d", d)
    }

    /// With an attribute more.
    #[must_use]
    pub fn set(mut self, name: &'static str, value: impl Into<String>) -> Node {
        if let Node::Element { attrs, .. } = &mut self {
            attrs.push((name, value.into()));
        }
        self
    }

    /// With an attribute more that is a number, in at most two decimals.
    #[must_use]
    pub fn at(self, name: &'static str, value: f64) -> Node {
        self.set(name, number(value))
    }

    /// With a fill.
    #[must_use]
    pub fn fill(self, colour: &str) -> Node {
        self.set("fill", colour)
    }

    /// With a stroke of a width.
    #[must_use]
    pub fn stroke(self, colour: &str, width: f64) -> Node {
        self.set("stroke", colour).at("stroke-width", width)
    }

    /// Text around its middle.
    #[must_use]
    pub fn middle(self) -> Node {
        self.set("text-anchor", "middle")
    }

    /// Text in bold.
    #[must_use]
    pub fn bold(self) -> Node {
        self.set("font-weight", "700")
    }

    /// With something more in it.
    #[must_use]
    pub fn with(mut self, child: Node) -> Node {
        if let Node::Element { children, .. } = &mut self {
            children.push(child);
        }
        self
    }

    /// With all of these in it.
    #[must_use]
    pub fn all(mut self, more: Vec<Node>) -> Node {
        if let Node::Element { children, .. } = &mut self {
            children.extend(more);
        }
        self
    }

    /// Moved by so much.
    #[must_use]
    pub fn moved(self, x: f64, y: f64) -> Node {
        Node::new("g").set("transform", format!("translate({} {})", number(x), number(y))).with(self)
    }

    fn write(&self, theme: Theme, out: &mut String) {
        match self {
            Node::Text(text) => out.push_str(&escape(text)),
            Node::Element { tag, attrs, children } => {
                let _ = write!(out, "<{tag}");
                for (name, value) in attrs {
                    let _ = write!(out, " {name}=\"{}\"", escape(&theme.resolve(value)));
                }
                if children.is_empty() {
                    out.push_str("/>");
                } else {
                    out.push('>');
                    for child in children {
                        child.write(theme, out);
                    }
                    let _ = write!(out, "</{tag}>");
                }
            }
        }
    }
}

/// As pages take it: text is a string, an element is `[tag, {attributes}, ...what it holds]`.
impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::Text(text) => serializer.serialize_str(text),
            Node::Element { tag, attrs, children } => {
                let mut list = serializer.serialize_seq(Some(2 + children.len()))?;
                list.serialize_element(tag)?;
                list.serialize_element(&Attributes(attrs))?;
                children.iter().try_for_each(|child| list.serialize_element(child))?;
                list.end()
            }
        }
    }
}

struct Attributes<'a>(&'a [(&'static str, String)]);

impl Serialize for Attributes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// A drawing of a size, with a description for those who cannot see it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Document {
    /// Its width in pixels.
    pub width: f64,
    /// Its height in pixels.
    pub height: f64,
    /// What it shows, in words.
    pub label: String,
    /// What is drawn, from back to front.
    pub nodes: Vec<Node>,
}

impl Document {
    /// The drawing as SVG inside a page that has the colours of [`css`](crate::css): light or dark as the page is.
    pub fn to_inline_svg(&self) -> String {
        let (width, height) = (number(self.width), number(self.height));
        let mut svg = format!(
            "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\" fill=\"var(--ink)\">",
            escape(&self.label)
        );
        for node in &self.nodes {
            node.write(Theme::Page, &mut svg);
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// The drawing as an SVG file that stands alone: colours in place, letters of common fonts.
    pub fn to_svg(&self, theme: Theme) -> String {
        let (width, height) = (number(self.width), number(self.height));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             role=\"img\" font-family=\"DejaVu Sans, Verdana, sans-serif\" fill=\"{ink}\">\n<title>{label}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{paper}\"/>\n",
            ink = theme.resolve("var(--ink)"),
            paper = theme.resolve("var(--card)"),
            label = escape(&self.label),
        );
        for node in &self.nodes {
            node.write(theme, &mut svg);
            svg.push('\n');
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// A number in at most two decimals.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
}

/// Text as HTML and SVG take it.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_element_as_text_and_as_json() {
        let node = Node::text(1.0, -0.001, 2.5, "a < b").fill("var(--accent)");
        let document =
            Document { width: 10.0, height: 5.0, label: "x & y".into(), nodes: vec![node.clone()] };
        let svg = document.to_svg(Theme::Light);
        assert!(
            svg.contains("<text x=\"1\" y=\"0\" font-size=\"2.5\" fill=\"#14716b\">a &lt; b</text>"),
            "{svg}"
        );
        assert!(svg.contains("<title>x &amp; y</title>"));
        let json = serde_json::to_string(&node).expect("JSON");
        assert_eq!(json, r#"["text",{"x":"1","y":"0","font-size":"2.5","fill":"var(--accent)"},"a < b"]"#);
    }
}
