macro_rules! files {
    ($($folder:literal: $($name:literal)*;)*) => {
        &[$($(($name, include_str!(concat!("../../", $folder, "/", $name, ".toml"))),)*)*]
    };
}

/// Name and text of each drive and array.
pub(super) const FILES: &[(&str, &str)] = files! {
    "drives": "x25-m-g2" "x25-e-64" "mtron-16" "crucial-m4-256" "samsung-mcaqe32" "sd-card" "nvme-tlc" "nvme-plp"
        "barracuda-7200.10" "savvio-15k" "wd2003fyys" "cheetah-9lp" "barracuda" "atlas-iii";
    "arrays": "x25-m-4" "x25-e-4-1ctl" "x25-e-4-2ctl" "regola-raid10";
};
