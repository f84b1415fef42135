use std::collections::HashMap;

/// Where the newest record of a key begins, and how long it is.
#[derive(Debug, Clone, Copy)]
pub struct Location {
    pub offset: u64,
    pub len: usize,
}

#[derive(Debug, Default)]
pub struct Index {
    locations: HashMap<Vec<u8>, Location>,
    dead_bytes: u64,
}

impl Index {
    pub fn insert(&mut self, key: Vec<u8>, location: Location) {
        if let Some(old) = self.locations.insert(key, location) {
            self.dead_bytes += old.len as u64;
        }
    }

    /// The tombstone itself is dead from the start.
    pub fn remove(&mut self, key: &[u8], tombstone: Location) {
        let old = self.locations.remove(key).map_or(0, |l| l.len as u64);
        self.dead_bytes += old + tombstone.len as u64;
    }

    pub fn get(&self, key: &[u8]) -> Option<Location> {
        self.locations.get(key).copied()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Location)> {
        self.locations.iter().map(|(key, &location)| (key.as_slice(), location))
    }

    pub fn dead_bytes(&self) -> u64 {
        self.dead_bytes
    }
}
