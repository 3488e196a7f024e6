mod bench;
mod fill_level;
mod plans;
mod steady_state;
mod write_cache;
mod write_patterns;
