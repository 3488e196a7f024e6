use crate::common::{Outcome, Place, program_exists, skip};

#[test]
fn completions_are_scripts() {
    let place = Place::new();
    for (shell, part) in [("bash", "complete"), ("zsh", "#compdef nandle"), ("fish", "complete -c nandle")] {
        let script = place.nandle(&format!("completions {shell}")).done().stdout;
        for word in [part, "probe", "sweep", "queue-depths", "resume"] {
            assert!(script.contains(word), "{word} is missing for {shell}");
        }
        place.write(shell, &script);
        if program_exists(shell) {
            check_script(&place, shell);
        } else {
            skip(&format!("no {shell} to look at its completions"));
        }
    }
    place.nandle("completions tcsh").refused(2, &["tcsh", "bash"]);
}

fn check_script(place: &Place, shell: &str) {
    let words = [shell, "-n", shell].map(str::to_owned);
    let outcome: Outcome = place.command_of(&words, "").output().unwrap().into();
    assert_eq!(outcome.done().stderr, "");
}

#[test]
fn the_manual_pages_render() {
    let place = Place::new();
    for (command, parts) in [
        ("", ["nandle-probe(1)", "nandle-sweep(1)", "nandle probe .  "]),
        ("probe", ["--budget", "--patience", "nandle probe /var/lib"]),
        ("sweep", ["--queue-depths", "--outstanding-max", "nandle sweep . --plan\n"]),
        ("report", ["--output", "PROFILE", "nandle report profile.json\n"]),
    ] {
        let page = place.nandle(&format!("man {command}")).done().stdout;
        assert!(page.contains(".TH nandle") && page.contains(".SH EXAMPLES"), "{page}");
        if program_exists("man") {
            place.write("page.1", &page);
            let rendered = render(&place);
            for part in parts {
                assert!(rendered.contains(part), "{part:?} is missing in {rendered}");
            }
        } else {
            skip("no man to render the pages");
        }
    }
    place.nandle("man swap").refused(2, &["swap", "probe, sweep"]);
}

fn render(place: &Place) -> String {
    let words = ["man", "--warnings", "-l", "page.1"].map(str::to_owned);
    let output = place.command_of(&words, "").env("MANWIDTH", "120").output().unwrap();
    let outcome = Outcome::from(output).done();
    assert_eq!(outcome.stderr, "", "no warnings");
    outcome.stdout
}

#[test]
fn what_has_no_json_form_does_not_offer_it() {
    let place = Place::new();
    for command in ["completions", "man"] {
        let help = place.nandle(&format!("{command} --help")).done().stdout;
        assert!(!help.contains("--json"), "{help}");
    }
    for arguments in ["completions bash --json", "--json completions bash", "man --json"] {
        place.nandle(arguments).refused(2, &["--json", "no JSON form"]);
    }
}

#[test]
fn help_has_examples_for_each_command() {
    let place = Place::new();
    let all = place.nandle("--help").done().stdout;
    for command in ["probe", "sweep", "report"] {
        assert!(all.contains(&format!("  {command} ")), "{all}");
        let help = place.nandle(&format!("{command} --help")).done().stdout;
        let (_, examples) = help.split_once("Examples:").unwrap_or_else(|| panic!("no examples: {help}"));
        assert!(examples.contains(&format!("nandle {command} ")), "{examples}");
    }
    for command in ["completions", "man"] {
        let help = place.nandle(&format!("{command} --help")).done().stdout;
        assert!(help.contains("Examples:") && help.contains(&format!("nandle {command}")), "{help}");
    }
    assert!(all.contains("Examples:"), "{all}");
}

/// Contents of a command's long description, which its one-line summary once replaced.
#[test]
fn help_has_all_that_is_said_of_a_command() {
    let place = Place::new();
    for (command, part) in [
        ("probe", "short interleaved slices"),
        ("models", "is a target like any other"),
        ("models age", "the first state of every probe"),
        ("compare", "the first being the older"),
        ("replay", "the policies take turns"),
        ("sort", "in the C locale"),
        ("join", "name the shorter one second"),
        ("workload", "from the seed"),
        ("place", "with everything there"),
        ("predict", "holds no data"),
        ("capture", "after Ctrl-C"),
        ("trace", "MSR Cambridge"),
        ("trace play", "a request was due"),
    ] {
        let help = place.nandle(&format!("{command} --help")).done().stdout;
        let words: Vec<&str> = help.split_whitespace().collect();
        assert!(words.join(" ").contains(part), "{command}: {help}");
    }
}

#[test]
fn the_version_is_told() {
    let version = Place::new().nandle("--version").done().stdout;
    assert_eq!(version, concat!("nandle ", env!("CARGO_PKG_VERSION"), "\n"));
}
