//! Flight records: loading, generating, and the 69 cubes of the Dashboard paper by three paths.
