//! What a page shows beside its text: plots of curves, bars, maps of cells, and points. Each has a finding above it, computed
//! from the data, and a note on how to read it.

mod bars;
mod heat;
mod scatter;

pub(crate) use bars::{Bar, Bars, Group, Scale};
pub(crate) use heat::{Heat, HeatCell, HeatRow};
pub(crate) use scatter::{Axis, Dots, Scatter};

use crate::plots::Plot;
use crate::sections::Missing;

/// Something to look at.
pub(crate) enum Figure {
    Plot(Plot),
    Bars(Bars),
    /// Bars of times, which differ by powers of ten, on one logarithmic scale.
    LogBars(Bars),
    Heat(Heat),
    Scatter(Scatter),
}

/// A question that a reader has, and what answers it.
pub(crate) struct Question {
    /// Anchor of the section on the page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) figures: Vec<Figure>,
    /// What no figure shows, each a sentence; and what a reader of the figures should know.
    pub(crate) remarks: Vec<String>,
    /// What would answer it too, and why it wasn't measured.
    pub(crate) missing: Vec<Missing>,
}

impl Plot {
    /// The figure; nothing where nothing was measured.
    pub(crate) fn drawn(self) -> Option<Figure> {
        (!self.views.is_empty()).then_some(Figure::Plot(self))
    }
}

impl Question {
    pub(crate) fn is_empty(&self) -> bool {
        self.figures.is_empty() && self.remarks.is_empty() && self.missing.is_empty()
    }

    pub(crate) fn plots(&self) -> impl Iterator<Item = &Plot> {
        self.figures.iter().filter_map(|figure| match figure {
            Figure::Plot(plot) if !plot.views.is_empty() => Some(plot),
            _ => None,
        })
    }
}
