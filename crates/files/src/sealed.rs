//! JSON documents with a checksum: any flipped bit is noticed.
//!
//! `{"checksum":"0123456789abcdef",...}`: the checksum is that of all bytes behind it. A change of one byte always changes it, because each
//! step of FNV-1a is a bijection of the sum so far; other damage goes unnoticed once in 2^64 times.

use anyhow::{Context, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;

const BEGIN: &str = "{\"checksum\":\"";
const END: &str = "\",";
const DIGITS: usize = 16;

/// The document of a value that serialises as an object with fields.
pub fn seal(value: &impl Serialize) -> anyhow::Result<String> {
    let json = serde_json::to_string(value)?;
    let rest = json.strip_prefix('{').context("only objects can be sealed")?;
    let rest = format!("{rest}\n");
    Ok(format!("{BEGIN}{}{END}{rest}", fingerprint(rest.bytes())))
}

/// The value in a document; an error where it is not the document that was written.
pub fn open<T: DeserializeOwned>(text: &str) -> anyhow::Result<T> {
    let Some(rest) = text.strip_prefix(BEGIN) else { bail!("it has no checksum") };
    let (Some(sum), Some(rest)) = (rest.get(..DIGITS), rest.get(DIGITS..)) else { bail!("it is cut off") };
    let Some(rest) = rest.strip_prefix(END) else { bail!("it is cut off") };
    if sum != fingerprint(rest.bytes()) {
        bail!("its checksum is wrong");
    }
    Ok(serde_json::from_str(&format!("{{{rest}"))?)
}

/// A short name for what these bytes say (FNV-1a).
pub fn fingerprint(bytes: impl Iterator<Item = u8>) -> String {
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let value =
            BTreeMap::from([("weights".to_string(), vec![0.1, -2.5e-7, 3.0]), ("b".to_string(), vec![])]);
        let text = seal(&value).unwrap();
        assert_eq!(open::<BTreeMap<String, Vec<f64>>>(&text).unwrap(), value);
        for at in 0..text.len() {
            assert!(open::<BTreeMap<String, Vec<f64>>>(&text[..at]).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let noticed =
                    String::from_utf8(bytes).is_ok_and(|t| open::<BTreeMap<String, Vec<f64>>>(&t).is_ok());
                assert!(!noticed, "bit {bit} of byte {at}");
            }
        }
    }
}
