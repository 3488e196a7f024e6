use nandle_profile::{DeviceProfile, Interval};
use serde::Serialize;

use super::confidence::judge;
use super::{Confidence, Figure, MissingFigure, RuleSource};

/// One line of a configuration, with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// Name in the product's configuration.
    pub name: String,
    /// Value in the product's configuration.
    pub value: String,
    /// The product's default in the version of the question; `null` if it depends on other
    /// settings.
    pub default: Option<&'static str>,
    /// Value on the probed machine, if the profile has it.
    pub probed: Option<String>,
    /// Figures that the value follows from.
    pub figures: Vec<Figure>,
    /// Rule that derives the value from the figures.
    pub rule: String,
    /// Source of the rule.
    pub rule_source: RuleSource,
    /// Confidence in the value.
    pub confidence: Confidence,
    /// Reason for the confidence.
    pub confidence_reason: String,
    /// Further remarks, one sentence each. For a contested setting they give the other opinion.
    pub remarks: Vec<String>,
    /// Reason why the line is only a comment in the fragment; `null` if it is set.
    pub only_a_comment: Option<String>,
    /// True if the value is the same on every device.
    #[serde(skip)]
    pub(crate) is_device_independent: bool,
    /// True if another value would make data less safe.
    #[serde(skip)]
    pub(crate) protects_data: bool,
}

impl Setting {
    /// Creates a setting derived from `figures` by a rule.
    #[expect(clippy::needless_pass_by_value, reason = "callers pass numbers and texts alike")]
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
            is_device_independent: false,
            protects_data: false,
        }
    }

    pub(crate) fn default(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// Sets the value on the probed machine.
    pub(crate) fn was(mut self, probed: Option<impl ToString>) -> Self {
        self.probed = probed.map(|probed| probed.to_string());
        self
    }

    pub(crate) fn remark(mut self, remark: impl Into<String>) -> Self {
        self.remarks.push(remark.into());
        self
    }

    /// Marks the value as independent of the device. The figures give its cost and don't limit the
    /// confidence.
    pub(crate) fn device_independent(mut self) -> Self {
        let (confidence, reason) = judge(self.rule_source, &[]);
        self.confidence = confidence;
        self.confidence_reason = format!("{reason}, independent of the device");
        self.is_device_independent = true;
        self
    }

    /// Raises the confidence, because the value is the same within the bounds of the figures. Other
    /// limits of the figures still count.
    pub(crate) fn same_within_bounds(mut self) -> Self {
        let sharp = |figure: &Figure| Figure { value: Interval::exact(figure.value.value), ..figure.clone() };
        let sharp: Vec<Figure> = self.figures.iter().map(sharp).collect();
        let (confidence, reason) = judge(self.rule_source, &sharp);
        if confidence > self.confidence {
            self.confidence = confidence;
            self.confidence_reason = format!(
                "{reason}; the value is the same within the \
                measurement's bounds"
            );
        }
        self
    }

    /// Raises the confidence, because the value is below the default at all bounds of the figures.
    pub(crate) fn surely_below_default(mut self) -> Self {
        let is_limited = self.figures.iter().any(|figure| figure.surest.is_some());
        if self.confidence == Confidence::Low && !is_limited {
            self.confidence = Confidence::Medium;
            self.confidence_reason += ", all below the default";
        }
        self
    }

    /// Marks the setting as protection of data. It is set even to its default, because the
    /// configuration may contain another value.
    pub(crate) fn protecting_data(mut self) -> Self {
        self.protects_data = true;
        self
    }

    /// Shows the line as a comment. The first reason counts.
    pub(crate) fn shown_only(mut self, because: impl Into<String>) -> Self {
        self.show_only(because);
        self
    }

    pub(crate) fn show_only(&mut self, because: impl Into<String>) {
        self.only_a_comment.get_or_insert_with(|| because.into());
    }

    /// Shows the line as a comment if it changes nothing, so that changes stand out.
    pub(crate) fn show_unchanged_only(&mut self) {
        if self.protects_data {
            return;
        }
        if self.default.is_some_and(|default| default == self.value) {
            self.show_only("it is the default");
        } else if self.probed.as_ref().is_some_and(|probed| *probed == self.value) {
            self.show_only("it had this value when the device was probed");
        }
    }

    /// Shows the line as a comment if the confidence is low, or the profile partial. Values that
    /// don't depend on the device are set even with a partial profile.
    pub(crate) fn show_uncertain_only(&mut self, is_partial: bool) {
        if self.confidence == Confidence::Low {
            self.show_only("confidence is low; test it before you set it");
        } else if is_partial && !self.is_device_independent {
            self.show_only("the profile is partial; complete the probe, or test it before you set it");
        }
    }
}

/// Setting that the profile doesn't support.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingSetting {
    /// Name in the product's configuration.
    pub setting: &'static str,
    /// Missing figure.
    pub needs: &'static str,
    /// Instruction for measuring it, with a command if there is one.
    pub how: String,
}

impl MissingSetting {
    pub(crate) fn of(setting: &'static str, figure: MissingFigure, profile: &DeviceProfile) -> Self {
        Self { setting, needs: figure.needs, how: figure.how_to_measure(profile) }
    }
}
