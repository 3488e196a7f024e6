//! Targets parse back from their printed form, and invalid ones are refused with a reason.

use nandle_target::spec::{ArrayLevel, ArraySpec, ModelName, ModelSpec, SpecError, StateSpec, TargetSpec};
use proptest::prelude::*;

fn path(text: &str) -> TargetSpec {
    TargetSpec::Path(text.into())
}

fn library(name: &str) -> TargetSpec {
    TargetSpec::Model(ModelSpec::named(ModelName::Library(name.into())))
}

fn own(path: &str) -> TargetSpec {
    TargetSpec::Model(ModelSpec::named(ModelName::File(path.into())))
}

/// The drive `x` in a state, optionally with faults.
fn begun(state: StateSpec, faults: Option<&str>) -> TargetSpec {
    let named = ModelSpec::named(ModelName::Library("x".into()));
    TargetSpec::Model(ModelSpec { state, faults: faults.map(Into::into), ..named })
}

fn repeat(target: TargetSpec, count: u32) -> TargetSpec {
    TargetSpec::Repeat { target: Box::new(target), count }
}

fn array(level: ArrayLevel, chunk_bytes: u64, members: Vec<TargetSpec>) -> TargetSpec {
    TargetSpec::Array(ArraySpec { level, chunk_bytes, members })
}

#[test]
fn every_form_of_a_spec_is_parsed() {
    for (text, spec) in [
        (".", path(".")),
        ("/dev/nvme0n1", path("/dev/nvme0n1")),
        ("a,b*4 with \\ strange: characters", path("a,b*4 with \\ strange: characters")),
        ("model:x25-m-g2", library("x25-m-g2")),
        ("model:x25-m-g2*4", repeat(library("x25-m-g2"), 4)),
        ("model:./mine.toml", own("./mine.toml")),
        (r"model:a\:b.toml", own("a:b.toml")),
        ("model:x:capacity=4GiB", {
            let named = ModelSpec::named(ModelName::Library("x".into()));
            TargetSpec::Model(ModelSpec { capacity_bytes: Some(4 << 30), ..named })
        }),
        ("model:x:state=filled", library("x")),
        ("model:x:state=new", begun(StateSpec::Filled(0), None)),
        ("model:x:state=70%*2", repeat(begun(StateSpec::Filled(70), None), 2)),
        (r"model:x:state=a\:b.zst", begun(StateSpec::File("a:b.zst".into()), None)),
        ("model:x:state=./new", begun(StateSpec::File("./new".into()), None)),
        ("model:x:faults=f.toml:state=new", begun(StateSpec::Filled(0), Some("f.toml"))),
        ("raid0:64K:model:x:state=new*2,model:x", {
            let members = vec![repeat(begun(StateSpec::Filled(0), None), 2), library("x")];
            array(ArrayLevel::Raid0, 65_536, members)
        }),
        ("raid0:64KiB:/a,/b", array(ArrayLevel::Raid0, 65_536, vec![path("/a"), path("/b")])),
        ("raid0:64K:model:x*4", array(ArrayLevel::Raid0, 65_536, vec![repeat(library("x"), 4)])),
        ("raid10:1MiB:/a*2,/b,/c", {
            array(ArrayLevel::Raid10, 1 << 20, vec![repeat(path("/a"), 2), path("/b"), path("/c")])
        }),
        (r"raid0:512:/a\,b\*2,c\\", array(ArrayLevel::Raid0, 512, vec![path("/a,b*2"), path(r"c\")])),
    ] {
        assert_eq!(text.parse::<TargetSpec>().as_ref(), Ok(&spec), "{text}");
    }
}

#[test]
fn an_array_has_its_repeats_as_members() {
    let spec: TargetSpec = "raid0:64KiB:model:x25-m-g2*4".parse().unwrap();
    assert_eq!(spec.leaves(), vec![&library("x25-m-g2"); 4]);
}

#[test]
fn invalid_specs_are_refused() {
    type Expected = fn(&SpecError) -> bool;
    let cases: [(&str, Expected); 18] = [
        ("", |error| matches!(error, SpecError::Empty { .. })),
        ("model:", |error| matches!(error, SpecError::Empty { .. })),
        ("model:x:stat=new", |error| matches!(error, SpecError::How { how, .. } if how == "stat=new")),
        ("model:x:state=", |error| matches!(error, SpecError::State { .. })),
        ("model:x:capacity=big", |error| matches!(error, SpecError::How { .. })),
        ("model:x:state=101%", |error| matches!(error, SpecError::State { .. })),
        ("model:x:aged.zst", |error| matches!(error, SpecError::How { .. })),
        ("raid0:64K:/a,,/b", |error| matches!(error, SpecError::Empty { .. })),
        ("raid0:64K", |error| matches!(error, SpecError::NoMembers { .. })),
        ("raid0:64K:", |error| matches!(error, SpecError::NoMembers { .. })),
        ("raid0:64Q:/a,/b", |error| matches!(error, SpecError::Chunk { .. })),
        ("raid0:0:/a,/b", |error| matches!(error, SpecError::ChunkSize { .. })),
        ("raid0:513:/a,/b", |error| matches!(error, SpecError::ChunkSize { .. })),
        ("raid0:64K:/a", |error| matches!(error, SpecError::MembersCount { got: 1, .. })),
        ("raid10:64K:/a*3", |error| matches!(error, SpecError::MembersCount { got: 3, .. })),
        ("raid0:64K:raid10:64K:/a,/b", |error| matches!(error, SpecError::Nested { .. })),
        ("raid0:64K:/a*x", |error| matches!(error, SpecError::Count { .. })),
        ("raid0:64K:/a*0", |error| matches!(error, SpecError::Count { .. })),
    ];
    for (text, expected) in cases {
        let error = text.parse::<TargetSpec>().unwrap_err();
        assert!(expected(&error), "{text}: {error:?}");
    }
}

fn any_path() -> impl Strategy<Value = TargetSpec> {
    // Paths that start with a keyword print with `./`, so they parse back differently.
    "[a-z/.*,:\\\\ é]{1,12}"
        .prop_filter("keyword", |text| {
            !["model:", "raid0:", "raid10:"].iter().any(|word| text.starts_with(word))
        })
        .prop_map(|text| path(&text))
}

fn any_model() -> impl Strategy<Value = TargetSpec> {
    ("[a-z0-9*,:\\\\-]{1,12}", any_state(), prop::option::of("[a-z0-9*,:=%\\\\]{1,9}")).prop_flat_map(
        |(name, state, faults)| {
            let faults = faults.map(Into::into);
            let model = |name| {
                let (state, faults) = (state.clone(), faults.clone());
                TargetSpec::Model(ModelSpec { name, capacity_bytes: None, state, faults })
            };
            prop_oneof![
                Just(model(ModelName::Library(name.clone()))),
                Just(model(ModelName::File(format!("{name}.toml").into())))
            ]
        },
    )
}

fn any_state() -> impl Strategy<Value = StateSpec> {
    prop_oneof![
        (0_u8..=100).prop_map(StateSpec::Filled),
        "[a-z0-9*,:=\\\\]{1,9}zst".prop_map(|path| StateSpec::File(path.into())),
    ]
}

fn any_member() -> impl Strategy<Value = TargetSpec> {
    (prop_oneof![any_path(), any_model()], 1_u32..5).prop_map(|(target, count)| match count {
        1 => target,
        count => repeat(target, count),
    })
}

fn any_array() -> impl Strategy<Value = TargetSpec> {
    (1_u64..100_000, prop::collection::vec(any_member(), 2..6))
        .prop_map(|(blocks, members)| array(ArrayLevel::Raid0, blocks * 512, members))
}

proptest! {
    #[test]
    fn printed_targets_parse_back(spec in prop_oneof![any_path(), any_model(), any_array()]) {
        prop_assert_eq!(spec.to_string().parse::<TargetSpec>(), Ok(spec));
    }

    #[test]
    fn no_text_makes_it_panic(text in "(raid0:|raid10:|model:)?[0-9K:*,\\\\a]{0,20}") {
        if let Ok(spec) = text.parse::<TargetSpec>() {
            prop_assert_eq!(spec.to_string().parse::<TargetSpec>(), Ok(spec));
        }
    }
}
