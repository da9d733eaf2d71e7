//! Bytes of state: JSON, compressed. Pure.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde_json::Value;

/// The most that compressed state may unfold to. A release of 20 MiB compressed is beyond what a
/// target may keep, so more than this is damage or an attack, not data.
const MAX_DECODED: u64 = 512 * 1024 * 1024;

/// What is wrong with bytes that should have been state. Never quotes them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Not gzip, cut off, or with a wrong checksum.
    #[error("its data does not decompress ({0})")]
    Compression(String),
    /// Unfolds to more than `MAX_DECODED`.
    #[error("its data unfolds to more than 512 MiB")]
    TooLong,
    /// Decompresses to something that is not JSON, or not of the expected shape. serde's messages
    /// may quote a value, so they are dropped.
    #[error("its data is not what mcd writes")]
    Json,
    /// A data key is missing, or is not base64.
    #[error("its data key `{0}` is missing or is not base64")]
    Key(String),
    /// Something else, in words.
    #[error("{0}")]
    Other(String),
}

impl From<serde_json::Error> for Damage {
    fn from(_: serde_json::Error) -> Self {
        Damage::Json
    }
}

/// JSON, compressed.
pub(super) fn pack<T: Serialize>(value: &T) -> Result<Vec<u8>, Damage> {
    let failed = |e: std::io::Error| Damage::Other(format!("it could not be compressed ({e})"));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    serde_json::to_writer(&mut encoder, value)?;
    encoder.flush().map_err(failed)?;
    encoder.finish().map_err(failed)
}

/// The JSON that [`pack`] was given. The checksum inside gzip finds cut and mixed-up parts.
pub(super) fn unpack(bytes: &[u8]) -> Result<Value, Damage> {
    let mut json = Vec::new();
    GzDecoder::new(bytes)
        .take(MAX_DECODED + 1)
        .read_to_end(&mut json)
        .map_err(|e| Damage::Compression(e.kind().to_string()))?;
    if json.len() as u64 > MAX_DECODED {
        return Err(Damage::TooLong);
    }
    Ok(serde_json::from_slice(&json)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(text in ".*", number in any::<i64>(), list in prop::collection::vec(any::<f64>().prop_filter("JSON has no others", |f| f.is_finite()), 0..9)) {
            let value = json!({"text": text, "number": number, "list": list});
            prop_assert_eq!(unpack(&pack(&value).unwrap()).unwrap(), value);
        }

        #[test]
        fn bytes_of_any_kind_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(unpack(&bytes).is_err());
        }

        #[test]
        fn a_cut_is_damage_and_a_changed_byte_never_changes_the_value(cut in 0usize..60, flip in 1u8..) {
            let value = json!({"a": "some text that is long enough", "b": [1, 2, 3]});
            let packed = pack(&value).unwrap();
            let cut = cut % packed.len();
            prop_assert!(unpack(&packed[..cut]).is_err());
            let mut changed = packed.clone();
            // Bytes 4 to 9 of a gzip header (time, flags, system) carry nothing of ours.
            let at = 10 + cut % (packed.len() - 10);
            changed[at] ^= flip;
            prop_assert!(unpack(&changed).map_or(true, |same| same == value));
        }
    }

    #[test]
    fn damage_never_quotes_the_data() {
        let packed = pack(&json!("hunter2")).unwrap();
        let value = unpack(&packed).unwrap();
        let error = serde_json::from_value::<Vec<String>>(value).unwrap_err();
        assert!(error.to_string().contains("hunter2"), "serde quotes, which is why it is dropped");
        assert!(!Damage::from(error).to_string().contains("hunter2"));
    }
}
