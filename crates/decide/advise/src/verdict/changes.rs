//! Settings to change: the advice with the highest confidence.

use std::cmp::Reverse;

use nandle_profile::DeviceProfile;
use serde::Serialize;

use super::finding::capitalised;
use crate::settings::{Advice, Confidence, Question, Setting, Workload};
use crate::{Product, advise};

/// Most changes in a verdict.
const CHANGES_MAX: usize = 4;
/// Most changes of one product, so that no product crowds out the others.
const OF_ONE_MAX: usize = 2;
/// The kernel and the most common databases. The database on the device is unknown, so each change
/// names its product.
const PRODUCTS: [Product; 4] = [Product::Linux, Product::Postgresql, Product::Mysql, Product::Sqlite];

/// Setting that should change, compared with its probed value or else its default.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Product of the setting.
    pub product: Product,
    /// Setting with its value, figures, rule and confidence.
    pub setting: Setting,
}

impl Change {
    /// Name of the setting; for the kernel, the file in the device's directory.
    pub fn name(&self) -> &str {
        self.setting.name.trim_start_matches("/sys/block/$device/")
    }

    /// Reason in a sentence, and the settings that must change with it.
    pub fn why(&self) -> String {
        let why = capitalised(&self.setting.rule);
        if self.setting.name == "io_combine_limit" {
            format!("{why} (with io_max_combine_limit, which limits it from version 18 on)")
        } else {
            why
        }
    }

    /// Value that it replaces, in words; `None` if it is unknown.
    pub fn instead_of(&self) -> Option<String> {
        let probed = self.setting.probed.as_ref().map(|probed| format!("it is {probed}"));
        probed.or_else(|| self.setting.default.map(|default| format!("the default is {default}")))
    }
}

/// Changes with the highest confidence, for short transactions and the products' latest versions.
pub(super) fn changes(profile: &DeviceProfile) -> Vec<Change> {
    let mut all: Vec<Change> =
        PRODUCTS.into_iter().flat_map(|product| product_changes(profile, product)).collect();
    all.sort_by_key(|change| Reverse(change.setting.confidence));
    let mut chosen: Vec<Change> = Vec::new();
    for change in all {
        let of_this = chosen.iter().filter(|other| other.product == change.product).count();
        if of_this < OF_ONE_MAX && chosen.len() < CHANGES_MAX {
            chosen.push(change);
        }
    }
    chosen
}

fn product_changes(profile: &DeviceProfile, product: Product) -> Vec<Change> {
    let workload = Workload::Oltp;
    let question = Question {
        product,
        version: product.latest(),
        workload,
        sessions: workload.sessions_assumed(),
        memory_bytes: None,
    };
    let advice = advise(profile, &question);
    let settings = advice.iter().flat_map(Advice::settings).filter(|setting| is_change(setting));
    settings.map(|setting| Change { product, setting: setting.clone() }).collect()
}

/// Settings that only limit other settings.
const BOUNDS_OF_OTHERS: [&str; 2] = ["io_max_combine_limit", "io_max_concurrency"];

/// Returns true if the setting is sure enough to be set and differs from the present value.
fn is_change(setting: &Setting) -> bool {
    if BOUNDS_OF_OTHERS.contains(&setting.name.as_str()) {
        return false;
    }
    let present = setting.probed.as_deref().or(setting.default);
    setting.only_a_comment.is_none()
        && setting.confidence >= Confidence::Medium
        && present.is_some_and(|present| first_of(present) != first_of(&setting.value))
}

/// First alternative of a default, which is the usual one:
/// `2000, or 75000 where the device is rotational`.
fn first_of(value: &str) -> &str {
    value.split([' ', ',']).next().unwrap_or_default()
}
