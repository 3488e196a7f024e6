use serde::Serialize;

use super::{MissingFigure, MissingSetting, Question, Setting};

/// Settings for one product on one device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// The question.
    pub question: Question,
    /// Device in words.
    pub device: String,
    /// Probed target, as passed to the probe.
    pub target: String,
    /// Parts of the fragment, in order.
    pub parts: Vec<Part>,
    /// Settings that the profile doesn't support.
    pub missing: Vec<MissingSetting>,
    /// Remarks on the whole advice, one sentence each.
    pub remarks: Vec<String>,
}

impl Advice {
    /// All settings.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.parts.iter().flat_map(|part| &part.settings)
    }

    /// Finds a setting by name.
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings().find(|setting| setting.name == name)
    }
}

/// Settings under one heading.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// Heading in the configuration (`[mysqld]`); may be empty.
    pub heading: String,
    /// Settings of the part.
    pub settings: Vec<Setting>,
}

/// Collects settings and missing figures.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    pub(crate) parts: Vec<Part>,
    /// Missing figures by setting name.
    pub(crate) missing: Vec<(&'static str, MissingFigure)>,
}

impl Collector {
    /// All settings so far.
    pub(crate) fn settings_mut(&mut self) -> impl Iterator<Item = &mut Setting> {
        self.parts.iter_mut().flat_map(|part| &mut part.settings)
    }

    /// Starts a part.
    pub(crate) fn part(&mut self, heading: impl Into<String>) {
        self.parts.push(Part { heading: heading.into(), settings: Vec::new() });
    }

    /// Adds a setting, or the figure that it needs.
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
