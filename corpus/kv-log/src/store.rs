use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::index::{Index, Location};
use crate::record::Record;

const MAGIC: &[u8; 8] = b"KVLOG\x00\x00\x02";

#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Compact by itself when more than this many bytes are dead.
    pub compact_above: u64,
    /// Wait for the disk after every write. Slow, and the only way to be sure.
    pub sync: bool,
}

impl Default for StoreOptions {
    fn default() -> Self {
        StoreOptions { compact_above: 64 << 20, sync: true }
    }
}

#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    end: u64,
    index: Index,
    options: StoreOptions,
}

impl Store {
    pub fn open(path: impl AsRef<Path>) -> Result<Store> {
        Store::open_with(path, StoreOptions::default())
    }

    pub fn open_with(path: impl AsRef<Path>, options: StoreOptions) -> Result<Store> {
        let path = path.as_ref().to_path_buf();
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        if bytes.is_empty() {
            file.write_all(MAGIC)?;
            bytes.extend(MAGIC);
        }
        if !bytes.starts_with(MAGIC) {
            return Err(Error::Format(format!("{} is not a kv-log", path.display())));
        }
        let (index, end) = replay(&bytes)?;
        file.set_len(end)?;
        Ok(Store { path, file, end, index, options })
    }

    pub fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(location) = self.index.get(key) else { return Ok(None) };
        let mut bytes = vec![0; location.len];
        self.file.seek(SeekFrom::Start(location.offset))?;
        self.file.read_exact(&mut bytes)?;
        let (record, _) = Record::decode(&bytes).ok_or(Error::Corrupt { offset: location.offset })?;
        Ok(record.value)
    }

    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let location = self.append(&Record { key: key.to_vec(), value: Some(value.to_vec()) })?;
        self.index.insert(key.to_vec(), location);
        self.compact_if_worth_it()
    }

    pub fn remove(&mut self, key: &[u8]) -> Result<()> {
        let location = self.append(&Record { key: key.to_vec(), value: None })?;
        self.index.remove(key, location);
        self.compact_if_worth_it()
    }

    /// Writes the live records to a new file and puts it in the place of the old one.
    pub fn compact(&mut self) -> Result<()> {
        let fresh = self.path.with_extension("compacting");
        let keys: Vec<Vec<u8>> = self.index.iter().map(|(key, _)| key.to_vec()).collect();
        let mut out = File::create(&fresh)?;
        out.write_all(MAGIC)?;
        for key in keys {
            let value = self.get(&key)?;
            out.write_all(&Record { key, value }.encode()?)?;
        }
        out.sync_all()?;
        fs::rename(&fresh, &self.path)?;
        *self = Store::open_with(&self.path, self.options.clone())?;
        Ok(())
    }

    fn append(&mut self, record: &Record) -> Result<Location> {
        let bytes = record.encode()?;
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&bytes)?;
        if self.options.sync {
            self.file.sync_data()?;
        }
        let location = Location { offset: self.end, len: bytes.len() };
        self.end += bytes.len() as u64;
        Ok(location)
    }

    fn compact_if_worth_it(&mut self) -> Result<()> {
        if self.index.dead_bytes() > self.options.compact_above {
            self.compact()?;
        }
        Ok(())
    }
}

/// Reads all records; returns the index and where the last whole record ends.
fn replay(bytes: &[u8]) -> Result<(Index, u64)> {
    let mut index = Index::default();
    let mut at = MAGIC.len();
    while let Some((record, len)) = Record::decode(&bytes[at..]) {
        let location = Location { offset: at as u64, len };
        match record.value {
            Some(_) => index.insert(record.key, location),
            None => index.remove(&record.key, location),
        }
        at += len;
    }
    Ok((index, at as u64))
}
