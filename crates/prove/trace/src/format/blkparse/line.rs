use crate::format::kernel::{extent, has_extent, is_device, without_extent};
use crate::format::requeue::Key;
use crate::format::rwbs::RequestKind;
use crate::format::{Event, number, seconds};
use crate::{Operation, Record};

/// Actions that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Queued to the device (`Q`).
    Queued,
    /// Issued to the driver (`D`).
    Issued,
    /// Requeued, because the driver couldn't take it (`R`).
    Requeued,
    /// Completed by the device (`C`).
    Completed,
}

/// A parsed line.
pub(super) struct Line<'a> {
    pub(super) device: &'a str,
    pub(super) action: Action,
    pub(super) letters: &'a str,
    pub(super) record: Record,
}

/// Returns true if a line begins like a line of `blkparse`.
pub(crate) fn begins(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(7).collect();
    matches!(words.as_slice(), [device, cpu, sequence, time, ..]
        if is_device(device) && cpu.parse::<u32>().is_ok() && sequence.parse::<u64>().is_ok() && time.contains('.'))
}

impl<'a> Line<'a> {
    /// Parses a line. Returns `None` if it describes no request.
    pub(super) fn parse(text: &'a str) -> Result<Option<Self>, String> {
        let mut words = text.split_whitespace();
        // Lines of the summary don't begin with a device.
        let Some(device) = words.next().filter(|word| is_device(word)) else { return Ok(None) };
        let time_us = seconds(words.nth(2))?;
        let action = match words.nth(1).ok_or("the action is missing")? {
            "Q" => Action::Queued,
            "D" => Action::Issued,
            "R" => Action::Requeued,
            "C" => Action::Completed,
            _ => return Ok(None),
        };
        let letters = words.next().ok_or("the kind of request (rwbs) is missing")?;
        let Some((operation, address, length_bytes)) = asked_for(RequestKind::of(letters), words)? else {
            return Ok(None);
        };
        let record = Record { time_us, operation, address, length_bytes, latency_ns: None };
        match record.complaint() {
            Some(complaint) => Err(complaint),
            None => Ok(Some(Self { device, action, letters, record })),
        }
    }

    /// Identity of the request.
    pub(super) fn key(&self) -> Key {
        (self.device.to_owned(), self.letters.to_owned(), self.record.address)
    }

    pub(super) fn event(&self) -> Event {
        Event::of_request(self.record, self.device, RequestKind::of(self.letters))
    }
}

/// Parses the words behind the letters into operation, address and length. Returns `None` if no
/// data is requested.
fn asked_for<'a>(
    kind: RequestKind,
    words: impl Iterator<Item = &'a str>,
) -> Result<Option<(Operation, u64, u64)>, String> {
    let Some(operation) = kind.operation else { return Ok(None) };
    let words: Vec<&str> = words.take(3).collect();
    let (first, second) = (words.first().copied(), words.get(1).copied());
    let begins = |word: Option<&str>, letter| word.is_some_and(|word| word.starts_with(letter));
    // A pass-through command is in brackets, behind its number of bytes.
    if begins(first, '(') || begins(second, '(') {
        return Ok(None);
    }
    // A flush has no sectors, and a 0 when it completes.
    let has_sector = first.is_some() && !begins(first, '[');
    if second != Some("+") && (!has_sector || begins(second, '[')) {
        let operation = without_extent(kind);
        return match operation {
            None if !has_sector => Err("the sector is missing".into()),
            operation => Ok(operation.map(|operation| (operation, 0, 0))),
        };
    }
    let sector = number(first, "the sector")?;
    if second != Some("+") {
        return Err(format!("expected `sector + sectors` and got {second:?} after the sector"));
    }
    let sectors = number(words.get(2).copied(), "the number of sectors")?;
    if !has_extent(kind, sectors) {
        return Ok(without_extent(kind).map(|operation| (operation, 0, 0)));
    }
    let (address, length_bytes) = extent(sector, sectors)?;
    Ok(Some((operation, address, length_bytes)))
}
