//! A log-structured key-value store in one file.

mod checksum;
mod error;
mod index;
mod record;
mod store;

pub use error::{Error, Result};
pub use store::{Store, StoreOptions};
