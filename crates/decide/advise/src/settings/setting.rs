use nandle_profile::{DeviceProfile, Interval};
use serde::Serialize;

use super::confidence::judge;
use super::{Confidence, Figure, MissingFigure, RuleSource};

/// One line of a configuration, and why it is there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// What the product calls it.
    pub name: String,
    /// Its value, as the product's configuration has it.
    pub value: String,
    /// What the product sets by itself, in the version that was asked for; `null` where it depends on more.
    pub default: Option<&'static str>,
    /// What it was on the machine that measured, where the profile tells.
    pub probed: Option<String>,
    /// The measured numbers that it follows from.
    pub figures: Vec<Figure>,
    /// How it follows from them.
    pub rule: String,
    /// Whose rule it is.
    pub rule_source: RuleSource,
    /// How sure it is.
    pub confidence: Confidence,
    /// Why no surer and no less.
    pub confidence_reason: String,
    /// What else should be known, each a sentence; of a contested setting, what the others say.
    pub remarks: Vec<String>,
    /// Why the line stands in the fragment as a comment; `null` when it is set.
    pub only_a_comment: Option<String>,
    /// Whether the value is the same on every device.
    #[serde(skip)]
    pub(crate) is_the_same_everywhere: bool,
    /// Whether data are less safe with another value.
    #[serde(skip)]
    pub(crate) guards_data: bool,
}

impl Setting {
    /// A setting that follows from `figures` by a rule.
    #[expect(clippy::needless_pass_by_value, reason = "callers hand over numbers and texts alike")]
    pub(crate) fn new(
        name: impl Into<String>,
        value: impl ToString,
        figures: Vec<Figure>,
        rule_source: RuleSource,
        rule: impl Into<String>,
    ) -> Self {
        let (confidence, confidence_reason) = judge(rule_source, &figures);
        Self {
            name: name.into(),
            value: value.to_string(),
            default: None,
            probed: None,
            figures,
            rule: rule.into(),
            rule_source,
            confidence,
            confidence_reason,
            remarks: Vec::new(),
            only_a_comment: None,
            is_the_same_everywhere: false,
            guards_data: false,
        }
    }

    pub(crate) fn default(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// What the profile says that it was.
    pub(crate) fn was(mut self, probed: Option<impl ToString>) -> Self {
        self.probed = probed.map(|probed| probed.to_string());
        self
    }

    pub(crate) fn remark(mut self, remark: impl Into<String>) -> Self {
        self.remarks.push(remark.into());
        self
    }

    /// The value is the same on every device: the figures tell what it costs here, and make it no less sure.
    pub(crate) fn whatever_the_device(mut self) -> Self {
        let (confidence, reason) = judge(self.rule_source, &[]);
        self.confidence = confidence;
        self.confidence_reason = format!("{reason}, whatever the device");
        self.is_the_same_everywhere = true;
        self
    }

    /// The value is the same for all that the figures' bounds leave possible, so they may be far apart. What else limits a figure
    /// still counts.
    pub(crate) fn same_within_bounds(mut self) -> Self {
        let sharp = |figure: &Figure| Figure { value: Interval::exact(figure.value.value), ..figure.clone() };
        let sharp: Vec<Figure> = self.figures.iter().map(sharp).collect();
        let (confidence, reason) = judge(self.rule_source, &sharp);
        if confidence > self.confidence {
            self.confidence = confidence;
            self.confidence_reason = format!("{reason}; it is the same within the measurement's bounds");
        }
        self
    }

    /// However far apart the bounds are, all of them are below the default, so it is set with what confidence the rule has.
    pub(crate) fn below_default_in_any_case(mut self) -> Self {
        let is_limited = self.figures.iter().any(|figure| figure.surest.is_some());
        if self.confidence == Confidence::Low && !is_limited {
            self.confidence = Confidence::Medium;
            self.confidence_reason += ", and all of them are below the default";
        }
        self
    }

    /// Data are less safe with another value, so it is set although it is the default: the configuration may say otherwise before.
    pub(crate) fn guarding_data(mut self) -> Self {
        self.guards_data = true;
        self
    }

    /// The line isn't set, only shown. The first reason stands.
    pub(crate) fn shown_only(mut self, because: impl Into<String>) -> Self {
        self.show_only(because);
        self
    }

    pub(crate) fn show_only(&mut self, because: impl Into<String>) {
        self.only_a_comment.get_or_insert_with(|| because.into());
    }

    /// What is so already isn't set: it only makes the lines that change something hard to find.
    pub(crate) fn leave_what_is_so(&mut self) {
        if self.guards_data {
            return;
        }
        if self.default.is_some_and(|default| default == self.value) {
            self.show_only("it is the default");
        } else if self.probed.as_ref().is_some_and(|probed| *probed == self.value) {
            self.show_only("it was so when it was probed");
        }
    }

    /// What has low confidence isn't set; what holds on every device is, however little of this one is known.
    pub(crate) fn hold_back(&mut self, is_partial: bool) {
        if self.confidence == Confidence::Low {
            self.show_only("confidence is low; try it before you set it");
        } else if is_partial && !self.is_the_same_everywhere {
            self.show_only(
                "the profile is partial; probe the device to the end, or try it before you set it",
            );
        }
    }
}

/// A setting that can't be advised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingSetting {
    /// What the product calls it.
    pub setting: &'static str,
    /// What isn't in the profile.
    pub needs: &'static str,
    /// How it is had, with the command where there is one.
    pub how: String,
}

impl MissingSetting {
    pub(crate) fn of(setting: &'static str, figure: MissingFigure, profile: &DeviceProfile) -> Self {
        Self { setting, needs: figure.needs, how: figure.how_for(profile) }
    }
}
