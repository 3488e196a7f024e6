//! Remarks on the figures, each a sentence.

use nandle_replay::AddressesUsed;
use nandle_replay::play::{PlaySummary, Survey, Timing};
use nandle_terminal::words::counted;
use nandle_units::format_bytes;

use super::place::Place;
use super::{PlayArgs, Surveyed, addresses};

/// All remarks.
pub(super) fn all(args: &PlayArgs, surveyed: &Surveyed, place: &Place, played: &PlaySummary) -> Vec<String> {
    let survey = &surveyed.survey;
    let mut remarks = surveyed.remarks.clone();
    remarks.extend(of_timing(args.timing, survey));
    remarks.extend(of_addresses(args, survey, place, played));
    remarks.extend(of_requests(args, surveyed, played));
    remarks.extend(place.session.remarks());
    remarks
}

/// Remarks on whether the trace has the times to play.
fn of_timing(timing: Timing, survey: &Survey) -> Vec<String> {
    let mut remarks = Vec::new();
    let several = survey.requests() > 1;
    if timing == Timing::AsIs && several && survey.span.0 == 0 {
        remarks.push(
            "The trace has no times, so all of its requests are due at once; --timing closed:N or rate:R gives them some."
                .to_owned(),
        );
    } else if timing == Timing::AsIs && several && survey.has_latencies() && survey.overlapping == 0 {
        remarks.push(
            "No request of the trace began before the one before it had completed: it was recorded one at a time, as --timing think \
             plays it."
                .to_owned(),
        );
    }
    if timing == Timing::AsIs && survey.out_of_order > 0 {
        remarks.push(format!(
            "{} of the trace bear an earlier time than the one before, and are due with that.",
            counted(survey.out_of_order, "request")
        ));
    }
    if timing == Timing::Think && survey.overlapping > 0 {
        remarks.push(format!(
            "{} began before the one before had completed in the trace, and are sent when it has.",
            counted(survey.overlapping, "request")
        ));
    }
    remarks
}

/// Remarks on the addresses.
fn of_addresses(args: &PlayArgs, survey: &Survey, place: &Place, played: &PlaySummary) -> Vec<String> {
    let mut remarks = Vec::new();
    if let AddressesUsed::Compact { area_bytes, area_count, left_out_bytes } =
        addresses(args.addresses.into(), survey)
        && left_out_bytes > 0
    {
        remarks.push(format!(
            "Addresses are compacted: the {} of {} that are read or written lie side by side, and {} before and between them are left \
             out, so that a disk's arm moves less.",
            counted(area_count, "area"),
            format_bytes(area_bytes),
            format_bytes(left_out_bytes)
        ));
    }
    if played.folded > 0 {
        remarks.push(format!(
            "{} beyond the target's end were folded back into it.",
            counted(played.folded, "request")
        ));
    }
    if let Some(bytes) = place.enlarged_to_bytes {
        remarks.push(format!(
            "{} is modelled with {} here, because the trace needs so much: the same chips and channels with more erase blocks.",
            args.on,
            format_bytes(bytes)
        ));
    }
    remarks
}

/// Remarks on the requests.
fn of_requests(args: &PlayArgs, surveyed: &Surveyed, played: &PlaySummary) -> Vec<String> {
    let mut remarks = Vec::new();
    if args.reads_only {
        remarks.push("Only reads were played.".to_owned());
    }
    let counts = [
        (played.widened, "request", "widened to whole logical blocks of the target"),
        (played.cut, "request", "sent in several pieces, and done with the last"),
        (played.passed_over, "discard", "passed over, for which there is nothing to do on this target"),
        (surveyed.bad_lines, "damaged line", "passed over"),
    ];
    for (count, what, became) in counts.into_iter().filter(|(count, _, _)| *count > 0) {
        let was = if count == 1 { "was" } else { "were" };
        remarks.push(format!("{} {was} {became}.", counted(count, what)));
    }
    if args.compare && played.schedule().held_requests > 0 {
        remarks.push(
            "Recorded times are those of the traced device; the response of a request that was held has its wait in it.".to_owned(),
        );
    }
    remarks
}
