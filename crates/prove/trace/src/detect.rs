//! Detects the format of a trace by its first lines.

use std::path::Path;

use crate::lines::without_mark;
use crate::source::Source;
use crate::{Format, TraceError};

/// Maximum length of a line in an error, in characters.
pub(crate) const SHOWN_CHARS: usize = 120;
/// Lines behind the first event that are compared when several formats fit it.
const LINES_COMPARED: usize = 64;

/// Result of format detection.
pub(crate) struct DetectedFormat {
    pub(crate) format: Format,
    /// True if a line matches the format.
    pub(crate) is_recognised: bool,
    /// True if only the shape of bare columns suggests the format.
    pub(crate) is_guessed: bool,
    pub(crate) has_latencies: bool,
    /// Lines before the first line of the format, except blank lines, comments and known headers.
    pub(crate) lines_before: u64,
    /// Number of the first line of the format, from 1.
    pub(crate) first_line: u64,
}

/// Formats that fit the first line that fits any.
struct Match<'a> {
    formats: Vec<Format>,
    line: &'a str,
    number: u64,
    lines_before: u64,
}

/// Detects the format of a text, or checks that it fits the `named` format.
pub(crate) fn recognise(
    path: &Path,
    source: &Source,
    named: Option<Format>,
) -> Result<DetectedFormat, TraceError> {
    let text = String::from_utf8_lossy(&source.beginning);
    let lines = whole_lines(without_mark(&text), source.is_whole);
    let Some(found) = first_match(&lines, named) else {
        let first_line =
            lines.iter().map(|(_, line)| *line).find(|line| !line.trim().is_empty()).unwrap_or_default();
        return match (named, first_match(&lines, None)) {
            (Some(named), Some(other)) => Err(other_format(path, named, &other)),
            (Some(format), None) => Ok(unrecognised(format)),
            (None, _) => Err(TraceError::Unknown { path: path.into(), first_line: shown(first_line) }),
        };
    };
    let behind = lines.iter().filter(|(number, _)| *number > found.number).map(|(_, line)| *line);
    let format = match *narrow_formats(found.formats, behind) {
        [format] => format,
        ref formats => return Err(TraceError::Ambiguous { path: path.into(), formats: formats.to_vec() }),
    };
    Ok(DetectedFormat {
        format,
        is_recognised: true,
        is_guessed: named.is_none() && format.has_bare_columns(),
        has_latencies: format.has_latencies(found.line),
        lines_before: found.lines_before,
        first_line: found.number,
    })
}

fn other_format(path: &Path, named: Format, other: &Match) -> TraceError {
    let found = other.formats.first().copied().unwrap_or(named);
    TraceError::OtherFormat { path: path.into(), named, found }
}

/// Result for a `named` format that no line fits; reading then reports the defect of each line.
fn unrecognised(format: Format) -> DetectedFormat {
    let has_latencies = format.has_latencies("");
    DetectedFormat {
        format,
        is_recognised: false,
        is_guessed: false,
        has_latencies,
        lines_before: 0,
        first_line: 1,
    }
}

/// Returns the complete lines with their numbers.
fn whole_lines(text: &str, is_whole: bool) -> Vec<(u64, &str)> {
    let mut lines: Vec<_> = (1..).zip(text.lines()).collect();
    // If the text is a single long line, its beginning is kept for the error.
    if !is_whole && lines.len() > 1 && !text.ends_with('\n') {
        lines.pop();
    }
    lines
}

/// Finds the first line that fits `named`, or any format.
///
/// Any text may contain bare columns of numbers, so at most one header line may precede them.
fn first_match<'a>(lines: &[(u64, &'a str)], named: Option<Format>) -> Option<Match<'a>> {
    let candidates = named.map_or_else(|| Format::ALL.to_vec(), |named| vec![named]);
    let (mut lines_before, mut header) = (0, None);
    for (number, line) in lines.iter().copied().filter(|(_, line)| !line.trim().is_empty()) {
        let fits = |format: &Format| {
            let is_bare = format.has_bare_columns() && named.is_none();
            format.fits(line) && (!is_bare || lines_before == 0 || lines_before == 1 && header.is_some())
        };
        let formats: Vec<Format> = candidates.iter().copied().filter(fits).collect();
        if !formats.is_empty() {
            let is_known =
                header.is_some_and(|header| formats.iter().any(|format| format.has_header(header)));
            let lines_before = if is_known { lines_before - 1 } else { lines_before };
            return Some(Match { formats, line, number, lines_before });
        }
        if !line.starts_with('#') {
            header = (lines_before == 0 && line.contains(char::is_alphabetic)).then_some(line);
            lines_before += 1;
        }
    }
    None
}

/// Narrows the formats to those that fit the following lines.
fn narrow_formats<'a>(mut formats: Vec<Format>, lines: impl Iterator<Item = &'a str>) -> Vec<Format> {
    for line in lines.take(LINES_COMPARED) {
        let fitting: Vec<Format> = formats.iter().copied().filter(|format| format.fits(line)).collect();
        if !fitting.is_empty() {
            formats = fitting;
        }
        if formats.len() == 1 {
            break;
        }
    }
    formats
}

/// The beginning of a line for an error; binary data is cut short.
fn shown(line: &str) -> String {
    const BINARY_CHARS: usize = 16;
    let is_text =
        |letter: char| !letter.is_control() && letter != char::REPLACEMENT_CHARACTER || letter == '\t';
    let most = if line.chars().take(SHOWN_CHARS).all(is_text) { SHOWN_CHARS } else { BINARY_CHARS };
    let mut shown: String = line.chars().take(most).collect();
    if line.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, named: Option<Format>) -> Result<DetectedFormat, TraceError> {
        let beginning = text.as_bytes().to_vec();
        let text = Box::new(std::io::empty());
        let source = Source { text, beginning, is_whole: true, decompressor: None };
        recognise("a".as_ref(), &source, named)
    }

    #[test]
    fn each_format_is_recognised_by_its_first_line() {
        let lines = [
            ("time_us,op,address,length", Format::Csv),
            ("time_us,op,address,length,latency_ns", Format::Csv),
            ("  8,0    3        1     0.000000000   697  D   W 223490 + 8 [kjournald]", Format::Blkparse),
            (
                " dd 23 [000] 11427.1: block:block_rq_issue: 254,0 WS 8192 () 16 + 16 0x2,0,4 [dd]",
                Format::PerfScript,
            ),
            ("fio version 3 iolog", Format::FioIolog),
            ("128166372003061629,hm,0,Read,383496192,32768,113736", Format::Msr),
            ("W Hit   11392096  12   1686.00000  40961.00000", Format::DiskSim),
            ("419,W,8792731648,16384,1577808144360767", Format::Alibaba),
            ("1538323200,12910952,128,0,1063", Format::Tencent),
            ("1455592200.005033000,0.000201000,W,0,66080768,4096", Format::Systor17),
            ("1455592200.005033000,,R,0,66080768,4096", Format::Systor17),
            ("0,20941264,8192,W,0.551706", Format::Spc),
            ("89966899259 2463 httpd 69440856 8 W 6 0 d41d8cd98f00b204e9800998ecf8427e", Format::Fiu),
            ("0.026214 0 55590 8 1", Format::DiskSimAscii),
        ];
        for (line, format) in lines {
            assert_eq!(of(line, None).unwrap().format, format, "{line}");
        }
        assert!(matches!(of("hello", None), Err(TraceError::Unknown { .. })));
    }

    #[test]
    fn two_fitting_formats_are_ambiguous() {
        let both = "100 0 303567 16 0\n200 0 55590 8 1\n";
        let Err(TraceError::Ambiguous { formats, .. }) = of(both, None) else { panic!() };
        assert_eq!(formats, [Format::DiskSimAscii, Format::MqSim]);
        assert_eq!(of(both, Some(Format::MqSim)).unwrap().format, Format::MqSim);
        let later = format!("{both}200.5 0 55590 8 1\n");
        assert_eq!(of(&later, None).unwrap().format, Format::DiskSimAscii);
        let flags = format!("{both}300 0 55590 8 3\n");
        assert_eq!(of(&flags, None).unwrap().format, Format::DiskSimAscii);
    }

    #[test]
    fn lines_before_the_first_event_are_counted() {
        let perf = "# captured\n\nkworker/1 6 [001] 1.5: sched:sched_switch: x\n \
                    dd 23 [000] 2.5: block:block_rq_issue: 254,0 WS 8192 () 16 + 16 0x2,0,4 [dd]\n";
        let begins = of(perf, None).unwrap();
        assert_eq!((begins.format, begins.lines_before, begins.first_line), (Format::PerfScript, 1, 4));
        let msr = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n1,hm,0,Read,3,5,7\n";
        let begins = of(msr, None).unwrap();
        assert_eq!((begins.format, begins.lines_before, begins.first_line), (Format::Msr, 0, 2));
        let unknown = "volume,kind,start,bytes,when\n419,W,8792731648,16384,1577808144360767\n";
        assert_eq!(of(unknown, None).unwrap().lines_before, 1);
        let prose = "one\ntwo\n0.026214 0 55590 8 1\n";
        assert!(matches!(of(prose, None), Err(TraceError::Unknown { .. })));
        assert_eq!(of(prose, Some(Format::DiskSimAscii)).unwrap().lines_before, 2);
    }
}
