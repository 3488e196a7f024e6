//! One file for each command of the program.

pub(crate) mod advise;
pub(crate) mod capture;
pub(crate) mod compare;
pub(crate) mod elsewhere;
pub(crate) mod join;
pub(crate) mod models;
mod page_times;
pub(crate) mod pages;
pub(crate) mod place;
pub(crate) mod predict;
pub(crate) mod probe;
pub(crate) mod replay;
pub(crate) mod report;
mod rows;
pub(crate) mod shell;
pub(crate) mod sort;
pub(crate) mod sweep;
pub(crate) mod trace;
mod verdict;
pub(crate) mod workload;
