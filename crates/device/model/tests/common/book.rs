//! The claims' book: what a paper says, what the model gives, and what to think of it. `cargo xtask claims` prints it.

/// What to think of a claim.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Verdict {
    /// The model shows it, and no parameter was chosen so that it does.
    Met,
    /// The model shows it because a parameter was chosen so that it does, which the reason names: no evidence for the
    /// model. It is tested all the same, so that a later change of the model doesn't lose it.
    Encoded(&'static str),
    /// It shows a part of it; the reason for the rest.
    Partly(&'static str),
    /// It does not, and why.
    NotMet(&'static str),
    /// What the source says can't all be true; what was chosen.
    Contradictory(&'static str),
}

/// One line of the book.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: &'static str,
    /// What the paper says, in short.
    pub(crate) paper: &'static str,
    /// Fill, wear, depth, block size and host cost, with what the paper leaves open marked as chosen.
    pub(crate) precondition: &'static str,
    /// How far off still counts.
    pub(crate) tolerance: &'static str,
    /// What the model gives.
    pub(crate) model: String,
    pub(crate) verdict: Verdict,
}

impl Entry {
    /// Writes the line, which `cargo xtask claims` collects.
    pub(crate) fn print(&self) {
        let (verdict, reason) = match self.verdict {
            Verdict::Met => ("met", ""),
            Verdict::Encoded(reason) => ("encoded", reason),
            Verdict::Partly(reason) => ("partly", reason),
            Verdict::NotMet(reason) => ("not met", reason),
            Verdict::Contradictory(reason) => ("contradictory", reason),
        };
        let line = serde_json::json!({
            "id": self.id, "paper": self.paper, "precondition": self.precondition, "tolerance": self.tolerance,
            "model": self.model, "verdict": verdict, "reason": reason,
        });
        println!("claim: {line}");
    }
}
