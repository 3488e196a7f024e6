//! The tree and its copy.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use super::recipe::Tree;
use crate::{Outcome, workspace_root};

/// Files of the working tree that git tracks or would track.
///
/// # Errors
/// There is no git, or a file can't be read.
pub(super) fn of_workspace() -> Outcome<Tree> {
    let root = workspace_root();
    let listed =
        Command::new("git").args(["ls-files", "-co", "--exclude-standard"]).current_dir(&root).output()?;
    let mut tree = Tree::new();
    for path in String::from_utf8(listed.stdout)?.lines().filter(|path| root.join(path).is_file()) {
        tree.insert(path.into(), fs::read(root.join(path))?);
    }
    if tree.is_empty() {
        return Err("git lists no file of the workspace".into());
    }
    Ok(tree)
}

/// Makes a folder hold exactly the tree. Unchanged files keep their modification times, so cargo
/// doesn't rebuild them.
///
/// # Errors
/// The folder can't be written to.
pub(super) fn write(tree: &Tree, folder: &Path) -> Outcome {
    fs::create_dir_all(folder)?;
    remove_others(tree, folder, "")?;
    for (path, contents) in tree {
        let file = folder.join(path);
        if fs::read(&file).is_ok_and(|there| there == *contents) {
            continue;
        }
        fs::create_dir_all(file.parent().unwrap_or(folder))?;
        fs::write(file, contents)?;
    }
    Ok(())
}

/// `below` is empty or ends in a slash.
fn remove_others(tree: &Tree, folder: &Path, below: &str) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            remove_others(tree, folder, &(path + "/"))?;
        } else if !tree.contains_key(&path) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_holds_the_tree_and_keeps_what_did_not_change() {
        let folder = tempfile::tempdir().unwrap();
        let tree = |files: &[(&str, &str)]| -> Tree {
            files.iter().map(|(path, text)| ((*path).into(), text.as_bytes().to_vec())).collect()
        };
        write(&tree(&[("a/b", "1"), ("c", "2"), ("d", "3")]), folder.path()).unwrap();
        let modified = |path: &str| fs::metadata(folder.path().join(path)).unwrap().modified().unwrap();
        let before = modified("c");
        write(&tree(&[("c", "2"), ("d", "4")]), folder.path()).unwrap();
        assert_eq!(modified("c"), before);
        assert_eq!(fs::read_to_string(folder.path().join("d")).unwrap(), "4");
        assert!(!folder.path().join("a/b").exists());
    }
}
