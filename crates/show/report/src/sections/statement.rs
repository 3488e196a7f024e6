/// Something derived, said in words: the term, its value, and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) term: &'static str,
    /// `None` when it was not concluded; the sentence then says what is missing.
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
