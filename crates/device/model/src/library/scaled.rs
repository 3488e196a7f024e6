//! A model with smaller caches, as text, for a sample of the real data: caches keep their share of
//! the data. A size that the drive needs to work at all, such as read-ahead for one stream, stays.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::{Model, ModelError, Parameters};
use crate::array::ArrayParameters;
use crate::disk::DiskParameters;
use crate::flash::FlashParameters;
use crate::flash::parameters::MappingParameters;

/// Text of a model with smaller caches, and the changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScaledModel {
    /// TOML text, comments included.
    pub toml: String,
    /// Changed sizes.
    pub changes: Vec<CacheChange>,
}

/// Change of a size, in the unit of its parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheChange {
    /// Path of the parameter, such as `cache.segments`.
    pub parameter: String,
    /// Size before.
    pub from: u64,
    /// Size after.
    pub to: u64,
}

/// Size of a cache, in the unit of its parameter.
struct Cache {
    parameter: String,
    size: u64,
    /// Least size that works.
    least: u64,
}

impl Cache {
    fn new(parameter: &str, size: u64, least: u64) -> Self {
        Self { parameter: parameter.to_owned(), size, least }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a size, rounded")]
    fn scaled(self, share: f64) -> Option<CacheChange> {
        let part = (self.size as f64 * share).round() as u64;
        let to = part.max(self.least).min(self.size);
        (to < self.size).then_some(CacheChange { parameter: self.parameter, from: self.size, to })
    }
}

impl Model {
    /// Scales the model's caches to `share`: a disk's segments, a flash drive's buffers and map
    /// memory, a controller's cache and read-ahead. An array's drives have texts of their own;
    /// `drive_name` renames them in the array's text.
    ///
    /// # Errors
    /// Fails if the text can no longer be parsed.
    pub fn with_scaled_caches(
        &self,
        share: f64,
        drive_name: &dyn Fn(&str) -> String,
    ) -> Result<ScaledModel, ModelError> {
        let caches = match self.parameters() {
            Parameters::Flash(flash) => of_flash(flash),
            Parameters::Disk(disk) => of_disk(disk),
            Parameters::Array { parameters, .. } => of_array(parameters),
        };
        let changes: Vec<CacheChange> = caches.into_iter().filter_map(|cache| cache.scaled(share)).collect();
        let mut edits: Vec<(String, String)> =
            changes.iter().map(|change| (change.parameter.clone(), change.to.to_string())).collect();
        if let Parameters::Array { parameters, .. } = self.parameters() {
            edits.extend(drives(parameters).map(|(path, name)| (path, format!("{:?}", drive_name(name)))));
        }
        Ok(ScaledModel { toml: self.edited(&edits)?, changes })
    }

    /// Replaces values in the text.
    fn edited(&self, edits: &[(String, String)]) -> Result<String, ModelError> {
        let text = self.toml();
        let parsed = DeTable::parse(text)
            .map_err(|source| ModelError::Syntax { origin: self.origin.clone(), source: Box::new(source) })?;
        let root = DeValue::Table(parsed.into_inner());
        let missing = |parameter: &str| ModelError::NoParameter {
            origin: self.origin.clone(),
            parameter: parameter.to_owned(),
        };
        let place = |(path, value)| -> Result<(Range<usize>, &str), ModelError> {
            let (path, value): (&String, &String) = (path, value);
            Ok((span(&root, path).ok_or_else(|| missing(path))?, value))
        };
        let mut places: Vec<_> =
            edits.iter().map(|(path, value)| place((path, value))).collect::<Result<_, _>>()?;
        // Back to front, so that earlier positions stay valid.
        places.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
        let mut edited = text.to_owned();
        for (span, value) in places {
            edited.replace_range(span, value);
        }
        Ok(edited)
    }
}

/// Position of the value of a path such as `controllers.0.cache.bytes`.
fn span(root: &DeValue<'_>, path: &str) -> Option<Range<usize>> {
    let mut value = root;
    let mut span = None;
    for step in path.split('.') {
        let next = match step.parse::<usize>() {
            Ok(place) => value.get(place),
            Err(_) => value.get(step),
        }?;
        span = Some(next.span());
        value = next.get_ref();
    }
    span
}

fn of_flash(flash: &FlashParameters) -> Vec<Cache> {
    let ahead = &flash.read_ahead;
    let mut caches = vec![
        Cache::new("write_buffer.bytes", flash.write_buffer.bytes, flash.least_write_buffer_bytes()),
        Cache::new("read_ahead.buffer_bytes", ahead.buffer_bytes, ahead.least_fetch_bytes),
    ];
    if let MappingParameters::Page(page) = &flash.mapping
        && let Some(memory) = &page.map_memory
    {
        caches.push(Cache::new("mapping.map_memory.bytes", memory.bytes, flash.chips.page_bytes));
    }
    caches
}

fn of_disk(disk: &DiskParameters) -> Vec<Cache> {
    let cache = &disk.cache;
    let segments = [("cache.segments", cache.segments), ("cache.write_segments", cache.write_segments)];
    segments.map(|(parameter, segments)| Cache::new(parameter, u64::from(segments), 1)).into()
}

fn of_array(array: &ArrayParameters) -> Vec<Cache> {
    let of_controller = |(number, controller): (usize, &crate::array::ControllerParameters)| {
        let cache = controller
            .cache
            .as_ref()
            .map(|cache| Cache::new(&format!("controllers.{number}.cache.bytes"), cache.bytes, 0));
        let ahead = controller.read_ahead.as_ref().map(|ahead| {
            Cache::new(&format!("controllers.{number}.read_ahead.bytes"), ahead.bytes, ahead.least_bytes())
        });
        cache.into_iter().chain(ahead)
    };
    array.controllers.iter().enumerate().flat_map(of_controller).collect()
}

/// Path and name of each drive in an array's text.
fn drives(array: &ArrayParameters) -> impl Iterator<Item = (String, &str)> {
    array.controllers.iter().enumerate().flat_map(|(number, controller)| {
        let named = controller.drives.iter().enumerate();
        named.map(move |(place, name)| (format!("controllers.{number}.drives.{place}"), name.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::names;

    fn scaled(name: &str, share: f64) -> ScaledModel {
        Model::named(name).unwrap().with_scaled_caches(share, &|drive| format!("{drive}-small")).unwrap()
    }

    #[test]
    fn caches_are_a_share_and_all_else_stays() {
        let disk = scaled("wd2003fyys", 0.25);
        assert!(disk.toml.contains("\nsegments = 32\nwrite_segments = 16\nsegment_sectors = 1024\n"));
        let was = Model::named("wd2003fyys").unwrap().toml().to_owned();
        assert_eq!(disk.toml.lines().count(), was.lines().count());
        let differ = disk.toml.lines().zip(was.lines()).filter(|(one, other)| one != other).count();
        assert_eq!((differ, disk.changes.len()), (2, 2));
    }

    #[test]
    fn an_array_names_other_drives() {
        let array = scaled("regola-raid10", 0.5);
        assert!(array.toml.contains("bytes = 268435456, access_ns"), "{}", array.toml);
        assert_eq!(array.toml.matches("\"wd2003fyys-small\"").count(), 10);
        assert!(!array.toml.contains("\"wd2003fyys\""));
    }

    #[test]
    fn every_drive_of_the_library_works_with_the_least_caches() {
        for name in names() {
            let model = Model::named(name).unwrap();
            let text = model.with_scaled_caches(1e-9, &str::to_owned).unwrap().toml;
            let small = Model::parse(name, text, None).unwrap_or_else(|error| panic!("{name}: {error}"));
            small.device().unwrap_or_else(|error| panic!("{name}: {error}"));
            let same = model.with_scaled_caches(1.0, &str::to_owned).unwrap();
            assert_eq!((same.toml.as_str(), same.changes.len()), (model.toml(), 0), "{name}");
        }
    }
}
