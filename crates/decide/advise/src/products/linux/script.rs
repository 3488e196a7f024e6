use crate::figures::Figures;
use crate::settings::{Advice, Setting};

/// Directory of the device's queue settings.
const BLOCK: &str = "/sys/block/$device/";
/// Directory of the machine's settings.
const MACHINE: &str = "/proc/sys/";

/// Shell function that writes a value and prints the previous one. A refused value doesn't stop the
/// script.
const PUT: &str = "\
failed=0
put() {
    old=$(cat \"$1\") && echo \"$2\" > \"$1\" && echo \"$1: $old -> $2\" && return
    echo \"$1: could not be set to $2\" >&2
    failed=1
}";

/// First lines of the script: the device and the function that sets a value.
pub(super) fn opening(figures: &Figures<'_>) -> String {
    let device = match figures.kernel_name() {
        Some(name) => format!("device='{name}' # kernel name at the time of the probe"),
        // An apostrophe in this message would open a quotation.
        None => "device=${1:?give the kernel name of the device, such as sda: the profile has \
            none}\nshift"
            .into(),
    };
    format!("{device}\n{}\n{PUT}", is_in(figures))
}

/// Match of the udev rule that finds the device at each start, by its world-wide name if it has
/// one.
fn is_in(figures: &Figures<'_>) -> String {
    match figures.lasting_name() {
        Some(name) => format!(
            "match='ATTRS{{wwid}}==\"{name}\"' # persistent name of the device \
            for udev"
        ),
        None => "match=\"KERNEL==\\\"$device\\\"\" # name of the device for udev, which may change".into(),
    }
}

/// Line that sets a file, or a command with its last argument.
pub(in crate::products) fn line(name: &str, value: &str) -> String {
    if name.starts_with('/') { format!("put \"{name}\" {value}") } else { format!("{name} {value}") }
}

/// Last lines of the script: on request they write the settings to persistent files.
pub(in crate::products) fn closing(advice: &Advice) -> Vec<String> {
    let set = || advice.settings().filter(|setting| setting.only_a_comment.is_none());
    let [rules, machine] = [set().filter_map(rule).collect::<Vec<_>>(), set().filter_map(sysctl).collect()];
    if rules.is_empty() && machine.is_empty() {
        return vec![String::new(), "exit \"$failed\"".into()];
    }
    let mut lines = vec![
        String::new(),
        "# With the argument lasting (sh nandle.sh lasting) the settings above are also applied \
        at each boot."
            .into(),
        "if [ \"${1-}\" = lasting ]; then".into(),
    ];
    lines.extend(file("/etc/udev/rules.d/90-nandle-$device.rules", &rules));
    lines.extend(file("/etc/sysctl.d/90-nandle.conf", &machine));
    lines.extend(["fi".into(), "exit \"$failed\"".into()]);
    lines
}

/// Shell lines that write a file; empty without contents.
fn file(path: &str, contents: &[String]) -> Vec<String> {
    if contents.is_empty() {
        return Vec::new();
    }
    let begin = format!("    cat > \"{path}\" <<END && echo \"{path}: written\" || failed=1");
    std::iter::once(begin).chain(contents.iter().cloned()).chain(["END".into()]).collect()
}

fn rule(setting: &Setting) -> Option<String> {
    let attribute = setting.name.strip_prefix(BLOCK)?;
    Some(format!(
        "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"disk\", $match, ATTR{{{attribute}}}=\"{}\"",
        setting.value
    ))
}

fn sysctl(setting: &Setting) -> Option<String> {
    let name = setting.name.strip_prefix(MACHINE)?.replace('/', ".");
    Some(format!("{name} = {}", setting.value))
}
