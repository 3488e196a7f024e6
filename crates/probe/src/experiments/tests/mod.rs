mod bench;
mod plans;
mod write_patterns;
