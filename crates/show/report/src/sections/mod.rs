//! Sections of a page: functions from devices to markup, with their sentences.

mod bars;
mod cells;
mod comparison;
mod facts;
mod fold;
mod heading;
mod heat;
mod key_figures;
mod map;
mod masthead;
mod method;
mod not_measured;
mod notices;
mod plot;
mod question;
mod scatter;
mod statement;
mod verdict;
mod words;

pub(crate) use cells::cells;
pub(crate) use comparison::comparison;
pub(crate) use facts::facts;
pub(crate) use heading::Level;
pub(crate) use key_figures::key_figures;
pub(crate) use map::map;
pub(crate) use masthead::{anchor, circumstances, device_heading, masthead, masthead_of_several};
pub(crate) use method::method;
pub(crate) use not_measured::{Missing, not_measured};
pub(crate) use notices::notices;
pub(crate) use question::{contents, folded_question, question, script_notice};
pub(crate) use verdict::{figures, verdict};
pub(crate) use words::in_words;
