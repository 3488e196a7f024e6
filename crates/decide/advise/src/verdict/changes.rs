//! What to set otherwise than it is: the surest lines of the advice.

use std::cmp::Reverse;

use nandle_profile::DeviceProfile;
use serde::Serialize;

use super::finding::capitalised;
use crate::settings::{Advice, Confidence, Question, Setting, Workload};
use crate::{Product, advise};

/// So many lines at most.
const CHANGES_MAX: usize = 4;
/// Of one product no more, so that neither the kernel nor one database has all of them.
const OF_ONE_MAX: usize = 2;
/// The kernel, which every database runs on, and the databases that most have. Which one it is isn't known here, so that each line says
/// for which it is.
const PRODUCTS: [Product; 4] = [Product::Linux, Product::Postgresql, Product::Mysql, Product::Sqlite];

/// A setting that is to be another than it is, or than the product's default where what it is isn't known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Of what.
    pub product: Product,
    /// The setting: name, value, figures, rule and confidence.
    pub setting: Setting,
}

impl Change {
    /// What the product calls the setting; of the kernel's, the file in the device's folder.
    pub fn name(&self) -> &str {
        self.setting.name.trim_start_matches("/sys/block/$device/")
    }

    /// Why, in a sentence, and what has to be set with it.
    pub fn why(&self) -> String {
        let why = capitalised(&self.setting.rule);
        if self.setting.name == "io_combine_limit" {
            format!("{why} (with io_max_combine_limit, which bounds it from version 18 on)")
        } else {
            why
        }
    }

    /// The value that it replaces, in words; `None` where neither is known.
    pub fn instead_of(&self) -> Option<String> {
        let probed = self.setting.probed.as_ref().map(|probed| format!("it is {probed}"));
        probed.or_else(|| self.setting.default.map(|default| format!("the default is {default}")))
    }
}

/// The surest changes, for many short transactions in the products' latest versions.
pub(super) fn changes(profile: &DeviceProfile) -> Vec<Change> {
    let mut all: Vec<Change> = PRODUCTS.into_iter().flat_map(|product| of(profile, product)).collect();
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

fn of(profile: &DeviceProfile, product: Product) -> Vec<Change> {
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

/// Settings that change nothing but what another may be.
const BOUNDS_OF_OTHERS: [&str; 2] = ["io_max_combine_limit", "io_max_concurrency"];

/// Whether it is sure enough to be set, and isn't so already.
fn is_change(setting: &Setting) -> bool {
    if BOUNDS_OF_OTHERS.contains(&setting.name.as_str()) {
        return false;
    }
    let present = setting.probed.as_deref().or(setting.default);
    setting.only_a_comment.is_none()
        && setting.confidence >= Confidence::Medium
        && present.is_some_and(|present| first_of(present) != first_of(&setting.value))
}

/// Defaults that depend on something name the usual one first: `2000, or 75000 where the device is rotational`.
fn first_of(value: &str) -> &str {
    value.split([' ', ',']).next().unwrap_or_default()
}
