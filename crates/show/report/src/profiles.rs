//! Pages of device profiles: one device, or a comparison of several.

use maud::{Markup, html};

use crate::device::Device;
use crate::figures::{Figure, Question};
use crate::page::{Page, document};
use crate::plots::{self, Plot};
use crate::sections::{self, Level, Missing};
use crate::{ReportError, experiments, island};

/// Renders the page of the devices.
pub(crate) fn page(devices: &[Device]) -> Result<Markup, ReportError> {
    let (reading, missing) = reading(devices);
    let mut questions = vec![reading];
    if let [device] = devices {
        questions.extend(experiments::questions(device));
    } else {
        questions.push(experiments::compared(devices));
    }
    questions.retain(|question| !question.is_empty());
    let body = match devices {
        [device] => single_device(device, &questions, &missing),
        _ => several_devices(devices, &questions, &missing),
    };
    Ok(document(&Page {
        title: title(devices),
        body,
        plots: questions.iter().flat_map(Question::plots).collect(),
        islands: devices.iter().map(island::profile).collect::<Result<_, _>>()?,
    }))
}

/// Read grid as a question. Plots without measurements are listed as missing.
fn reading(devices: &[Device]) -> (Question, Vec<Missing>) {
    let (drawn, without): (Vec<Plot>, Vec<Plot>) =
        plots::all(devices).into_iter().partition(|plot| !plot.views.is_empty());
    let (even, drawn): (Vec<Plot>, Vec<Plot>) =
        drawn.into_iter().partition(|plot| plot.id == plots::DRIFT && plots::is_even(devices));
    let missing = without.into_iter().map(|plot| Missing { what: plot.title.to_owned(), why: plot.finding });
    let question = Question {
        id: "reading",
        title: "How does it read?",
        figures: drawn.into_iter().map(Figure::Plot).collect(),
        remarks: even.into_iter().map(|plot| plot.finding).collect(),
        missing: Vec::new(),
    };
    (question, missing.collect())
}

fn title(devices: &[Device]) -> String {
    match devices {
        [device] => format!("{} – device profile", device.name()),
        _ => format!("{} devices compared – device profiles", devices.len()),
    }
}

/// Verdict and key figures; the rest is folded behind titles, which serve as the table of contents.
fn single_device(device: &Device, questions: &[Question], missing: &[Missing]) -> Markup {
    let verdict = nandle_advise::verdict(device.profile);
    html! {
        header.masthead { (sections::masthead(device)) }
        main #main {
            (sections::verdict(&verdict, device, Level::Two))
            (sections::figures(&verdict, Level::Two))
            (sections::notices(device, Level::Two))
            (sections::script_notice())
            (sections::circumstances(device, Level::Two))
            (sections::key_figures(device))
            (sections::in_words(device, Level::Two))
            @for question in questions { (sections::folded_question(question)) }
            (sections::map(device, Level::Two))
            (sections::facts(device, Level::Two))
            (sections::cells(device, Level::Two))
            (sections::not_measured(missing))
            (sections::method(Level::Two))
        }
    }
}

fn several_devices(devices: &[Device], questions: &[Question], missing: &[Missing]) -> Markup {
    html! {
        header.masthead { (sections::masthead_of_several(devices)) }
        main #main {
            (contents(questions, missing, devices))
            (sections::comparison(devices))
            @for question in questions { (sections::question(question)) }
            @for device in devices {
                article.device {
                    (sections::device_heading(device))
                    @let verdict = nandle_advise::verdict(device.profile);
                    (sections::verdict(&verdict, device, Level::Three))
                    (sections::figures(&verdict, Level::Three))
                    (sections::notices(device, Level::Three))
                    (sections::circumstances(device, Level::Three))
                    (sections::in_words(device, Level::Three))
                    (sections::map(device, Level::Three))
                    (sections::facts(device, Level::Three))
                    (sections::cells(device, Level::Three))
                }
            }
            (sections::not_measured(missing))
            (sections::method(Level::Two))
        }
    }
}

/// Table of contents of a comparison.
fn contents(questions: &[Question], missing: &[Missing], devices: &[Device]) -> Markup {
    let devices: Vec<_> = devices.iter().map(|device| (sections::anchor(device), device.label())).collect();
    let questions = questions.iter().map(|question| (question.id, question.title));
    let devices = devices.iter().map(|(anchor, label)| (anchor.as_str(), label.as_str()));
    let missing = (!missing.is_empty()).then_some(("not-measured", "Not measured"));
    sections::contents(questions.chain(devices).chain(missing))
}
