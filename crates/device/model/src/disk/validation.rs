//! Validation of a drive's parameters.

use super::DiskError;
use super::parameters::{DiskParameters, GeometryParameters, ReadAhead, SeekCurve, ZoneParameters};

/// Upper limit of a time: an hour, far beyond any drive and far below overflow.
const LONGEST_US: f64 = 3.6e9;

/// Returns the first error.
pub(super) fn validate(parameters: &DiskParameters) -> Result<(), DiskError> {
    let check = Check { drive: &parameters.name };
    check.range("sector_bytes", parameters.sector_bytes as f64, 1.0, 65_536.0)?;
    check.range("rotations_per_minute", parameters.rotations_per_minute, 1.0, 1_000_000.0)?;
    check.geometry(&parameters.geometry)?;
    check.seek(parameters)?;
    check.cache(parameters)?;
    check.queue(parameters)?;
    check.overheads(parameters)
}

struct Check<'a> {
    drive: &'a str,
}

impl Check<'_> {
    fn range(&self, field: &str, got: f64, lowest: f64, highest: f64) -> Result<(), DiskError> {
        if (lowest..=highest).contains(&got) {
            return Ok(());
        }
        let nearest = if got > highest { highest } else { lowest };
        Err(DiskError::OutOfRange {
            drive: self.drive.into(),
            field: field.into(),
            got,
            lowest,
            highest,
            nearest,
        })
    }

    fn time_us(&self, field: &str, got: f64) -> Result<(), DiskError> {
        self.range(field, got, 0.0, LONGEST_US)
    }

    fn inconsistent(&self, field: impl Into<String>, problem: impl Into<String>) -> DiskError {
        DiskError::Inconsistent { drive: self.drive.into(), field: field.into(), problem: problem.into() }
    }

    fn geometry(&self, geometry: &GeometryParameters) -> Result<(), DiskError> {
        self.range("geometry.surfaces", f64::from(geometry.surfaces), 1.0, 1_000.0)?;
        if geometry.zones.is_empty() {
            return Err(self.inconsistent("geometry.zones", "is empty; a drive has at least one zone"));
        }
        let mut next_cylinder = 0;
        for (index, zone) in geometry.zones.iter().enumerate() {
            let field = |name: &str| format!("geometry.zones[{index}].{name}");
            let (first, last) = (f64::from(zone.first_cylinder), f64::from(zone.last_cylinder));
            self.range(&field("first_cylinder"), first, f64::from(next_cylinder), 10_000_000.0)?;
            self.range(&field("last_cylinder"), last, first, 10_000_000.0)?;
            self.zone(geometry.surfaces, zone, &field)?;
            next_cylinder = zone.last_cylinder + 1;
        }
        Ok(())
    }

    fn zone(
        &self,
        surfaces: u32,
        zone: &ZoneParameters,
        field: &dyn Fn(&str) -> String,
    ) -> Result<(), DiskError> {
        let on_track = f64::from(zone.sectors_per_track);
        self.range(&field("sectors_per_track"), on_track, 1.0, 1_000_000.0)?;
        self.range(&field("track_skew_sectors"), f64::from(zone.track_skew_sectors), 0.0, on_track)?;
        self.range(&field("cylinder_skew_sectors"), f64::from(zone.cylinder_skew_sectors), 0.0, on_track)?;
        let cylinders = zone.last_cylinder - zone.first_cylinder + 1;
        let region_cylinders = zone.spare_region_cylinders.unwrap_or(cylinders);
        self.range(&field("spare_region_cylinders"), f64::from(region_cylinders), 1.0, f64::from(cylinders))?;
        let region_sectors = on_track * f64::from(surfaces) * f64::from(region_cylinders);
        self.range(&field("spare_sectors"), f64::from(zone.spare_sectors), 0.0, region_sectors - 1.0)?;
        if !zone.slipped_sectors.is_sorted_by(|before, after| before < after) {
            let problem = "are not in strictly ascending order; sort them and drop repetitions";
            return Err(self.inconsistent(field("slipped_sectors"), problem));
        }
        self.slips_fit_spares(zone, on_track * f64::from(surfaces) * f64::from(region_cylinders), field)
    }

    fn slips_fit_spares(
        &self,
        zone: &ZoneParameters,
        region_sectors: f64,
        field: &dyn Fn(&str) -> String,
    ) -> Result<(), DiskError> {
        let mut in_region = (0.0, 0_u32);
        for &slip in &zone.slipped_sectors {
            let region = (slip as f64 / region_sectors).floor();
            in_region = if region > in_region.0 { (region, 1) } else { (in_region.0, in_region.1 + 1) };
            if in_region.1 > zone.spare_sectors {
                let problem =
                    format!("are more in one spare region than its {} spare sectors", zone.spare_sectors);
                return Err(self.inconsistent(field("slipped_sectors"), problem));
            }
        }
        Ok(())
    }

    fn seek(&self, parameters: &DiskParameters) -> Result<(), DiskError> {
        let seek = &parameters.seek;
        self.time_us("seek.settle_us", seek.settle_us.unwrap_or(0.0))?;
        self.range("seek.write_settle_us", seek.write_settle_us, -LONGEST_US, LONGEST_US)?;
        self.time_us("seek.head_switch_us", seek.head_switch_us)?;
        self.curve("seek.read", &seek.read)?;
        seek.write.as_ref().map_or(Ok(()), |curve| self.curve("seek.write", curve))
    }

    fn curve(&self, field: &str, curve: &SeekCurve) -> Result<(), DiskError> {
        match curve {
            SeekCurve::Extracted { points } => {
                if points.is_empty() {
                    return Err(
                        self.inconsistent(field, "has no points; give at least one distance and its time")
                    );
                }
                if !points.is_sorted_by(|before, after| before.0 < after.0) {
                    return Err(
                        self.inconsistent(field, "has points that are not in strictly ascending order")
                    );
                }
                points.iter().try_for_each(|point| self.time_us(field, point.1))
            }
            SeekCurve::ThreePoint { track_to_track_us, average_us, full_stroke_us } => {
                self.time_us(&format!("{field}.track_to_track_us"), *track_to_track_us)?;
                self.range(&format!("{field}.average_us"), *average_us, *track_to_track_us, LONGEST_US)?;
                self.range(&format!("{field}.full_stroke_us"), *full_stroke_us, *average_us, LONGEST_US)?;
                self.three_points_rise(field, *track_to_track_us, *average_us, *full_stroke_us)
            }
        }
    }

    /// Requires both coefficients of the three-point curve to be non-negative. The curve then rises
    /// and is concave, like that of an accelerating arm.
    fn three_points_rise(&self, field: &str, least: f64, average: f64, most: f64) -> Result<(), DiskError> {
        let shortest = (10.0 * least + 5.0 * most) / 15.0;
        let longest = (7.0 * least + 8.0 * most) / 15.0;
        self.range(&format!("{field}.average_us"), average, shortest, longest)
    }

    fn cache(&self, parameters: &DiskParameters) -> Result<(), DiskError> {
        let cache = &parameters.cache;
        self.range("cache.segments", f64::from(cache.segments), 1.0, 65_536.0)?;
        self.range("cache.write_segments", f64::from(cache.write_segments), 1.0, f64::from(cache.segments))?;
        self.range("cache.segment_sectors", f64::from(cache.segment_sectors), 1.0, 1e9)?;
        if let ReadAhead::Sectors { sectors } = cache.read_ahead {
            let most = f64::from(cache.segment_sectors);
            self.range("cache.read_ahead.sectors", f64::from(sectors), 0.0, most)?;
        }
        Ok(())
    }

    fn queue(&self, parameters: &DiskParameters) -> Result<(), DiskError> {
        self.range("queue.depth", f64::from(parameters.queue.depth), 1.0, 65_536.0)?;
        self.time_us("queue.longest_wait_us", parameters.queue.longest_wait_us)?;
        self.time_us("queue.positioning_margin_us", parameters.queue.positioning_margin_us)
    }

    fn overheads(&self, parameters: &DiskParameters) -> Result<(), DiskError> {
        self.time_us("interface.sector_transfer_us", parameters.interface.sector_transfer_us)?;
        let overheads = &parameters.overheads;
        let fields = [
            ("read_hit_after_read_us", overheads.read_hit_after_read_us),
            ("read_hit_after_write_us", overheads.read_hit_after_write_us),
            ("read_miss_after_read_us", overheads.read_miss_after_read_us),
            ("read_miss_after_write_us", overheads.read_miss_after_write_us),
            ("write_hit_after_read_us", overheads.write_hit_after_read_us),
            ("write_hit_after_write_us", overheads.write_hit_after_write_us),
            ("write_miss_after_read_us", overheads.write_miss_after_read_us),
            ("write_miss_after_write_us", overheads.write_miss_after_write_us),
        ];
        fields.iter().try_for_each(|(name, us)| self.time_us(&format!("overheads.{name}"), *us))
    }
}
