use maud::{Markup, html};
use nandle_profile::{Conditions, DeviceProfile};

use super::Level;
use super::fold::{anchor_of, fold};
use super::notices::remarks;
use crate::device::Device;
use crate::island;
use crate::text::{self, Quantity};

/// Device, and time and method of the measurement.
pub(crate) fn masthead(device: &Device) -> Markup {
    html! {
        p.kicker { "Device profile" }
        h1 { bdi { (device.name()) } }
        (identity_line(device.profile))
        (occasion(device.profile))
    }
}

/// Content, time and duration of the measurement, in one line.
fn occasion(profile: &DeviceProfile) -> Markup {
    let conditions = &profile.conditions;
    html! {
        p.occasion {
            bdi { (text::clean(&profile.target)) } ", measured " (text::calendar(profile.made_at_unix_s))
            " with a budget of " (text::time_ns(conditions.budget_ns))
        }
    }
}

/// Method of the measurement with remarks, and the profile for download.
pub(crate) fn circumstances(device: &Device, level: Level) -> Markup {
    let body = html! {
        (particulars(device.profile))
        (remarks(device))
        (download(device))
    };
    fold(&anchor_of("circumstances", device, level), "How it was measured", level, &body)
}

/// Title of a comparison.
pub(crate) fn masthead_of_several(devices: &[Device]) -> Markup {
    html! {
        p.kicker { "Device profiles" }
        h1 { (text::number_word(devices.len())) " devices compared" }
        ul.roll {
            @for device in devices {
                li {
                    (swatch(device)) " "
                    a href=(format!("#{}", anchor(device))) { bdi { (device.label()) } }
                }
            }
        }
    }
}

/// Title of a device's section in a comparison.
pub(crate) fn device_heading(device: &Device) -> Markup {
    html! {
        h2 id=(anchor(device)) { (swatch(device)) " " (device.letter()) " · " bdi { (device.name()) } }
        (identity_line(device.profile))
        (occasion(device.profile))
    }
}

fn swatch(device: &Device) -> Markup {
    html! { span.swatch style=(format!("--ink: var(--kind-{})", device.index % 8)) aria-hidden="true" {} }
}

pub(crate) fn anchor(device: &Device) -> String {
    format!("device-{}", device.letter().to_lowercase())
}

fn identity_line(profile: &DeviceProfile) -> Markup {
    let identity = &profile.identity;
    let capacity = identity.capacity_bytes.map(|bytes| Quantity::capacity(bytes).to_string());
    let serial = identity.serial.as_deref().map(|serial| format!("serial {}", text::clean(serial)));
    let firmware = identity.firmware.as_deref().map(|firmware| format!("firmware {}", text::clean(firmware)));
    let vendor = identity.vendor.as_deref().map(text::clean);
    let parts: Vec<_> = [vendor, capacity, serial, firmware].into_iter().flatten().collect();
    html! {
        p.identity {
            @if parts.is_empty() { "The device reports neither capacity nor serial number." }
            @for (index, part) in parts.iter().enumerate() {
                @if index > 0 { span.dot aria-hidden="true" { " · " } }
                bdi { (part) }
            }
        }
    }
}

fn particulars(profile: &DeviceProfile) -> Markup {
    let conditions = &profile.conditions;
    let rows = [
        ("Target", text::clean(&profile.target)),
        (
            "Measured",
            format!("{}, by {}", text::calendar(profile.made_at_unix_s), text::clean(&profile.made_by)),
        ),
        ("Requests", requests(profile)),
        ("Area", area(conditions)),
        ("Time", time(conditions)),
        ("Disturbance", disturbance(profile)),
    ];
    html! {
        dl.particulars {
            @for (term, value) in rows { div { dt { (term) } dd { bdi { (text::bind(&value)) } } } }
        }
    }
}

fn requests(profile: &DeviceProfile) -> String {
    let backend = &profile.backend;
    let cache = if backend.direct { "direct, bypassing the page cache" } else { "through the page cache" };
    let threads = text::plural(u64::from(profile.conditions.threads), "thread");
    if backend.is_modelled() {
        return format!("to a model in virtual time, {threads}");
    }
    let features: Vec<_> = backend.features.iter().map(|feature| text::clean(feature)).collect();
    let with = if features.is_empty() { String::new() } else { format!(" with {}", text::join(&features)) };
    format!("{}{with}, {cache}, {threads}", text::clean(&backend.io))
}

fn area(conditions: &Conditions) -> String {
    let size = Quantity::size(conditions.file_bytes);
    let checked = if conditions.contents_checked { "contents checked" } else { "contents not checked" };
    if conditions.file_bytes < conditions.wanted_file_bytes {
        format!("{size} of the {} wanted, {checked}", Quantity::size(conditions.wanted_file_bytes))
    } else {
        format!("{size}, {checked}")
    }
}

fn time(conditions: &Conditions) -> String {
    let (took, budget) = (text::time_ns(conditions.elapsed_ns), text::time_ns(conditions.budget_ns));
    let fill = if conditions.fill_ns > 0 {
        format!(", {} of it to write the test file", text::time_ns(conditions.fill_ns))
    } else {
        String::new()
    };
    let rounds = text::plural(u64::from(conditions.rounds), "round");
    format!("{took} for reads{fill}, of a budget of {budget} for everything; {rounds}")
}

fn disturbance(profile: &DeviceProfile) -> String {
    let conditions = &profile.conditions;
    if profile.backend.is_modelled() {
        return "none in virtual time".to_owned();
    }
    if [conditions.stolen_cpu_share, conditions.io_pressure_share, conditions.cpu_pressure_share] == [None; 3]
    {
        return "unknown".to_owned();
    }
    let share = |share: Option<f64>, what: &str| match share {
        Some(share) => format!("{what} {} %", text::significant(100.0 * share, 2)),
        None => format!("{what} unknown"),
    };
    text::join(&[
        share(conditions.stolen_cpu_share, "stolen CPU"),
        share(conditions.io_pressure_share, "I/O pressure"),
        share(conditions.cpu_pressure_share, "CPU pressure"),
    ])
}

fn download(device: &Device) -> Markup {
    html! {
        p.tools {
            button type="button" data-download=(island::id(device)) { "Download the profile (JSON)" }
        }
    }
}
