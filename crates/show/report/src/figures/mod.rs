//! Visual elements of a page: plots, bars, heat maps and scatter plots. Each has a finding computed
//! from the data and a note on how to read it.

mod bars;
mod heat;
mod scatter;

pub(crate) use bars::{Bar, Bars, Group, Scale};
pub(crate) use heat::{Heat, HeatCell, HeatRow};
pub(crate) use scatter::{Axis, Dots, Scatter};

use crate::plots::Plot;
use crate::sections::Missing;

/// Visual element of a page.
pub(crate) enum Figure {
    Plot(Plot),
    Bars(Bars),
    /// Bars of times on one logarithmic scale, because times differ by powers of ten.
    LogBars(Bars),
    Heat(Heat),
    Scatter(Scatter),
}

/// Question of a reader, with the figures that answer it.
pub(crate) struct Question {
    /// Anchor of the section on the page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) figures: Vec<Figure>,
    /// Facts that no figure shows and notes on the figures, one sentence each.
    pub(crate) remarks: Vec<String>,
    /// Figures that are missing, with the reasons.
    pub(crate) missing: Vec<Missing>,
}

impl Plot {
    /// Turns the figure into a page element; `None` if nothing was measured.
    pub(crate) fn into_figure(self) -> Option<Figure> {
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
