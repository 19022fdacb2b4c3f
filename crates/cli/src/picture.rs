//! Pictures as files: the format is what the name ends with.

use std::path::Path;

use anyhow::bail;
use derrl_files::safe_file::write_named;
use derrl_learn::Trace;
use derrl_report::{Document, Theme, film, frames, raster, stills};

/// Pixels per unit of a drawing in a PNG: sharp on screens of high resolution.
const PNG_SCALE: f32 = 2.0;
/// The same of a GIF, which grows with every pixel.
const GIF_SCALE: f32 = 1.0;
/// Hundredths of a second that a step is shown, and the last one.
const STEP: u16 = 130;
const LAST: u16 = 300;

/// The formats, by the ends of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines and letters, of any size.
    Svg,
    /// Pixels.
    Png,
    /// A film.
    Gif,
}

impl Format {
    /// All of them.
    pub const ALL: &[Format] = &[Format::Svg, Format::Png, Format::Gif];

    /// What a file is to be, by its name, where there is a place for it. Said at once, and not after an hour of work.
    pub fn of(path: &Path, offered: &[Format]) -> anyhow::Result<Format> {
        let end = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let format = match end.as_deref() {
            Some("svg") => Format::Svg,
            Some("png") => Format::Png,
            Some("gif") => Format::Gif,
            _ => bail!("{}: the name of a picture ends with {}", path.display(), names(offered)),
        };
        if !offered.contains(&format) {
            bail!("{}: here, the name of a picture ends with {}", path.display(), names(offered));
        }
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            bail!("cannot write {}: there is no folder {}", path.display(), folder.display());
        }
        if path.is_dir() {
            bail!("cannot write {}: it is a folder", path.display());
        }
        Ok(format)
    }
}

fn names(offered: &[Format]) -> String {
    let name = |f: &Format| match f {
        Format::Svg => ".svg",
        Format::Png => ".png",
        Format::Gif => ".gif",
    };
    offered.iter().map(name).collect::<Vec<_>>().join(" or ")
}

/// Writes a drawing.
pub fn save(document: &Document, path: &Path, format: Format, theme: Theme) -> anyhow::Result<()> {
    let bytes = match format {
        Format::Svg => document.to_svg(theme).into_bytes(),
        Format::Png => raster::png(document, theme, PNG_SCALE)?,
        Format::Gif => raster::gif(&[(document.clone(), LAST)], theme, GIF_SCALE)?,
    };
    write_named(path, &bytes)
}

/// Writes an explained episode: all of it as a film, or one step (from 1; the step after the last is the end).
pub fn save_episode(
    trace: &Trace,
    step: usize,
    path: &Path,
    format: Format,
    theme: Theme,
) -> anyhow::Result<()> {
    let frames = frames(trace);
    if format == Format::Gif {
        let bytes = raster::gif(&film(&frames, STEP, LAST), theme, GIF_SCALE)?;
        return write_named(path, &bytes);
    }
    let stills = stills(&frames);
    let Some(still) = step.checked_sub(1).and_then(|i| stills.get(i)) else {
        bail!(
            "there is no step {step}: the episode has {} steps, and {} is its end",
            stills.len() - 1,
            stills.len()
        );
    };
    save(still, path, format, theme)
}
