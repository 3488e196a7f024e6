//! Recipe of a sample: copies of an example's own files under another name, and a line or two in
//! the files that list its kind.

use std::collections::BTreeMap;

use crate::Outcome;

/// The files of the tree by their paths.
pub(super) type Tree = BTreeMap<String, Vec<u8>>;

/// An addition.
pub(super) struct Recipe {
    /// Beginning of its heading in CONTRIBUTING.
    pub(super) heading: &'static str,
    /// The example's own files.
    pub(super) own: &'static [&'static str],
    /// Names of the example, each with the sample's.
    pub(super) names: &'static [(&'static str, &'static str)],
    /// A file, what stands there, and what stands there afterwards.
    pub(super) edits: &'static [(&'static str, &'static str, &'static str)],
    /// Places where the program must show the sample, each with its name there.
    pub(super) shows: &'static [(Place, &'static str)],
}

/// Something that the program says.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// Output of the program for this command line.
    Answer(&'static str),
    /// A file of a short probe.
    Probed(&'static str),
}

impl Recipe {
    /// A path with the made-up name for the example's.
    pub(super) fn renamed(&self, path: &str) -> String {
        if self.own.contains(&path) { self.with_names(path.into()) } else { path.into() }
    }

    /// Every file that the addition writes.
    pub(super) fn touched(&self) -> Vec<String> {
        let own = self.own.iter().map(|path| self.renamed(path));
        let edited = self.edits.iter().map(|(path, ..)| (*path).to_owned());
        let mut touched: Vec<String> = own.chain(edited).collect();
        touched.sort_unstable();
        touched.dedup();
        touched
    }

    /// Writes the example's own files once more under the made-up name, and edits the others.
    ///
    /// # Errors
    /// A file isn't what the recipe takes it for.
    pub(super) fn add(&self, tree: &mut Tree) -> Outcome {
        for path in self.own {
            let text = self.with_names(text(tree, path)?);
            assert!(self.renamed(path) != *path, "{path}: the made-up one would take the example's place");
            tree.insert(self.renamed(path), text.into_bytes());
        }
        for (path, before, after) in self.edits {
            let text = text(tree, path)?;
            if !text.contains(before) {
                return Err(format!(
                    "{path} has no {before:?} any more: mend the recipe of {}",
                    self.heading
                )
                .into());
            }
            tree.insert((*path).into(), text.replacen(before, after, 1).into_bytes());
        }
        Ok(())
    }

    fn with_names(&self, text: String) -> String {
        self.names.iter().fold(text, |text, (example, made_up)| text.replace(example, made_up))
    }
}

fn text(tree: &Tree, path: &str) -> Outcome<String> {
    let bytes = tree.get(path).ok_or_else(|| format!("there is no {path} any more"))?;
    Ok(String::from_utf8(bytes.clone())?)
}
