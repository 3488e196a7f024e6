//! Products with advice: one file each, from figures to lines of configuration.

mod fragment;
mod innodb;
mod linux;
mod mariadb;
mod mysql;
mod postgresql;
mod product;
mod remarks;
mod rocksdb;
mod seastar;
mod sqlite;

use nandle_profile::DeviceProfile;
use nandle_profile::experiments::EXPERIMENTS_PARTIAL;

pub use fragment::{FRAGMENT_COLUMNS, fragment, fragment_within};
pub use product::{Product, UnknownVersion};

use crate::figures::{Figures, device_name};
use crate::settings::{Advice, Collector, MissingSetting, Question};

/// Computes the settings of a product for the device of a profile. Settings without the figures
/// they need are listed in [`Advice::missing`].
///
/// # Errors
/// Returns the supported versions if the version is too old.
pub fn advise(profile: &DeviceProfile, question: &Question) -> Result<Advice, UnknownVersion> {
    question.product.check(question.version)?;
    let mut collector = Collector::default();
    let figures = Figures::of(profile);
    match question.product {
        Product::Postgresql => postgresql::collect(&figures, question, &mut collector),
        Product::Mariadb => mariadb::collect(&figures, question, &mut collector),
        Product::Mysql => mysql::collect(&figures, question, &mut collector),
        Product::Rocksdb => rocksdb::collect(&figures, question, &mut collector),
        Product::Sqlite => sqlite::collect(&figures, question, &mut collector),
        Product::Seastar => seastar::collect(&figures, &mut collector),
        Product::Linux => linux::collect(&figures, &mut collector),
    }
    // Figures of unfinished experiments are missing or have wide intervals, so only unfinished
    // reads make the advice partial.
    let is_of_reads = |reason: &String| !reason.starts_with(EXPERIMENTS_PARTIAL);
    let is_partial = profile.partial.iter().any(is_of_reads);
    collector.settings_mut().for_each(|setting| {
        setting.show_unchanged_only();
        setting.show_uncertain_only(is_partial);
    });
    if question.product == Product::Seastar {
        seastar::all_or_nothing(&mut collector);
    }
    collector.parts.retain(|part| !part.settings.is_empty());
    let missing = collector.missing.into_iter();
    Ok(Advice {
        question: question.clone(),
        device: device_name(profile),
        target: profile.target.clone(),
        parts: collector.parts,
        missing: missing.map(|(setting, figure)| MissingSetting::of(setting, figure, profile)).collect(),
        remarks: remarks::collect(profile, question),
    })
}
