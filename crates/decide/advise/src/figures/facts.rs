use nandle_profile::{AtomicWrite, BlockQueue, DeviceProfile, escaped, is_kernel_name};
use nandle_units::format_bytes;

use super::Figures;
use super::words::number;
use crate::settings::{Figure, MissingFigure};

/// Processor name in profiles of models.
const MODELLED: &str = "modelled";

/// Device in words: model, capacity, and probed target.
pub(crate) fn device_name(profile: &DeviceProfile) -> String {
    let identity = &profile.identity;
    let name = identity.model.as_ref().or(identity.kernel_name.as_ref());
    let capacity = identity.capacity_bytes.map(|bytes| format!(", {}", format_bytes(bytes)));
    let name = name.map_or("unnamed device", |name| name.as_str()).trim();
    let [name, target] = [name, profile.target.as_str()].map(escaped);
    format!("{name}{}, probed as {target}", capacity.unwrap_or_default())
}

/// Returns true if a path needs no quotes in any configuration.
pub(crate) fn is_plain_path(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    text.starts_with('/') && text.chars().all(is_plain)
}

impl Figures<'_> {
    /// Kernel name of the device if it is valid, because scripts contain it.
    pub(crate) fn kernel_name(&self) -> Option<&str> {
        self.profile.identity.kernel_name.as_deref().filter(|name| is_kernel_name(name))
    }

    /// World-wide name of the device if it has only the characters of such names.
    pub(crate) fn lasting_name(&self) -> Option<&str> {
        const KINDS: [&str; 4] = ["eui.", "naa.", "nvme.", "uuid."];
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "._:-".contains(letter);
        let name = self.profile.identity.world_wide_name.as_deref()?;
        (KINDS.iter().any(|kind| name.starts_with(kind)) && name.chars().all(is_letter)).then_some(name)
    }

    /// Largest write that the kernel and the device state to be never torn.
    pub(crate) fn atomic_write(&self) -> Option<AtomicWrite> {
        let found = self.profile.experiments.atomic_write.as_ref();
        found.and_then(|conducted| conducted.findings.stated).or(self.profile.system.atomic_write)
    }

    /// Largest atomic write as a figure; 0 if none is stated.
    pub(crate) fn atomic_write_unit(&self) -> Figure {
        let (unit, says) = match self.atomic_write() {
            Some(unit) => (
                unit.unit_bytes_max,
                format!(
                    "the kernel reports that writes up to {} are never torn",
                    format_bytes(unit.unit_bytes_max)
                ),
            ),
            None => (0, "the kernel reports no write size that is never torn".into()),
        };
        Figure::stated("atomic_write_unit_max_bytes", unit as f64, says)
    }

    /// Queue limits of the block device.
    pub(crate) fn queue(&self) -> Result<&BlockQueue, MissingFigure> {
        self.profile.system.queue.as_ref().ok_or(MissingFigure {
            needs: "the queue limits of the block device",
            how: "probe a directory or device of this machine; software arrays and memory have no \
                queue",
        })
    }

    /// 1 if requests bypassed the page cache, otherwise 0.
    pub(crate) fn direct(&self) -> Figure {
        let direct = self.profile.backend.direct;
        let says = if direct {
            "direct I/O works here, and all measurements used it"
        } else {
            "direct I/O was unavailable or disabled"
        };
        Figure::stated("direct_share", f64::from(u8::from(direct)), says)
    }

    /// Processors of the machine that ran the probe; `None` for a model, which has none.
    pub(crate) fn processors(&self) -> Option<Figure> {
        let machine = &self.profile.system.machine;
        let is_model = machine.processor.as_deref() == Some(MODELLED);
        let count = f64::from(machine.processors.max(1));
        let says = format!("{} processor{}", number(count), if count > 1.0 { "s" } else { "" });
        (!is_model).then(|| Figure::stated("processors", count, says))
    }
}
