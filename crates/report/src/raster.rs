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
    /// It is too large.
    #[error("an image of {0} by {1} pixels is too large")]
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

/// Pixels per side of an image, at the most.
const MOST_PIXELS: u32 = 8_000;

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
    let (width, height) = ((size.width() * scale).ceil() as u32, (size.height() * scale).ceil() as u32);
    if width > MOST_PIXELS || height > MOST_PIXELS {
        return Err(Error::Size(width, height));
    }
    let mut pixmap = Pixmap::new(width, height).ok_or(Error::Size(width, height))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    Ok(pixmap)
}

/// A drawing as PNG, `scale` pixels per unit.
pub fn png(document: &Document, theme: Theme, scale: f32) -> Result<Vec<u8>, Error> {
    pixels(document, theme, scale)?.encode_png().map_err(|e| Error::Png(e.to_string()))
}

/// Drawings of one size as a GIF that repeats, each shown for this many hundredths of a second.
pub fn gif(frames: &[(Document, u16)], theme: Theme, scale: f32) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let mut encoder: Option<gif::Encoder<&mut Vec<u8>>> = None;
    let mut side = (0, 0);
    let mut bytes_at = Some(&mut bytes);
    for (document, hundredths) in frames {
        let pixmap = pixels(document, theme, scale)?;
        let (width, height) = (pixmap.width() as u16, pixmap.height() as u16);
        if let Some(out) = bytes_at.take() {
            let mut made = gif::Encoder::new(out, width, height, &[])?;
            made.set_repeat(gif::Repeat::Infinite)?;
            side = (width, height);
            encoder = Some(made);
        }
        if (width, height) != side {
            return Err(Error::Size(pixmap.width(), pixmap.height()));
        }
        if let Some(encoder) = &mut encoder {
            encoder.write_frame(&still(&pixmap, *hundredths))?;
        }
    }
    if encoder.is_none() {
        return Err(Error::Empty);
    }
    drop(encoder);
    Ok(bytes)
}

/// A frame of a GIF. Drawings have few colours; those beyond 256, which letters bring, become the nearest of them.
fn still(pixmap: &Pixmap, hundredths: u16) -> gif::Frame<'static> {
    let mut rgba: Vec<u8> = pixmap.data().to_vec();
    let mut frame = gif::Frame::from_rgba_speed(pixmap.width() as u16, pixmap.height() as u16, &mut rgba, 10);
    frame.delay = hundredths;
    frame.dispose = gif::DisposalMethod::Keep;
    frame.buffer = Cow::Owned(frame.buffer.into_owned());
    frame
}
