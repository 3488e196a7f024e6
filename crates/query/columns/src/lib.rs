//! Tables of Parquet files that are laid out for a device and read by plan.
