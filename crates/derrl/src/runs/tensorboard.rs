//! Event files for TensorBoard: a folder per restart with its curves by episodes, and one with the scores.
//!
//! A file is a row of records, each a protocol buffer in a frame: its length (8 bytes), the masked CRC-32C of the length, the
//! buffer, the masked CRC-32C of the buffer; numbers are little-endian. Only these fields are used:
//!
//! ```text
//! Event   { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }
//! Summary { repeated Value value = 1; }      Value { string tag = 1; float simple_value = 2; }
//! ```

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use derrl_files::safe_file::{self, make_folder};

use crate::runs::folder::RunFolder;

/// The folder of event files in that of a run.
pub const FOLDER: &str = "tensorboard";

/// Writes the curves and scores of a finished run. Files that are there already stay: TensorBoard shows the newest values.
pub fn write(folder: &RunFolder, logs: &Path) -> anyhow::Result<()> {
    // Elsewhere a link is as good as a folder.
    let is_inside = logs == folder.path().join(FOLDER);
    if is_inside && is_link(logs) {
        bail!("{} is a link, and the files of a run stay in its folder: remove it", logs.display());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64());
    let mut files: BTreeMap<String, Events> = BTreeMap::new();
    for done in folder.checkpoint()?.done {
        let file = files.entry(format!("restart-{}", done.restart)).or_insert_with(|| Events::new(now));
        for point in &done.curve {
            file.add(point.episodes, "train/mean_return", point.mean_return);
            file.add(point.episodes, "train/semantic_loss", point.semantic_loss);
            file.add(point.episodes, "train/body_size", point.body_size);
        }
    }
    let result = folder.result().context("this run is not finished")?;
    let scores = files.entry("scores".to_string()).or_insert_with(|| Events::new(now));
    let steps = result["steps"].as_u64().unwrap_or(0);
    for (task, score) in result["scores"].as_object().into_iter().flatten() {
        for (tag, key) in [("score", "mean"), ("success", "success_rate")] {
            if let Some(value) = score[key].as_f64() {
                scores.add(steps, &format!("{tag}/{task}"), value);
            }
        }
    }
    for (name, events) in files {
        let place = logs.join(name);
        if is_inside && is_link(&place) {
            bail!("{} is a link, and the files of a run stay in its folder: remove it", place.display());
        }
        make_folder(&place)?;
        let path = place.join(format!("events.out.tfevents.{}.derrl.{}", now as u64, std::process::id()));
        safe_file::write(&path, &events.records)?;
    }
    Ok(())
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_symlink())
}

/// The records of a file.
struct Events {
    wall_time: f64,
    records: Vec<u8>,
}

impl Events {
    fn new(wall_time: f64) -> Events {
        let mut events = Events { wall_time, records: Vec::new() };
        let mut version = events.head();
        field(&mut version, 3, b"brain.Event:2");
        events.record(&version);
        events
    }

    /// Adds a value of a curve at a step.
    fn add(&mut self, step: u64, tag: &str, value: f64) {
        let mut inner = Vec::new();
        field(&mut inner, 1, tag.as_bytes());
        inner.push(2 << 3 | FIXED32);
        inner.extend((value as f32).to_le_bytes());
        let mut summary = Vec::new();
        field(&mut summary, 1, &inner);
        let mut event = self.head();
        event.push(2 << 3 | VARINT);
        varint(&mut event, step);
        field(&mut event, 5, &summary);
        self.record(&event);
    }

    fn head(&self) -> Vec<u8> {
        let mut event = vec![1 << 3 | FIXED64];
        event.extend(self.wall_time.to_le_bytes());
        event
    }

    fn record(&mut self, event: &[u8]) {
        let length = (event.len() as u64).to_le_bytes();
        self.records.extend(length);
        self.records.extend(masked_crc(&length).to_le_bytes());
        self.records.extend(event);
        self.records.extend(masked_crc(event).to_le_bytes());
    }
}

/// Kinds of fields of a protocol buffer.
const VARINT: u8 = 0;
const FIXED64: u8 = 1;
const LENGTH: u8 = 2;
const FIXED32: u8 = 5;

fn field(out: &mut Vec<u8>, number: u8, bytes: &[u8]) {
    out.push(number << 3 | LENGTH);
    varint(out, bytes.len() as u64);
    out.extend(bytes);
}

/// Seven bits per byte, the lowest first; all bytes but the last have their highest bit set.
fn varint(out: &mut Vec<u8>, mut n: u64) {
    while n > 0x7f {
        out.push((n & 0x7f) as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// CRC-32C (Castagnoli), rotated and shifted as these files have it.
fn masked_crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
        }
    }
    (!crc).rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_its_definition() {
        // RFC 3720, B.4, before masking: 32 bytes of zeros, of ones, and "123456789".
        let plain = |bytes: &[u8]| masked_crc(bytes).wrapping_sub(0xa282_ead8).rotate_left(15);
        assert_eq!(plain(&[0; 32]), 0x8a91_36aa);
        assert_eq!(plain(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(plain(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn numbers_are_seven_bits_per_byte() {
        for (n, bytes) in [(0, &[0][..]), (127, &[127]), (128, &[0x80, 1]), (300, &[0xac, 2])] {
            let mut out = Vec::new();
            varint(&mut out, n);
            assert_eq!(out, bytes, "{n}");
        }
    }

    #[test]
    fn records_are_framed() {
        let events = Events::new(1.0);
        let length = u64::from_le_bytes(events.records[..8].try_into().expect("eight bytes"));
        assert_eq!(events.records.len() as u64, length + 16);
        assert!(events.records.windows(13).any(|w| w == b"brain.Event:2"));
    }
}
