//! Interpretation of a device profile: settings for databases and the kernel, each with its figure
//! and rule ([`advise`]); device class, strengths and risks ([`verdict()`]); price, sizing,
//! placement and changes since an older profile ([`compare`], [`economics`]); request times of a
//! page store ([`pages`]). This crate must never do I/O, and must never advise giving up durability
//! or protection from torn pages for speed.

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
