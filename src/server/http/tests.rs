//! Parsing of requests, and the whole transport over a real socket with the fixture behind it.

mod client;
mod reading;
mod serving;
