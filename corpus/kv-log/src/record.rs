//! One record of the log: see docs/format.md.

use crate::checksum::checksum;
use crate::error::{Error, Result};

pub const HEADER_LEN: usize = 12;
const TOMBSTONE: u32 = u32::MAX;
const MAX_LEN: usize = 1 << 28;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub key: Vec<u8>,
    /// `None` is a tombstone: the key was removed.
    pub value: Option<Vec<u8>>,
}

impl Record {
    pub fn encode(&self) -> Result<Vec<u8>> {
        let value_len = self.value.as_ref().map_or(0, Vec::len);
        let len = self.key.len() + value_len;
        if len > MAX_LEN {
            return Err(Error::TooLarge { len });
        }
        let mut bytes = vec![0; 4];
        bytes.extend((self.key.len() as u32).to_le_bytes());
        bytes.extend(self.value.as_ref().map_or(TOMBSTONE, |v| v.len() as u32).to_le_bytes());
        bytes.extend(&self.key);
        bytes.extend(self.value.iter().flatten());
        let sum = checksum(&bytes[4..]);
        bytes[..4].copy_from_slice(&sum.to_le_bytes());
        Ok(bytes)
    }

    /// The record at the start of `bytes` and its length; `None` if it is torn or damaged.
    pub fn decode(bytes: &[u8]) -> Option<(Record, usize)> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let (sum, key_len, value_len) = (word(0)?, word(4)? as usize, word(8)?);
        let key_end = HEADER_LEN + key_len;
        let end = key_end + if value_len == TOMBSTONE { 0 } else { value_len as usize };
        if checksum(bytes.get(4..end)?) != sum {
            return None;
        }
        let value = (value_len != TOMBSTONE).then(|| bytes[key_end..end].to_vec());
        Some((Record { key: bytes[HEADER_LEN..key_end].to_vec(), value }, end))
    }
}
