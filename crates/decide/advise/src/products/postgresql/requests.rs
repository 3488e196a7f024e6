//! Size of requests.

use super::concurrency::session_depth;
use super::{ASYNC_READS_VERSION, COMBINED_READS_VERSION, PAGE_BYTES, memory};
use crate::figures::Figures;
use crate::rules::power_of_two_within;
use crate::settings::{Collector, MissingFigure, Question, RuleSource, Setting};

pub(super) fn collect(figures: &Figures<'_>, question: &Question, collector: &mut Collector) {
    if question.version >= ASYNC_READS_VERSION {
        collector.add("io_max_combine_limit", combine_limit("io_max_combine_limit", figures, question));
    }
    if question.version >= COMBINED_READS_VERSION {
        collector.add("io_combine_limit", combine_limit("io_combine_limit", figures, question));
    }
}

/// Default of `io_combine_limit` and `io_max_combine_limit`.
const DEFAULT_BYTES: u64 = 128 << 10;

/// A request has up to 32 pages in version 17, and up to 128 from 18 on.
fn combine_limit(
    name: &'static str,
    figures: &Figures<'_>,
    question: &Question,
) -> Result<Setting, MissingFigure> {
    let knee = figures.knee_depth(PAGE_BYTES)?;
    let depth = session_depth(figures, question, &knee);
    let request = figures.sequential_request_bytes(depth)?;
    let most = if question.version >= ASYNC_READS_VERSION { 1 << 20 } else { 256 << 10 };
    let value = power_of_two_within(request.value.value, DEFAULT_BYTES, most);
    let at = |bytes: f64| power_of_two_within(bytes, DEFAULT_BYTES, most);
    let is_certain = at(request.value.low) == value && at(request.value.high) == value;
    let rule = "the smallest request that reaches 95 % of the sequential bandwidth at a session's \
        depth, at least the default: short requests cost more on a shared device";
    let setting = Setting::new(name, memory(value), vec![request], RuleSource::Ours, rule).default("128kB");
    let setting = if is_certain { setting.same_within_bounds() } else { setting };
    Ok(if name == "io_max_combine_limit" {
        setting.remark("It limits io_combine_limit, and takes effect when the server starts.")
    } else if question.version >= ASYNC_READS_VERSION {
        setting.remark("io_max_combine_limit limits it, so set both to the same value.")
    } else {
        setting
    })
}
