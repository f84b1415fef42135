use std::fs::OpenOptions;
use std::io::Write;

use kv_log::{Store, StoreOptions};

#[test]
fn values_survive_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.kv");
    Store::open(&path).unwrap().put("größe".as_bytes(), b"42").unwrap();
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.get("größe".as_bytes()).unwrap(), Some(b"42".to_vec()));
}

#[test]
fn a_torn_record_is_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("b.kv");
    Store::open(&path).unwrap().put(b"whole", b"1").unwrap();
    OpenOptions::new().append(true).open(&path).unwrap().write_all(&[9, 9, 9]).unwrap();
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.get(b"whole").unwrap(), Some(b"1".to_vec()));
}

#[test]
fn compaction_keeps_what_is_alive() {
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions { compact_above: 1 << 10, sync: false };
    let mut store = Store::open_with(dir.path().join("c.kv"), options).unwrap();
    for round in 0..100u32 {
        store.put(b"counter", &round.to_le_bytes()).unwrap();
    }
    assert_eq!(store.get(b"counter").unwrap(), Some(99u32.to_le_bytes().to_vec()));
}
