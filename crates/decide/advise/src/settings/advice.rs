use serde::Serialize;

use super::{MissingFigure, MissingSetting, Question, Setting};

/// Settings for one product on one device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// What was asked.
    pub question: Question,
    /// The device, in words.
    pub device: String,
    /// What was probed, as it is named to the probe.
    pub target: String,
    /// The fragment's parts, in its order.
    pub parts: Vec<Part>,
    /// What can't be advised from this profile.
    pub missing: Vec<MissingSetting>,
    /// What holds for all of it, each a sentence.
    pub remarks: Vec<String>,
}

impl Advice {
    /// Every setting.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.parts.iter().flat_map(|part| &part.settings)
    }

    /// A setting by its name.
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings().find(|setting| setting.name == name)
    }
}

/// Settings that stand under one heading.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// What the configuration needs before them (`[mysqld]`); may be empty.
    pub heading: String,
    /// The settings.
    pub settings: Vec<Setting>,
}

/// Collects what can be advised and what can't.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    pub(crate) parts: Vec<Part>,
    /// By the setting's name.
    pub(crate) missing: Vec<(&'static str, MissingFigure)>,
}

impl Collector {
    /// Every setting so far.
    pub(crate) fn settings_mut(&mut self) -> impl Iterator<Item = &mut Setting> {
        self.parts.iter_mut().flat_map(|part| &mut part.settings)
    }

    /// Begins a part.
    pub(crate) fn part(&mut self, heading: impl Into<String>) {
        self.parts.push(Part { heading: heading.into(), settings: Vec::new() });
    }

    /// Adds a setting, or what its rule misses.
    pub(crate) fn add(&mut self, name: &'static str, setting: Result<Setting, MissingFigure>) {
        match setting {
            Ok(setting) => {
                if self.parts.is_empty() {
                    self.part("");
                }
                self.parts.last_mut().into_iter().for_each(|part| part.settings.push(setting.clone()));
            }
            Err(figure) => self.missing.push((name, figure)),
        }
    }
}
