/// Heat map: a table over two parameters with cells coloured on a logarithmic scale.
pub(crate) struct Heat {
    /// Anchor on the page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Finding computed from the data.
    pub(crate) finding: String,
    /// Instruction for reading the figure.
    pub(crate) note: String,
    /// Quantity of the numbers, with their unit.
    pub(crate) quantity: String,
    /// Meaning of a framed, struck cell.
    pub(crate) missed: String,
    /// Labels of the rows and the columns.
    pub(crate) corner: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<HeatRow>,
}

/// Row of the map, with a cell for each column.
pub(crate) struct HeatRow {
    pub(crate) label: String,
    pub(crate) cells: Vec<Option<HeatCell>>,
}

/// Cell of the map.
pub(crate) struct HeatCell {
    /// Value that determines the colour.
    pub(crate) value: f64,
    /// Value as printed in the cell.
    pub(crate) text: String,
    /// Details in the tooltip.
    pub(crate) title: String,
    /// True if the cell doesn't count like the others.
    pub(crate) missed: bool,
}

impl Heat {
    /// Steps of the legend.
    const STEPS: u32 = 5;

    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let cells = self.rows.iter().flat_map(|row| row.cells.iter().flatten());
        cells.map(|cell| cell.value).filter(|value| *value > 0.0)
    }

    fn range(&self) -> (f64, f64) {
        (self.values().fold(f64::INFINITY, f64::min), self.values().fold(0.0, f64::max))
    }

    pub(crate) fn has_missed(&self) -> bool {
        self.rows.iter().any(|row| row.cells.iter().flatten().any(|cell| cell.missed))
    }

    /// Strength of the colour for a value, 0 to 100.
    pub(crate) fn ink(&self, value: f64) -> f64 {
        let (least, greatest) = self.range();
        if value <= 0.0 || greatest <= least {
            return 0.0;
        }
        (100.0 * (value / least).ln() / (greatest / least).ln()).clamp(0.0, 100.0)
    }

    /// Legend values, evenly spread over the scale in ascending order; empty if all values are
    /// equal.
    pub(crate) fn legend(&self) -> Vec<f64> {
        let (least, greatest) = self.range();
        if greatest <= least {
            return Vec::new();
        }
        let step = |index| least * (greatest / least).powf(f64::from(index) / f64::from(Self::STEPS - 1));
        (0..Self::STEPS).map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heat(values: &[f64]) -> Heat {
        let cell = |value: &f64| {
            Some(HeatCell { value: *value, text: String::new(), title: String::new(), missed: false })
        };
        Heat {
            id: "heat",
            title: "",
            finding: String::new(),
            note: String::new(),
            quantity: String::new(),
            missed: String::new(),
            corner: String::new(),
            columns: Vec::new(),
            rows: vec![HeatRow { label: String::new(), cells: values.iter().map(cell).collect() }],
        }
    }

    #[test]
    fn ink_follows_the_logarithm() {
        let heat = heat(&[1.0, 10.0, 100.0]);
        assert!((heat.ink(10.0) - 50.0).abs() < 1e-9);
        assert!((heat.legend()[2] - 10.0).abs() < 1e-9);
        assert_eq!(heat.legend().len(), 5);
    }

    #[test]
    fn equal_values_have_no_scale() {
        assert!(heat(&[3.0, 3.0]).legend().is_empty());
        assert!(heat(&[3.0, 3.0]).ink(3.0).abs() < 1e-9);
        assert!(heat(&[]).legend().is_empty());
    }
}
