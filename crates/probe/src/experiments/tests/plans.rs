use std::collections::BTreeSet;

use crate::experiments::ALL;

#[test]
fn every_experiment_has_a_name_of_its_own_and_asks_something() {
    let names: BTreeSet<&str> = ALL.iter().map(|experiment| experiment.name()).collect();
    assert_eq!(names.len(), ALL.len());
    assert!(ALL.iter().all(|experiment| experiment.question().ends_with('?')));
}
