//! Pure formulas for price, balance and break-even, each with its source. `docs/formulas.md` lists
//! them.

mod amdahl;
mod balance;
mod break_even;
mod five_minute;
mod mix;
mod price;

pub use amdahl::speed_up;
pub use balance::{Processor, drives_per_processor};
pub use break_even::{index_rows, index_share, page_cost_ratio};
pub use five_minute::break_even_seconds;
pub use mix::mixed_iops;
pub use price::per_money;
