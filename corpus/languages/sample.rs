//! Crate docs.
#![allow(dead_code)]
use std::{collections::HashMap, fmt::{self, Display}};

pub const LIMIT: usize = 1 << 4;
static mut COUNTER: u32 = 0;
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, Clone)]
pub struct Point<const N: usize, T: ?Sized = f64> where T: Copy {
    pub x: T,
    y: [T; N],
    r#type: u8,
}
struct Unit;
struct Tuple(pub u32, String);

pub enum Shape<'a> {
    Empty,
    Circle(f64),
    Named { name: &'a str, size: u32 },
}
pub union Bits { int: u32, float: f32 }

pub trait Draw: Display + Send {
    const SIDES: u32 = 3;
    type Output<'a> where Self: 'a;
    fn draw(&self) -> Self::Output<'_>;
    async fn render(&self) -> impl Iterator<Item = u8> + use<'_, Self> { let local = 1; std::iter::once(local) }
}

impl<const N: usize, T: Copy> Point<N, T> {
    pub const ORIGIN: usize = 0;
    pub const fn new(x: T) -> Self { todo!() }
    pub async unsafe fn unsafe_op(&mut self) { fn nested() {} }
}
impl<'a> fmt::Display for Shape<'a> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(x) = Some(1) else { return Ok(()) };
        if let Shape::Circle(r) = self && *r > 0.0 { }
        match self { Shape::Empty => write!(f, "{x:?}"), _ => Ok(()) }
    }
}
impl<T> Iterator for foreign::Wrapper<T> { type Item = T; fn next(&mut self) -> Option<T> { None } }
impl dyn Draw { fn describe(&self) {} }

pub mod geometry {
    pub(crate) fn area() -> f64 { 0.0 }
    pub mod inner { pub struct Deep; }
}
mod external;

macro_rules! square { ($x:expr) => { $x * $x }; }
extern "C" { fn c_function(x: i32); static C_VALUE: i32; }
pub fn generic<F>(f: F) where F: for<'b> Fn(&'b str) -> u8 {
    const LOCAL: u8 = 1;
    let closure = async move |x: u8| x + LOCAL;
    let s = c"text";
}
fn main() {}
unsafe extern "C" { pub safe fn checked(x: i32) -> i32; unsafe fn raw(); safe static LIMIT: i32; }
