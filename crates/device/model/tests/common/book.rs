//! Book of claims: a paper's statement, the model's result and the verdict. `cargo xtask claims`
//! prints it.

/// Verdict on a claim.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Verdict {
    /// The model shows it without any parameter fitted to it.
    Met,
    /// The model shows it because of a fitted parameter, named by the reason: no evidence for the
    /// model. Tested all the same, so that later changes of the model preserve it.
    Encoded(&'static str),
    /// The model shows part of it; the reason explains the rest.
    Partly(&'static str),
    /// The model doesn't show it, for this reason.
    NotMet(&'static str),
    /// The source contradicts itself; the reason states the choice.
    Contradictory(&'static str),
}

/// One line of the book.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: &'static str,
    /// The paper's statement, in short.
    pub(crate) paper: &'static str,
    /// Fill, wear, depth, block size and host cost; values that the paper leaves open are marked as
    /// chosen.
    pub(crate) precondition: &'static str,
    /// Tolerated deviation.
    pub(crate) tolerance: &'static str,
    /// The model's result.
    pub(crate) model: String,
    pub(crate) verdict: Verdict,
}

impl Entry {
    /// Prints the line for `cargo xtask claims`.
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
