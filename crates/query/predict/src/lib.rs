//! Recordings of reads on devices that one has or hasn't, and what a profile says that reads cost.
