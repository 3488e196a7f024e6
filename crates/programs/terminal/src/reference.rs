//! Reference page of the book, generated from each command's `--help`.

/// Creates a section for a command and each of its subcommands. `help` returns a command's help
/// text. `elsewhere` lists commands of another program, which has its own page.
pub fn reference(help: &dyn Fn(&[&str]) -> String, elsewhere: &[&str]) -> String {
    let mut page =
        "# Commands\n\nWritten by `cargo xtask docs` from what each command says of itself.\n".to_owned();
    add(&mut page, &[], help, elsewhere);
    page
}

fn add(page: &mut String, command: &[&str], help: &dyn Fn(&[&str]) -> String, elsewhere: &[&str]) {
    if let [name] = command
        && elsewhere.contains(name)
    {
        return;
    }
    let help_text = help(command);
    let name = ["nandle"].iter().chain(command).copied().collect::<Vec<_>>().join(" ");
    let lines: Vec<&str> = help_text.lines().map(str::trim_end).collect();
    page.extend(["\n## ", &name, "\n\n```text\n", &lines.join("\n"), "\n```\n"]);
    for below in subcommands(&help_text) {
        add(page, &[command, &[below]].concat(), help, elsewhere);
    }
}

/// Names below `Commands:`, except `help`.
fn subcommands(help: &str) -> Vec<&str> {
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_help() {
        let help = "About\n\nCommands:\n  probe  Profile\n         more\n  help   Print\n\nOptions:\n  -h\n";
        assert_eq!(subcommands(help), ["probe"]);
        assert!(subcommands("Usage: nandle probe\n").is_empty());
    }
}
