use std::{fmt, io};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug)]
pub enum Error {
    Io(io::Error),
    /// The checksum of the record at this offset is wrong, and it is not the last one.
    Corrupt { offset: u64 },
    /// Not one of our files, or one of a newer version.
    Format(String),
    TooLarge { len: usize },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => write!(f, "{error}"),
            Error::Corrupt { offset } => write!(f, "damaged record at byte {offset}"),
            Error::Format(message) => write!(f, "{message}"),
            Error::TooLarge { len } => write!(f, "{len} bytes are more than a record can hold"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Io(error)
    }
}
