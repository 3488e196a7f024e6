//! The text that rules look at: the workspace's Rust files, its manifests and its documents.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::lexer::{Lexed, lex};
use super::manifest::Manifest;
use crate::Outcome;

/// Everything the rules see.
#[derive(Default)]
pub(super) struct Workspace {
    pub(super) files: Vec<SourceFile>,
    pub(super) manifests: Vec<Manifest>,
    pub(super) documents: Vec<Document>,
    /// Every file and folder, of whatever kind, from the workspace's root.
    pub(super) paths: BTreeSet<String>,
}

/// A Markdown file.
pub(super) struct Document {
    pub(super) path: String,
    pub(super) text: String,
}

/// A Rust file. Its path starts at the workspace's root and has `/` between its parts.
pub(super) struct SourceFile {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) lexed: Lexed,
}

impl SourceFile {
    fn new(path: &str, text: String) -> Outcome<Self> {
        let lexed = lex(&text).map_err(|error| {
            let line = error.span().start().line;
            format!("{path}:{line}: not Rust: {error}")
        })?;
        Ok(Self { path: path.to_owned(), text, lexed })
    }

    /// Returns true if the whole file is test code, by its path.
    pub(super) fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }
}

impl Workspace {
    /// Reads every `.rs`, `.md` and `Cargo.toml` under `root`, except in build output and hidden
    /// folders.
    ///
    /// # Errors
    /// When a file can't be read, or does not parse.
    pub(super) fn read(root: &Path) -> Outcome<Self> {
        let mut workspace = Self::default();
        workspace.add_folder(root, "")?;
        workspace.files.sort_by(|a, b| a.path.cmp(&b.path));
        workspace.manifests.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(workspace)
    }

    fn add_folder(&mut self, folder: &Path, relative: &str) -> Outcome {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || name == "target" && relative.is_empty() {
                continue;
            }
            let path = format!("{relative}{name}");
            self.paths.insert(path.clone());
            if entry.file_type()?.is_dir() {
                self.add_folder(&entry.path(), &format!("{path}/"))?;
            } else if has_rules(&name) {
                let text = fs::read_to_string(entry.path()).map_err(|error| format!("{path}: {error}"))?;
                self.add(&path, text)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &str, text: String) -> Outcome {
        if is_rust(Path::new(path)) {
            self.files.push(SourceFile::new(path, text)?);
        } else if is_document(Path::new(path)) {
            self.documents.push(Document { path: path.to_owned(), text });
        } else {
            self.manifests.push(Manifest::new(path, text)?);
        }
        Ok(())
    }

    /// The text of a document; nothing where there is none, as in most samples.
    pub(super) fn document(&self, path: &str) -> &str {
        self.documents.iter().find(|document| document.path == path).map_or("", |document| &document.text)
    }

    /// A workspace made of samples, for the rules' own tests.
    #[cfg(test)]
    pub(super) fn sample(files: &[(&str, &str)]) -> Self {
        let mut workspace = Self::default();
        for (path, text) in files {
            let folders = path.match_indices('/').map(|(end, _)| path[..end].to_owned());
            workspace.paths.extend(folders.chain([(*path).to_owned()]));
            workspace.add(path, (*text).to_owned()).unwrap();
        }
        workspace
    }
}

fn has_rules(name: &str) -> bool {
    name == "Cargo.toml" || is_rust(Path::new(name)) || is_document(Path::new(name))
}

fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

pub(super) fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_this_workspace() {
        let workspace = Workspace::read(&crate::workspace_root()).unwrap();
        let has = |path: &str| workspace.files.iter().any(|file| file.path == path);
        assert!(has("xtask/src/style/workspace.rs"));
        assert!(has("crates/measure/profile/src/lib.rs"));
        assert!(workspace.files.iter().all(|file| !file.path.starts_with("target/")));
        assert!(workspace.manifests.iter().any(|manifest| manifest.path == "Cargo.toml"));
        assert!(workspace.document("ARCHITECTURE.md").contains("| floor |"));
        assert!(workspace.paths.contains("docs/report.png") && workspace.paths.contains("crates/device"));
    }

    #[test]
    fn a_file_that_is_not_rust_is_an_error() {
        assert!(SourceFile::new("crates/device/io/src/lib.rs", "fn f( {".to_owned()).is_err());
    }
}
