use nandle_advise::compare::Unit;
use nandle_profile::Interval;

/// Cell of a figure. Its bounds and conditions go on lines below it, to keep columns narrow.
pub(super) fn cell(unit: Unit, value: &Interval<f64>, measured_on: Option<&str>) -> String {
    let bounds = unit.print_bounds(value).map(|bounds| format!("({bounds})"));
    let lines = [Some(unit.print(value.value)), bounds, measured_on.map(str::to_owned)];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_stand_below_their_value() {
        let value = Interval { value: 392e6, low: 385e6, high: 402e6 };
        let of_64k = cell(Unit::BytesPerSecond, &value, Some("64KiB"));
        assert_eq!(of_64k, "392 MB/s\n(385–402)\n64KiB");
        assert_eq!(cell(Unit::Plain, &Interval::exact(7.0), None), "7");
    }
}
