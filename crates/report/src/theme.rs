//! The colours of pages and pictures. Each has a name, and a value for light and for dark.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on light, also for paper.
    #[default]
    Light,
    /// Light on dark.
    Dark,
    /// Whatever the page around it is: names of colours stay names.
    Page,
}

/// Name, light, dark. Variables of rules (`v0` to `v5`) keep one colour each, wherever they appear.
const COLOURS: &[(&str, &str, &str)] = &[
    ("page", "#f7f6f3", "#121417"),
    ("card", "#ffffff", "#1b1e22"),
    ("sunk", "#f1efea", "#23272c"),
    ("line", "#e2dfd8", "#343a41"),
    ("ink", "#1c2024", "#e9ebed"),
    ("soft", "#5b636c", "#aab2ba"),
    ("faint", "#61686f", "#8e97a0"),
    ("accent", "#14716b", "#5cc6bd"),
    ("accent-soft", "#e2f1ef", "#17322f"),
    ("good", "#1c7a3f", "#74cf94"),
    ("good-soft", "#e3f3e8", "#17301f"),
    ("bad", "#b3261e", "#ff9a8f"),
    ("bad-soft", "#fbe7e4", "#3d1c19"),
    ("unsure", "#8a5a00", "#eabb62"),
    ("unsure-soft", "#fbf0d9", "#35280f"),
    ("v0", "#1d5fd1", "#86b4ff"),
    ("v1", "#a34708", "#ffa963"),
    ("v2", "#7a3fc4", "#c9a2ff"),
    ("v3", "#086c75", "#63d0da"),
    ("v4", "#b3246f", "#ff8fc4"),
    ("v5", "#5d6f00", "#c4d65a"),
    ("wall", "#5d6570", "#667080"),
    ("floor", "#faf9f6", "#262b31"),
    ("road", "#d8d5cd", "#3a4047"),
];

impl Theme {
    /// A value of an attribute with the name of a colour replaced by the colour.
    pub(crate) fn resolve(self, value: &str) -> Cow<'_, str> {
        let name = value.strip_prefix("var(--").and_then(|rest| rest.strip_suffix(')'));
        match name.and_then(|name| COLOURS.iter().find(|c| c.0 == name)) {
            Some((_, light, _)) if self == Theme::Light => Cow::Borrowed(light),
            Some((_, _, dark)) if self == Theme::Dark => Cow::Borrowed(dark),
            _ => Cow::Borrowed(value),
        }
    }
}

/// The colours as custom properties of a page, for light and dark.
pub fn css() -> String {
    let block = |pick: fn(&(&str, &'static str, &'static str)) -> &'static str| {
        COLOURS.iter().fold(String::new(), |mut text, colour| {
            let _ = write!(text, " --{}: {};", colour.0, pick(colour));
            text
        })
    };
    format!(
        ":root {{ color-scheme: light dark;{} }}\n@media (prefers-color-scheme: dark) {{ :root {{{} }} }}\n",
        block(|c| c.1),
        block(|c| c.2)
    )
}
