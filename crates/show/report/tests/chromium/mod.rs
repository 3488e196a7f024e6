//! Headless browser, driven over the `DevTools` protocol.

mod launch;
mod page;
mod protocol;

pub(crate) use launch::{Chromium, skipped};
pub(crate) use page::{Page, Theme};
