//! Recorded systems.
