//! Page of a prediction: the same queries on several devices.

use nandle_predict::{PredictionFile, QueryPrediction, TargetPrediction};

use nandle_profile::Interval;

use crate::figures::{Bar, Bars, Figure, Group};
use crate::questions::{PageHeading, page, question};
use crate::text::{self, Quantity};

/// Greatest number of queries with bars; the longest ones are shown.
const SHOWN_MAX: usize = 80;

/// Renders the report on a prediction as a self-contained HTML document.
pub fn prediction_html(file: &PredictionFile) -> String {
    let questions = vec![
        question("total", "Which device is fastest?", totals(file).into_iter().collect()),
        question("queries", "How long does each query take?", queries(file).into_iter().collect()),
        question("bytes", "What is read?", bytes(file).into_iter().collect()),
    ];
    let mut particulars = vec![
        ("Queries", text::plain(file.queries).to_string()),
        ("Files", format!("{}, {}", text::plain(file.files), Quantity::size(file.files_bytes))),
        ("Reads", file.reads.clone()),
        ("Memory", Quantity::size(file.memory_bytes).to_string()),
    ];
    if (file.cpu_scale - 1.0).abs() > f64::EPSILON {
        particulars.push((
            "Processor time",
            format!("{} × the recorded time", text::significant(file.cpu_scale, 3)),
        ));
    }
    let mut remarks: Vec<String> = Vec::new();
    for remark in file.targets.iter().flat_map(|target| &target.remarks) {
        if !remarks.contains(remark) {
            remarks.push(remark.clone());
        }
    }
    page(
        &PageHeading { kicker: "Prediction", title: file.recording.clone(), particulars, remarks },
        questions,
    )
}

fn bar(kind: usize, target: &TargetPrediction, value: u64, text: String) -> Bar {
    Bar { label: text::clean(&target.target), value: value as f64, text, kind }
}

/// Bars of the total time by device.
fn totals(file: &PredictionFile) -> Option<Figure> {
    let is_played = |target: &&TargetPrediction| target.queries.iter().any(|query| query.played.is_some());
    let played: Vec<_> = file.targets.iter().filter(is_played).collect();
    let time_ns = |target: &TargetPrediction| target.sum(|played| played.time_ns);
    let mut by_time = played.clone();
    by_time.sort_by_key(|target| time_ns(target));
    let (fastest, others) = by_time.split_first()?;
    let slower = |target: &&TargetPrediction| {
        let times = time_ns(target) as f64 / time_ns(fastest).max(1) as f64;
        format!("{} {} times that", text::clean(&target.target), text::significant(times, 2))
    };
    let slower: Vec<String> = others.iter().map(slower).collect();
    let finding = if slower.is_empty() {
        format!("All queries take {}.", text::time_ns(time_ns(fastest)))
    } else {
        let fast = text::clean(&fastest.target);
        format!("{fast} takes {}, {}.", text::time_ns(time_ns(fastest)), slower.join(", "))
    };
    let missing = file.targets.iter().any(|target| target.total_ns.is_none());
    let partly = " Queries that don't fit into memory are left out.";
    let note = format!(
        "Time of all queries one after the other, each from an idle device.{}",
        if missing { partly } else { "" }
    );
    let bars = played.iter().enumerate().map(|(kind, target)| {
        let value = time_ns(target);
        bar(kind, target, value, format!("{}, {}", text::time_ns(value), predicted_time(target)))
    });
    Some(Figure::Bars(Bars {
        id: "totals",
        title: "All queries",
        finding,
        note,
        quantity: "Time".to_owned(),
        groups: Group::single(bars.collect()),
    }))
}

/// Predicted time of all played queries, without temporary data.
fn predicted_time(target: &TargetPrediction) -> String {
    let sum =
        |figure: fn(&Interval<u64>) -> u64| text::time_ns(target.sum(|played| figure(&played.predicted_ns)));
    let [value, low, high] = [sum(|of| of.value), sum(|of| of.low), sum(|of| of.high)];
    let spill_ns = target.sum(|played| played.spill_ns);
    let spilling = if spill_ns > 0 {
        format!(", and {} for temporary data", text::time_ns(spill_ns))
    } else {
        String::new()
    };
    format!("predicted {value} ({low} to {high}){spilling}")
}

/// Group of bars for each query.
fn queries(file: &PredictionFile) -> Option<Figure> {
    let first = file.targets.first()?;
    let time_of = |number: u64, target: &TargetPrediction| {
        target.queries.iter().find(|query| query.number == number).and_then(QueryPrediction::time_ns)
    };
    let longest_ns = |query: &QueryPrediction| {
        file.targets.iter().filter_map(|target| time_of(query.number, target)).max().unwrap_or(0)
    };
    let mut shown: Vec<&QueryPrediction> =
        first.queries.iter().filter(|query| longest_ns(query) > 0).collect();
    let longest = *shown.iter().max_by_key(|query| longest_ns(query))?;
    let left_out = shown.len().saturating_sub(SHOWN_MAX);
    if left_out > 0 {
        shown.sort_by_key(|query| std::cmp::Reverse(longest_ns(query)));
        shown.truncate(SHOWN_MAX);
        shown.sort_by_key(|query| query.number);
    }
    let group = |query: &&QueryPrediction| {
        let bars = file.targets.iter().enumerate().filter_map(|(kind, target)| {
            let value = time_of(query.number, target)?;
            Some(bar(kind, target, value, text::time_ns(value)))
        });
        Group { name: text::clean(&query.label()), bars: bars.collect() }
    };
    let note = match left_out {
        0 => "Each query has its own scale.".to_owned(),
        _ => format!("Each query has its own scale; {left_out} shorter ones are left out."),
    };
    let name = text::clean(&longest.label());
    Some(Figure::Bars(Bars {
        id: "each",
        title: "Each query",
        finding: format!("The longest is {name}, with {}.", text::time_ns(longest_ns(longest))),
        note,
        quantity: "Time".to_owned(),
        groups: shown.iter().map(group).collect(),
    }))
}

/// Bytes wanted, and bytes read on each device.
fn bytes(file: &PredictionFile) -> Option<Figure> {
    let read_bytes = |target: &TargetPrediction| target.sum(|played| played.read_bytes);
    let first = file.targets.iter().find(|target| read_bytes(target) > 0)?;
    let wanted = first.sum(|played| played.wanted_bytes);
    let size_text = |bytes: u64| Quantity::size(bytes).to_string();
    let wanted_bar =
        Bar { label: "Wanted".to_owned(), value: wanted as f64, text: size_text(wanted), kind: 0 };
    let read = file.targets.iter().enumerate().map(|(index, target)| {
        let (bytes, requests) = (read_bytes(target), target.sum(|played| played.requests));
        bar(index + 1, target, bytes, format!("{} in {} requests", size_text(bytes), text::plain(requests)))
    });
    Some(Figure::Bars(Bars {
        id: "read",
        title: "Bytes",
        finding: format!("The queries want {}.", size_text(wanted)),
        note: "A gap between two ranges is read along if that takes less time than another \
            request."
            .to_owned(),
        quantity: "Bytes".to_owned(),
        groups: Group::single([wanted_bar].into_iter().chain(read).collect()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up;

    #[test]
    fn devices_are_compared_and_names_are_escaped() {
        let file = made_up::prediction_file();
        let page = prediction_html(&file);
        for text in ["id=\"totals\"", "id=\"each\"", "C41", "query 2", "A remark.", "9.0", "left out"] {
            assert!(page.contains(text), "{text}");
        }
        assert!(!page.contains("<b>drive") && !page.contains("cubes<b>"), "names are no markup");
        assert_eq!(page, prediction_html(&file));
    }

    #[test]
    fn only_the_longest_of_many_queries_are_shown() {
        let mut file = made_up::prediction_file();
        for target in &mut file.targets {
            let one = target.queries[0].clone();
            let more = (4..200).map(|number| {
                let mut query =
                    QueryPrediction { number, name: Some(format!("many{number}.")), ..one.clone() };
                if let Some(played) = &mut query.played {
                    played.time_ns += number;
                }
                query
            });
            target.queries.extend(more);
        }
        let page = prediction_html(&file);
        assert!(page.contains("many199.") && !page.contains("many50."));
        assert!(page.contains("118 shorter ones"));
    }

    #[test]
    fn prediction_without_played_queries_has_no_figures() {
        let mut file = made_up::prediction_file();
        for target in &mut file.targets {
            target.queries.iter_mut().for_each(|query| query.played = None);
        }
        assert!(!prediction_html(&file).contains("id=\"totals\""));
    }
}
