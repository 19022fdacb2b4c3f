//! Drawings as PNG and GIF. Letters come from a font that is part of the program, so that the result is the same everywhere.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::node::Document;
use crate::theme::Theme;

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The drawing is not one.
    #[error("the drawing cannot be read: {0}")]
    Drawing(#[from] resvg::usvg::Error),
    /// It has no pixels, or not as many as the others of its film.
    #[error("there is no image of {0} by {1} pixels among the others")]
    Size(u32, u32),
    /// The PNG could not be written.
    #[error("the PNG could not be made: {0}")]
    Png(String),
    /// The GIF could not be written.
    #[error("the GIF could not be made: {0}")]
    Gif(#[from] gif::EncodingError),
    /// There is nothing to show.
    #[error("there is no step to show")]
    Empty,
}

/// Pixels per side of an image, and in all, at the most: what is larger is drawn smaller.
const MOST_PER_SIDE: f32 = 8_000.0;
const MOST_PIXELS: f32 = 24e6;

fn fonts() -> &'static Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    FONTS.get_or_init(|| {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(include_bytes!("../fonts/DejaVuSans.ttf").to_vec());
        fonts.load_font_data(include_bytes!("../fonts/DejaVuSans-Bold.ttf").to_vec());
        fonts.set_sans_serif_family("DejaVu Sans");
        Arc::new(fonts)
    })
}

/// A drawing in pixels, `scale` of them per unit.
fn pixels(document: &Document, theme: Theme, scale: f32) -> Result<Pixmap, Error> {
    let options =
        Options { fontdb: Arc::clone(fonts()), font_family: "DejaVu Sans".to_string(), ..Options::default() };
    let tree = Tree::from_str(&document.to_svg(theme), &options)?;
    let size = tree.size();
    let (wide, high) = (size.width(), size.height());
    let scale = scale.min(MOST_PER_SIDE / wide.max(high)).min((MOST_PIXELS / (wide * high)).sqrt());
    let (width, height) = ((wide * scale).ceil() as u32, (high * scale).ceil() as u32);
    let mut pixmap = Pixmap::new(width, height).ok_or(Error::Size(width, height))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    Ok(pixmap)
}

/// A drawing as PNG, `scale` pixels per unit.
pub fn png(document: &Document, theme: Theme, scale: f32) -> Result<Vec<u8>, Error> {
    pixels(document, theme, scale)?.encode_png().map_err(|e| Error::Png(e.to_string()))
}

/// Drawings of one size as a GIF that repeats, each shown for this many hundredths of a second. What stays is written once.
pub fn gif(frames: &[(Document, u16)], theme: Theme, scale: f32) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let Some(((first, hundredths), others)) = frames.split_first() else { return Err(Error::Empty) };
    let mut before = pixels(first, theme, scale)?;
    {
        let mut encoder = gif::Encoder::new(&mut bytes, before.width() as u16, before.height() as u16, &[])?;
        encoder.set_repeat(gif::Repeat::Infinite)?;
        encoder.write_frame(&part(&before, whole(&before), *hundredths))?;
        for (document, hundredths) in others {
            let now = pixels(document, theme, scale)?;
            if (now.width(), now.height()) != (before.width(), before.height()) {
                return Err(Error::Size(now.width(), now.height()));
            }
            let changed = changed(&before, &now).unwrap_or([0, 0, 1, 1]);
            encoder.write_frame(&part(&now, changed, *hundredths))?;
            before = now;
        }
    }
    Ok(bytes)
}

/// The left, upper, right and lower end of all of an image.
fn whole(pixmap: &Pixmap) -> [u32; 4] {
    [0, 0, pixmap.width(), pixmap.height()]
}

/// The part of an image that is not as it was; none where all is.
fn changed(before: &Pixmap, now: &Pixmap) -> Option<[u32; 4]> {
    let width = now.width();
    let differ = before.pixels().iter().zip(now.pixels()).enumerate().filter(|(_, (a, b))| a != b);
    let mut found: Option<[u32; 4]> = None;
    for (at, _) in differ {
        let (x, y) = (at as u32 % width, at as u32 / width);
        let [left, top, right, bottom] = found.unwrap_or([x, y, x, y]);
        found = Some([left.min(x), top.min(y), right.max(x + 1), bottom.max(y + 1)]);
    }
    found
}

/// A part of an image as a frame of a GIF. Drawings have few colours; those beyond 256, which letters bring, become the nearest of
/// them.
fn part(pixmap: &Pixmap, [left, top, right, bottom]: [u32; 4], hundredths: u16) -> gif::Frame<'static> {
    let row = |y: u32| {
        let start = (y * pixmap.width() + left) as usize * 4;
        &pixmap.data()[start..start + (right - left) as usize * 4]
    };
    let mut rgba: Vec<u8> = (top..bottom).flat_map(row).copied().collect();
    let mut frame = gif::Frame::from_rgba_speed((right - left) as u16, (bottom - top) as u16, &mut rgba, 10);
    (frame.left, frame.top, frame.delay) = (left as u16, top as u16, hundredths);
    frame.dispose = gif::DisposalMethod::Keep;
    frame.buffer = Cow::Owned(frame.buffer.into_owned());
    frame
}
