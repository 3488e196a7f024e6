mod drives;
mod probes;
mod truth;
