use std::time::Instant;

use kv_log::{Store, StoreOptions};

fn main() {
    let path = std::env::temp_dir().join("throughput.kv");
    let _ = std::fs::remove_file(&path);
    let options = StoreOptions { sync: false, ..StoreOptions::default() };
    let mut store = Store::open_with(&path, options).unwrap();
    let start = Instant::now();
    for n in 0..100_000u32 {
        store.put(&n.to_le_bytes(), &[7; 100]).unwrap();
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{:.0} writes a second", 100_000.0 / seconds);
}
