/// Derived value in words: term, value and meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) term: &'static str,
    /// Value; `None` if there is none, and the sentence explains the lack.
    pub(super) value: Option<String>,
    pub(super) sentence: String,
}

impl Statement {
    pub(super) fn known(term: &'static str, value: String, sentence: impl Into<String>) -> Self {
        Self { term, value: Some(value), sentence: sentence.into() }
    }

    pub(super) fn missing(term: &'static str, sentence: impl Into<String>) -> Self {
        Self { term, value: None, sentence: sentence.into() }
    }
}
