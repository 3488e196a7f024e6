//! Means over a class of cubes: one fact, one dimension and one number of partners.

use nandle_flights::{Dimension, Fact};

use super::published::{is_of, published_rows};
use super::{Cube, PathRuns};

/// A class on a path.
pub(super) struct Class {
    pub(super) fact: Fact,
    pub(super) dimension: Dimension,
    pub(super) partners: u32,
    pub(super) cubes: u64,
    pub(super) result_rows: f64,
    /// Rows that the paper states for the class.
    pub(super) published_rows: Option<u64>,
    pub(super) wanted_bytes: f64,
    pub(super) share_of_jumps: Option<f64>,
    pub(super) here_s: Option<f64>,
    pub(super) predicted_s: Option<f64>,
    /// Ordered as the path's targets.
    pub(super) targets_s: Vec<(String, Option<f64>)>,
}

/// Classes of the path's cubes.
pub(super) fn classes_of(path: &PathRuns) -> Vec<Class> {
    let mut classes = Vec::new();
    for fact in Fact::ALL {
        for dimension in Dimension::ALL {
            for partners in 0..4 {
                let of_class = |cube: &&Cube| is_of(cube.query, fact, dimension, partners);
                let cubes: Vec<&Cube> = path.cubes.iter().filter(of_class).collect();
                if !cubes.is_empty() {
                    classes.push(class(&cubes, fact, dimension, partners, path.targets.clone()));
                }
            }
        }
    }
    classes
}

fn class(cubes: &[&Cube], fact: Fact, dimension: Dimension, partners: u32, targets: Vec<String>) -> Class {
    let of_target = |target: &str| mean(cubes, |cube| cube.targets.get(target).map(|played| played.time_s));
    Class {
        fact,
        dimension,
        partners,
        cubes: cubes.len() as u64,
        result_rows: mean(cubes, |cube| Some(cube.result_rows as f64)).unwrap_or_default(),
        published_rows: published_rows(fact, dimension, partners),
        wanted_bytes: mean(cubes, |cube| Some(cube.wanted_bytes as f64)).unwrap_or_default(),
        share_of_jumps: mean(cubes, |cube| cube.share_of_jumps),
        here_s: mean(cubes, |cube| cube.actual.as_ref().map(|actual| actual.time_s)),
        predicted_s: mean(cubes, |cube| Some(cube.actual.as_ref()?.predicted.as_ref()?.value_s)),
        targets_s: targets
            .into_iter()
            .map(|target| {
                let seconds = of_target(&target);
                (target, seconds)
            })
            .collect(),
    }
}

/// Mean of a figure; `None` unless all cubes have it.
pub(super) fn mean(cubes: &[&Cube], figure: impl Fn(&Cube) -> Option<f64>) -> Option<f64> {
    let figures: Option<Vec<f64>> = cubes.iter().map(|cube| figure(cube)).collect();
    figures.filter(|all| !all.is_empty()).map(|all| all.iter().sum::<f64>() / all.len() as f64)
}
