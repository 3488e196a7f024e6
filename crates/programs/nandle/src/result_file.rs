//! Result files that only this program writes.

use nandle_model::library::DeviceState;
use nandle_terminal::result_file::Content;

/// State of a modelled drive, in any version. It is identified by its first packed block.
pub(crate) const STATE: Content =
    Content { kind: "state of a modelled drive", start_bytes: 128 << 10, is_one: DeviceState::begins };

/// A prediction. Even a hundred thousand queries on three devices are shorter.
pub(crate) const PREDICTION: Content =
    Content { kind: "prediction", start_bytes: 256 << 20, is_one: is_prediction };

fn is_prediction(there: &[u8]) -> bool {
    let file: Option<nandle_predict::PredictionFile> = serde_json::from_slice(there).ok();
    file.is_some()
}
