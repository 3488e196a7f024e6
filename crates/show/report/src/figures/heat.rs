/// Figures over two parameters, as a table whose cells are coloured by a logarithmic scale.
pub(crate) struct Heat {
    /// Anchor on the page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// What the data say, computed from them.
    pub(crate) finding: String,
    /// How to read it.
    pub(crate) note: String,
    /// What the numbers are, with their unit.
    pub(crate) quantity: String,
    /// What a framed, struck cell is.
    pub(crate) missed: String,
    /// What runs down and what runs across.
    pub(crate) corner: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<HeatRow>,
}

/// A line of cells, one for each column.
pub(crate) struct HeatRow {
    pub(crate) label: String,
    pub(crate) cells: Vec<Option<HeatCell>>,
}

/// One cell.
pub(crate) struct HeatCell {
    /// Decides the colour.
    pub(crate) value: f64,
    /// The value as it stands in the cell.
    pub(crate) said: String,
    /// All that is known of it, for a pointer over it.
    pub(crate) title: String,
    /// Whether the cell doesn't count as the others do.
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

    /// How much ink a value gets, 0 to 100.
    pub(crate) fn ink(&self, value: f64) -> f64 {
        let (least, greatest) = self.range();
        if value <= 0.0 || greatest <= least {
            return 0.0;
        }
        (100.0 * (value / least).ln() / (greatest / least).ln()).clamp(0.0, 100.0)
    }

    /// Values evenly spread over the scale, ascending; empty when all are equal.
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
            Some(HeatCell { value: *value, said: String::new(), title: String::new(), missed: false })
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
