use std::ops::Range;

use nandle_io::Nanos;

/// Times at which at least one request was outstanding, by the clock of the world that ran them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outstanding {
    /// Disjoint and in order.
    spans: Vec<Range<Nanos>>,
}

impl Outstanding {
    /// Adds the time of a request; in any order.
    pub fn add(&mut self, span: Range<Nanos>) {
        if span.is_empty() {
            return;
        }
        // Requests complete nearly in the order in which they were sent, so the search ends near
        // the back.
        let first = self.spans.partition_point(|known| known.end < span.start);
        let touched = self.spans.iter().skip(first).take_while(|known| known.start <= span.end).count();
        let merged = self.spans.get(first..first + touched).unwrap_or_default();
        let start = merged.first().map_or(span.start, |known| known.start.min(span.start));
        let end = merged.last().map_or(span.end, |known| known.end.max(span.end));
        self.spans.splice(first..first + touched, [start..end]);
    }

    /// Adds the times of `other`.
    pub fn merge(&mut self, other: Self) {
        for span in other.spans {
            self.add(span);
        }
    }

    /// Returns the total time; overlapping requests count once.
    pub fn total(&self) -> Nanos {
        self.spans.iter().fold(Nanos::ZERO, |sum, span| sum + span.end.since(span.start))
    }

    /// Returns true if no request was outstanding.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_overlap_count_once() {
        let mut all = Outstanding::default();
        for (start, end) in [(10, 20), (40, 50), (15, 25), (60, 60), (0, 5), (25, 30), (45, 48)] {
            all.add(Nanos(start)..Nanos(end));
        }
        assert_eq!(all.total(), Nanos(5 + 20 + 10));
        let mut other = Outstanding::default();
        other.add(Nanos(3)..Nanos(42));
        all.merge(other);
        assert_eq!((all.total(), all.spans.len()), (Nanos(50), 1));
    }
}
