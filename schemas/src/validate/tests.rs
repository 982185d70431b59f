use serde_json::{Value, json};

use super::*;

fn check(change: impl FnOnce(&mut Value), expected: &[(&str, &str)]) {
    let mut document = json!({
        "schema_version": 1, "project_id": "p",
        "tracks": [
            {"id": "a", "kind": "instrument", "items": [
                {"type": "midi", "id": "i", "start_tick": 0, "length_ticks": 960, "notes": [
                    {"tick": 0, "length_ticks": 1, "pitch": 60, "velocity": 0.5}
                ], "controls": [{"tick": 0, "type": "cc", "controller": 7, "value": 1}]}
            ]},
            {"id": "b", "kind": "bus"},
            {"id": "g", "kind": "group"}
        ]
    });
    change(&mut document);
    let violations = validate(&JsonText::of_value(&document)).err().unwrap_or_default();
    let violations: Vec<(&str, &str)> =
        violations.iter().map(|v| (v.pointer.as_str(), v.detail.as_str())).collect();
    assert_eq!(violations, expected);
}

#[test]
fn the_unchanged_document_is_valid() {
    check(|_| (), &[]);
    check(|d| d["tracks"][0]["items"][0]["start_tick"] = json!(960.0), &[]);
}

#[test]
fn violations_name_the_offending_field() {
    check(|d| d["tracks"] = json!(3), &[("/tracks", "3 is not of type array")]);
    check(
        |d| d["sample_rate_hz"] = json!(22050),
        &[("/sample_rate_hz", "22050 is not one of 44100, 48000, 96000")],
    );
    check(
        |d| *d = json!({"schema_version": 1, "tracks": []}),
        &[("", "the required field \"project_id\" is missing")],
    );
    check(
        |d| d["project_id"] = json!("../x"),
        &[("/project_id", "\"../x\" does not match the pattern ^[A-Za-z0-9._-]{1,128}$")],
    );
    check(
        |d| d["tracks"][1]["output"] = json!(5),
        &[("/tracks/1/output", "5 is not of type null or string")],
    );
}

#[test]
fn a_choice_is_checked_by_its_type() {
    let notes = "/tracks/0/items/0/notes/0";
    check(
        |d| {
            *d.pointer_mut(notes).unwrap() =
                json!({"tick": -1, "length_ticks": 1, "pitch": 200, "velocity": "loud"});
        },
        &[
            ("/tracks/0/items/0/notes/0/tick", "-1 is less than the minimum 0"),
            ("/tracks/0/items/0/notes/0/pitch", "200 is greater than the maximum 127"),
            ("/tracks/0/items/0/notes/0/velocity", "\"loud\" is not of type number"),
        ],
    );
    check(
        |d| d["tracks"][0]["items"][0]["controls"][0] = json!({"tick": 0, "type": "bend", "value": 9000}),
        &[("/tracks/0/items/0/controls/0/value", "9000 is greater than the maximum 8191")],
    );
    check(
        |d| d["tracks"][0]["items"][0]["controls"][0] = json!({"tick": 0, "type": "nrpn", "value": 9000}),
        &[("/tracks/0/items/0/controls/0", "the required field \"parameter\" is missing")],
    );
    check(
        |d| d["tracks"][0]["items"][0]["type"] = json!("film"),
        &[("/tracks/0/items/0/type", "\"film\" is not one of \"midi\", \"audio\", \"section\"")],
    );
    check(
        |d| d["tracks"][0]["items"][0] = json!({"id": "x"}),
        &[("/tracks/0/items/0", "the required field \"type\" is missing")],
    );
    check(|d| d["tracks"][0]["items"][0] = json!(7), &[("/tracks/0/items/0", "7 is not of type object")]);
    check(
        |d| d["tracks"][0]["synth_engine"] = json!({"type": "soundfont", "bank": 129, "program": 0}),
        &[("/tracks/0/synth_engine/bank", "129 is greater than the maximum 128")],
    );
    check(
        |d| d["tracks"][0]["effects"] = json!([{"id": "e", "type": "builtin"}]),
        &[("/tracks/0/effects/0", "the required field \"name\" is missing")],
    );
    check(
        |d| {
            d["tracks"][0]["automation"] =
                json!([{"target": "pan", "points": [{"tick": 0, "value": 0, "curve": "odd"}]}]);
        },
        &[(
            "/tracks/0/automation/0/points/0/curve",
            "\"odd\" is not one of \"linear\", \"step\" or a number from -1 to 1",
        )],
    );
}

#[test]
fn order_and_references_are_checked() {
    check(
        |d| d["tempo_map"] = json!([{"tick": 9, "bpm": 100}, {"tick": 9, "bpm": 90}]),
        &[
            ("/tempo_map/0/tick", "the first tempo must be at tick 0, not at tick 9"),
            (
                "/tempo_map/1/tick",
                "a tempo at tick 9 comes after one at tick 9; ticks must be in ascending order",
            ),
        ],
    );
    check(
        |d| d["tracks"][2]["id"] = json!("a"),
        &[("/tracks/2/id", "an earlier track has the same id \"a\"")],
    );
    check(
        |d| {
            d["tracks"][0]["output"] = json!("x");
            d["tracks"][0]["sends"] = json!([{"to": "b"}, {"to": "a"}]);
            d["tracks"][1]["output"] = json!("a");
        },
        &[
            ("/tracks/0/output", "there is no track \"x\""),
            ("/tracks/0/sends/1/to", "track \"a\" cannot feed itself"),
            ("/tracks/1/output", "track \"a\" is of kind \"instrument\"; only a bus or a group has inputs"),
            ("/tracks/0", "the outputs, sends and side-chains of this track lead back to it"),
            ("/tracks/1", "the outputs, sends and side-chains of this track lead back to it"),
        ],
    );
    check(|d| d["tracks"][0]["output"] = json!(null), &[]);
}

#[test]
fn loops_of_buses_are_found() {
    check(
        |d| {
            d["tracks"][0]["output"] = json!("b");
            d["tracks"][1]["output"] = json!("g");
            d["tracks"][2]["sends"] = json!([{"to": "b"}]);
        },
        &[
            ("/tracks/1", "the outputs, sends and side-chains of this track lead back to it"),
            ("/tracks/2", "the outputs, sends and side-chains of this track lead back to it"),
        ],
    );
}

#[test]
fn totals_are_limited() {
    // Only the number of notes and controls matters here.
    let document = |notes: usize, controls: usize| {
        let item = |notes, controls| json!({"type": "midi", "notes": vec![(); notes], "controls": vec![(); controls]});
        let items = [item(notes / 2, controls), item(notes - notes / 2, 0)];
        json!({"tracks": [{"id": "a", "items": [items[0]]}, {"id": "b", "items": [items[1]]}]})
    };
    let violations = |notes, controls| {
        let (document, mut violations) =
            (JsonText::of_value(&document(notes, controls)), Violations::default());
        semantic::find(document.view(), &mut violations);
        violations.0
    };
    for (notes, controls) in [(250_000, 150_000), (362_500, 0), (0, 483_333), (1_000, 400_000)] {
        assert_eq!(violations(notes, controls), [], "{notes} and {controls}");
    }
    let expected = Violation {
        pointer: "/tracks".into(),
        detail: "the project has 250002 notes and 150000 controls; at 80 and 60 bytes each they take 29000160 bytes, \
                 and the limit is 29000000"
            .into(),
    };
    assert_eq!(violations(250_002, 150_000), [expected]);
}

#[test]
fn the_number_of_violations_is_bounded() {
    let mut document = json!({"schema_version": 1, "project_id": "p", "tracks": []});
    document["tracks"] = Value::Array(vec![json!(1); 900]);
    assert_eq!(validate(&JsonText::of_value(&document)).unwrap_err().len(), MAX_VIOLATIONS);
}

fn with_effects(document: &mut Value, effects: Value) {
    document["tracks"][0]["effects"] = effects;
}

#[test]
fn effect_values_are_checked_by_their_parameters() {
    check(
        |document| {
            let params = json!({"gain_db": "loud", "balance": true, "invert_left": "on", "channels": false});
            with_effects(
                document,
                json!([{"id": "u", "type": "builtin", "name": "utility", "params": params}]),
            );
        },
        &[
            (
                "/tracks/0/effects/0/params/gain_db",
                "\"loud\" is not a valid value of \"gain_db\", which must be a number",
            ),
            (
                "/tracks/0/effects/0/params/balance",
                "true is not a valid value of \"balance\", which must be a number",
            ),
            (
                "/tracks/0/effects/0/params/invert_left",
                "\"on\" is not a valid value of \"invert_left\", which must be true, false or a number",
            ),
            (
                "/tracks/0/effects/0/params/channels",
                "false is not a valid value of \"channels\", which must be a number or one of \"Stereo\", \"Swapped\", \
                 \"Left\", \"Right\", \"Mono\"",
            ),
        ],
    );
    // Parameters and values that other versions may know or allow are not violations.
    let params = json!({"gain_db": 1e9, "invert_left": true, "channels": "Quadrophonic", "new": "x"});
    check(
        |document| {
            document["master"] = json!({"effects": [
                {"id": "u", "type": "builtin", "name": "utility", "params": params},
                {"id": "v", "type": "builtin", "name": "no such effect", "params": {"gain_db": "x"}},
                {"id": "w", "type": "vst3", "plugin_id": "x", "name": "utility", "params": {"gain_db": "x"}},
            ]});
        },
        &[],
    );
}

#[test]
fn side_chains_refer_to_other_tracks_without_cycles() {
    let effect =
        |source: &str| json!([{"id": "c", "type": "builtin", "name": "compressor", "side_chain": source}]);
    check(
        |document| with_effects(document, effect("gone")),
        &[("/tracks/0/effects/0/side_chain", "there is no track \"gone\"")],
    );
    check(
        |document| {
            document["tracks"] = json!([{"id": "a", "kind": "audio", "effects": effect("a")}]);
            document["master"] = json!({"effects": effect("gone")});
        },
        &[
            ("/tracks/0/effects/0/side_chain", "track \"a\" cannot be the side-chain of its own effect"),
            ("/master/effects/0/side_chain", "there is no track \"gone\""),
        ],
    );
    let cycle = "the outputs, sends and side-chains of this track lead back to it";
    check(
        |document| {
            document["tracks"] = json!([
                {"id": "a", "kind": "audio", "output": "b"},
                {"id": "b", "kind": "group", "effects": effect("c")},
                {"id": "c", "kind": "audio", "sends": [{"to": "d"}], "effects": effect("d")},
                {"id": "d", "kind": "bus"},
            ]);
        },
        &[("/tracks/2", cycle), ("/tracks/3", cycle)],
    );
}

#[test]
fn a_project_has_a_thousand_effects_at_most() {
    let effect = |number: usize| json!({"id": format!("e{number}"), "type": "builtin", "name": "utility"});
    let chain: Vec<Value> = (0..64).map(effect).collect();
    let track = |number: usize| json!({"id": format!("t{number}"), "kind": "bus", "effects": chain});
    let with = |tracks: usize, of_master: usize| {
        json!({"schema_version": 1, "project_id": "p", "tracks": (0..tracks).map(track).collect::<Vec<_>>(),
            "master": {"effects": chain[..of_master]}})
    };
    check(|document| *document = with(15, 40), &[]);
    check(
        |document| *document = with(15, 41),
        &[("/tracks", "the project has 1001 effects in all, and the limit is 1000")],
    );
    check(
        |document| {
            let params: serde_json::Map<String, Value> =
                (0..100_001).map(|number| (format!("p{number}"), 1.into())).collect();
            let plugin = json!({"id": "v", "type": "vst3", "plugin_id": "x", "params": params});
            document["master"] = json!({"effects": [plugin]});
        },
        &[(
            "/tracks",
            "the project has 100001 parameter values of effects and instruments in all, and the limit is 100000",
        )],
    );
}

#[test]
fn a_repeated_field_is_refused_and_long_names_are_truncated() {
    let violations_of = |text: &str| validate(&JsonText::read(text.as_bytes()).unwrap()).unwrap_err();
    let repeated_names =
        violations_of(r#"{"schema_version":1,"project_id":"p","tracks":[],"x":1,"x":2,"tracks":[]}"#);
    assert_eq!((repeated_names.len(), repeated_names[0].pointer.as_str()), (1, "/tracks"));
    assert_eq!(repeated_names[0].detail, "the field \"tracks\" occurs more than once");
    let name = "n".repeat(100_000);
    let long_violations = violations_of(&format!(
        r#"{{"schema_version":1,"project_id":"p","tracks":[],"master":{{"effects":[
            {{"id":"e","type":"vst3","plugin_id":"x","params":{{"{name}":null}}}}]}}}}"#
    ));
    assert_eq!(long_violations[0].detail, "null is not of type boolean or number or string");
    assert!(long_violations[0].pointer.len() < 200 && long_violations[0].pointer.ends_with("nnn..."));
}

/// The `jsonschema` crate agrees on the validity of documents in which any single value is
/// replaced.
#[test]
fn an_independent_validator_agrees() {
    let schema: Value = serde_json::from_str(crate::PROJECT_SCHEMA).unwrap();
    let independent = jsonschema::validator_for(&schema).unwrap();
    let document: Value = serde_json::from_str(include_str!("../../examples/valid/everything.json")).unwrap();
    let mut pointers = Vec::new();
    list_pointers(&document, String::new(), &mut pointers);
    let replacements = [json!(null), json!(-1), json!(7.0), json!("x"), json!([])];
    let (mut valid, mut invalid) = (0, 0);
    for pointer in &pointers {
        for replacement in &replacements {
            let mut changed_document = document.clone();
            *changed_document.pointer_mut(pointer).unwrap() = replacement.clone();
            let text = JsonText::of_value(&changed_document);
            let mut check = Check {
                schema: Schema::project(),
                pointer: String::new(),
                violations: Violations::default(),
            };
            check.value(text.view(), check.schema.root());
            let expected = independent.is_valid(&changed_document);
            assert_eq!(
                check.violations.is_empty(),
                expected,
                "{replacement} at {pointer}: {:?}",
                check.violations.0
            );
            if expected { valid += 1 } else { invalid += 1 }
        }
    }
    assert!(valid > 50 && invalid > 500, "{valid} valid, {invalid} invalid");
}

fn list_pointers(value: &Value, pointer: String, pointers: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                list_pointers(
                    field,
                    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")),
                    pointers,
                );
            }
        }
        Value::Array(entries) => {
            for (index, entry) in entries.iter().enumerate() {
                list_pointers(entry, format!("{pointer}/{index}"), pointers);
            }
        }
        _ => {}
    }
    pointers.push(pointer);
}

#[test]
fn frames_beyond_the_exact_numbers_of_a_double_are_refused() {
    let too_large = "1e+300 is greater than the maximum 9007199254740991";
    for field in ["offset_frames", "length_frames"] {
        let item =
            |value: Value| json!({"type": "audio", "id": "i", "start_tick": 0, "source": {}, field: value});
        let pointer = format!("/tracks/0/items/0/{field}");
        check(|d| d["tracks"][0]["items"][0] = item(json!(1e300)), &[(&pointer, too_large)]);
        check(|d| d["tracks"][0]["items"][0] = item(json!(9_007_199_254_740_991_u64)), &[]);
    }
    for field in ["in_frames", "out_frames"] {
        let item =
            json!({"type": "audio", "id": "i", "start_tick": 0, "source": {}, "fades": {field: 1e300}});
        let pointer = format!("/tracks/0/items/0/fades/{field}");
        check(|d| d["tracks"][0]["items"][0] = item, &[(&pointer, too_large)]);
    }
}

/// Integers may be written with an exponent. Above 2^53 their exact value would be unclear, and a
/// valid document could not be read.
#[test]
fn every_whole_number_of_the_schema_has_a_greatest_value() {
    fn check_rule(pointer: &str, rule: &Value) {
        if rule["type"] == "integer" && rule.get("enum").or(rule.get("const")).is_none() {
            let greatest = rule["maximum"].as_u64().unwrap_or(u64::MAX);
            assert!(greatest < 1 << 53, "{pointer} has no maximum below 2^53");
        }
        let Some(fields) = rule.as_object() else { return };
        fields.iter().for_each(|(name, rule)| check_rule(&format!("{pointer}/{name}"), rule));
    }
    check_rule("", &serde_json::from_str(crate::PROJECT_SCHEMA).expect("JSON"));
}
