//! Layouts of published trace formats.

mod alibaba;
mod disksim_ascii;
mod fiu;
mod mqsim;
mod msr;
mod spc;
mod systor_17;
mod tencent;

use super::{Columns, ScaledColumn, field, fields};

pub(in crate::format) use self::alibaba::ALIBABA;
pub(in crate::format) use self::disksim_ascii::DISKSIM_ASCII;
pub(in crate::format) use self::fiu::FIU;
pub(in crate::format) use self::mqsim::MQSIM;
pub(in crate::format) use self::msr::MSR;
pub(in crate::format) use self::spc::SPC;
pub(in crate::format) use self::systor_17::SYSTOR_17;
pub(in crate::format) use self::tencent::TENCENT;

const S: u32 = 1_000_000_000;
const MS: u32 = 1_000_000;
const US: u32 = 1_000;
const TICK: u32 = 100;
const NS: u32 = 1;
const BYTE: u32 = 1;
const SECTOR: u32 = 512;

/// Layout of a published format, and the features that distinguish it from others.
pub(in crate::format) struct Layout {
    pub(in crate::format) columns: Columns,
    /// Header line that some files have.
    pub(in crate::format) header: Option<&'static str>,
    separator: Separator,
    /// Minimum and maximum number of columns.
    fields: [usize; 2],
    /// Earliest plausible time, in µs; for formats that count from a distant date.
    begins_us: u64,
    /// True if times have decimals, false if not; `None` if both occur.
    has_decimals: Option<bool>,
    /// True if the first part of a device is a host name. All other parts are numbers.
    has_host: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Comma,
    WhiteSpace,
}

const fn at(column: u16, unit: u32) -> ScaledColumn {
    ScaledColumn { column, unit }
}

/// 2001-09-09 in µs since 1970; all traces of cloud providers are later.
const UNIX_US_MIN: u64 = 1_000_000_000_000_000;

impl Layout {
    /// Returns true if a line fits this format, and no other as far as the line shows.
    pub(in crate::format) fn fits(&self, line: &str) -> bool {
        let separator = if line.contains(',') { Separator::Comma } else { Separator::WhiteSpace };
        let fields = fields(line);
        let [least, most] = self.fields;
        let time = field(&fields, self.columns.time.column);
        let has_decimals = time.is_some_and(|time| time.contains('.'));
        let are_numbers =
            self.columns.device.into_iter().flatten().all(|column| self.is_device(&fields, column));
        separator == self.separator
            && (least..=most).contains(&fields.len())
            && self.has_decimals.is_none_or(|expected| expected == has_decimals)
            && are_numbers
            && self.columns.event(&fields).is_ok_and(|event| {
                event.record.time_us >= self.begins_us && event.record.complaint().is_none()
            })
    }

    fn is_device(&self, fields: &[&str], column: u16) -> bool {
        let is_number = |field: &str| field.parse::<u64>().is_ok();
        field(fields, column).is_some_and(is_number)
            || self.has_host && self.columns.device.first() == Some(&Some(column))
    }
}
