use crate::PolicyOutcome;

/// States the policies' guarantees after a power cut, in sentences.
pub fn promises_in_words(policies: &[PolicyOutcome]) -> String {
    let named = |wanted: &dyn Fn(&PolicyOutcome) -> bool| {
        let names: Vec<_> =
            policies.iter().filter(|policy| wanted(policy)).map(|policy| policy.policy.name()).collect();
        (!names.is_empty()).then(|| joined(&names))
    };
    let whole = named(&|policy| policy.atomic_batch)
        .map(|names| format!("After a power cut a batch is there as a whole or not at all with {names}."));
    let torn = named(&|policy| !policy.torn_page_safe).map(|names| {
        format!("With {names} a page that was being written may be torn: that is for engines with a journal of their own.")
    });
    whole.into_iter().chain(torn).collect::<Vec<_>>().join(" ")
}

/// `a`, `a and b`, `a, b and c`.
fn joined(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_as_a_list() {
        assert_eq!(joined(&["a"]), "a");
        assert_eq!(joined(&["a", "b"]), "a and b");
        assert_eq!(joined(&["a", "b", "c"]), "a, b and c");
    }
}
