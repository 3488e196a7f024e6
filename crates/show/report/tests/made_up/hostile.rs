use nandle_profile::{Backend, Conditions, Derived, DeviceProfile, Experiments, Identity, SystemFacts};

/// Profile that lacks nearly everything.
pub(crate) fn partial() -> DeviceProfile {
    DeviceProfile {
        schema_version: nandle_profile::PROFILE_SCHEMA_VERSION,
        made_by: "made up for a test, not measured".into(),
        made_at_unix_s: 0,
        target: "model:made-up".into(),
        partial: vec!["The probe was interrupted before the first round ended.".into()],
        identity: Identity::default(),
        system: SystemFacts::default(),
        contradictions: Vec::new(),
        backend: Backend {
            io: "threads".into(),
            features: Vec::new(),
            stepped_down: Vec::new(),
            direct: false,
        },
        conditions: Conditions { errors: 2, ..Conditions::default() },
        derived: Derived::default(),
        first_touch: None,
        batches: Vec::new(),
        cells: Vec::new(),
        fitted_cells: Vec::new(),
        fit: None,
        skipped: Vec::new(),
        experiments: Experiments::default(),
    }
}

/// Complete profile with names that attack the page: markup, the end of a script, very long words,
/// right-to-left text with characters that change the direction.
pub(crate) fn hostile() -> DeviceProfile {
    let attack = "</script><b>bold</b><script>document.title='broken'</script><!-- ";
    let mut profile = super::fast();
    profile.target = format!("/mnt/{}/{attack}\u{2028}\u{2029}", "long".repeat(60));
    profile.identity.model = Some(format!("{attack}محرك أقراص \u{202e}desrever{}", "W".repeat(200)));
    profile.identity.serial = Some("\" onload=\"document.title='broken'".into());
    profile.identity.vendor = Some("'><img src=x onerror=document.title='broken'>".into());
    profile.made_by = "&lt;b&gt; & <i>".into();
    profile.partial = vec![format!("{attack}{}", "x".repeat(300))];
    profile.conditions.remarks = vec!["\u{2066}\u{202e} \u{0007}".into(), attack.into()];
    profile.backend.stepped_down = vec![attack.into()];
    profile.skipped[0].reason = attack.into();
    profile.cells[0].cell.pattern = attack.into();
    profile
}
