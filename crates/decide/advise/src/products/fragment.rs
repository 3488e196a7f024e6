use nandle_profile::escaped;
use nandle_units::wrapped;

use crate::settings::{Advice, MissingSetting, Setting};

/// Default comment width of a fragment, in columns.
pub const FRAGMENT_COLUMNS: usize = 100;

/// Formats the advice as a fragment of the product's configuration. Comments above each line give
/// the measured figure, the rule and the confidence. Names from a profile can't end a comment or
/// send control sequences to a terminal.
pub fn fragment(advice: &Advice) -> String {
    fragment_within(advice, FRAGMENT_COLUMNS)
}

/// Formats the fragment with comments of at most `columns` columns.
pub fn fragment_within(advice: &Advice, columns: usize) -> String {
    let mut text = Text { comment: advice.question.product.comment(), columns, lines: Vec::new() };
    let question = &advice.question;
    text.say("", &format!("{} {} on {}", question.product, question.version, advice.device));
    if let Some(conditions) = question.describe() {
        text.say("", &format!("for {conditions}"));
    }
    for remark in &advice.remarks {
        text.say("! ", remark);
    }
    for part in &advice.parts {
        text.lines.push(String::new());
        if !part.heading.is_empty() {
            text.lines.push(part.heading.clone());
        }
        for setting in &part.settings {
            text.setting(advice, setting);
        }
    }
    text.lines.extend(question.product.closing(advice));
    text.missing(advice);
    text.lines.join("\n") + "\n"
}

struct Text {
    comment: &'static str,
    columns: usize,
    lines: Vec<String>,
}

impl Text {
    fn setting(&mut self, advice: &Advice, setting: &Setting) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
        for figure in &setting.figures {
            self.say("measured:   ", &figure.says);
        }
        self.say("rule:       ", &setting.rule);
        self.say("confidence: ", &format!("{} ({})", setting.confidence, setting.confidence_reason));
        for remark in &setting.remarks {
            self.say("note:       ", remark);
        }
        if let Some(default) = setting.default {
            self.say("default:    ", default);
        }
        if let Some(probed) = &setting.probed {
            self.say("was:        ", &format!("{probed} when it was probed"));
        }
        let line = advice.question.product.line(&setting.name, &setting.value);
        match &setting.only_a_comment {
            Some(because) => {
                self.say("not set:    ", because);
                self.lines.push(format!("{} {}", self.comment, line.trim_start()));
            }
            None => self.lines.push(line),
        }
    }

    fn missing(&mut self, advice: &Advice) {
        let missing = &advice.missing;
        if missing.is_empty() {
            return;
        }
        self.lines.push(String::new());
        self.say("", "Settings that this profile doesn't support:");
        for MissingSetting { setting, needs, .. } in missing {
            self.say("  ", &format!("{setting}: needs {needs}"));
        }
        let mut ways: Vec<&str> = missing.iter().map(|missing| missing.how.as_str()).collect();
        ways.sort_unstable();
        ways.dedup();
        for how in ways {
            let by_it = missing.iter().filter(|missing| missing.how == how);
            let settings: Vec<&str> = by_it.map(|missing| missing.setting).collect();
            self.say("", &format!("For {}:", settings.join(", ")));
            self.say("  ", how);
        }
    }

    /// Adds a comment, wrapped at words. Continuation lines are indented by the width of the mark.
    fn say(&mut self, mark: &str, words: &str) {
        let columns = self.columns.saturating_sub(self.comment.len() + 1);
        let lines = wrapped(words, mark, columns, |word| escaped(word).into_owned());
        self.lines.extend(lines.iter().map(|line| format!("{} {line}", self.comment)));
    }
}
