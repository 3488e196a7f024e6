//! What a device profile means: settings for databases and the kernel, each with the number and the rule behind it
//! ([`advise`]); what kind of device it is, its strengths and its risks ([`verdict()`]); price and performance, sizing,
//! placement, and what changed since an older profile ([`compare`], [`economics`]); what requests of a page store take ([`pages`]). Profile in, advice out: this crate must
//! never do I/O, and never advise giving up durability or the protection from torn pages for speed.

pub mod compare;
pub mod economics;
mod figures;
pub mod pages;
mod products;
mod rules;
pub mod settings;
pub mod verdict;

pub use products::{FRAGMENT_COLUMNS, Product, UnknownVersion, advise, fragment, fragment_within};
pub use verdict::{Verdict, verdict};
