use serde_json::json;

use super::*;

#[test]
fn text_equals_the_text_of_a_tree_of_values() {
    for text in [
        "null",
        " [ ] ",
        "{\n}",
        "[1, 2.50, -3e2, 1E400_]",
        "[1,-0,-0.0,1e15,1e16,18446744073709551615,18446744073709551616,-9223372036854775808,0.1]",
        r#"{"a\u0062\n\"\\/": "\u00e9\ud83d\ude00\u0001", "b": {"c": [[], {}, [1, [2]]]}, "d": true}"#,
        "[1,]",
        "{\"a\":1} x",
        "\"\\ud800\"",
        "",
    ] {
        let expected = serde_json::from_str::<Value>(text);
        let read_document = JsonText::read(text.as_bytes());
        match (expected, read_document) {
            (Ok(expected), Ok(read_document)) => {
                assert_eq!(read_document.as_str(), expected.to_string());
                assert_eq!(read_document.view().to_value(), expected);
            }
            (Err(expected), Err(error)) => assert_eq!(error.to_string(), expected.to_string(), "{text}"),
            (expected, read_document) => panic!("{text}: {expected:?}, {read_document:?}"),
        }
    }
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(JsonText::read(deep(127).as_bytes()).is_ok());
    assert!(JsonText::read(deep(128).as_bytes()).is_err());
}

#[test]
fn numbers_are_read_exactly() {
    // A fast but inexact reader gets these numbers wrong by one bit.
    for text in ["-2.4999999999999998e+219", "0.5137096131872383", "1.2802338022862347e-13", "1e23"] {
        let exact_number: f64 = text.parse().expect("a number");
        let read_document = JsonText::read(text.as_bytes()).expect("JSON");
        assert_eq!(read_document.view().as_number(), Some(exact_number), "{text}");
        assert_eq!(read_document.view().to_value().as_f64(), Some(exact_number), "{text}");
        assert_eq!(serde_json::from_str::<f64>(read_document.as_str()).ok(), Some(exact_number), "{text}");
    }
    let mut state = 1_u64;
    for _ in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = f64::from_bits(state);
        if number.is_finite() {
            let read_document = JsonText::read(format!("{number:e}").as_bytes()).expect("JSON");
            assert_eq!(read_document.view().as_number().map(f64::to_bits), Some(state), "{number:e}");
        }
    }
}

#[test]
fn views_find_fields_and_entries() {
    let value = json!({"a": [1, "x]}\"", {"b": null}, [], true], "e": {}, "a\"b": -1.5, "z": "last"});
    let text = JsonText::of_value(&value);
    let root = text.view();
    assert_eq!(
        root.fields().map(|(key, _)| key.name().into_owned()).collect::<Vec<_>>(),
        ["a", "e", "a\"b", "z"]
    );
    let entries: Vec<Value> = root.list("a").map(View::to_value).collect();
    assert_eq!(Value::from(entries), value["a"]);
    assert_eq!(
        root.list("a").map(View::kind).collect::<Vec<_>>(),
        [JsonKind::Number, JsonKind::Text, JsonKind::Object, JsonKind::List, JsonKind::Boolean]
    );
    assert_eq!(root.text("z").as_deref(), Some("last"));
    assert_eq!((root.get("e").map(|e| e.fields().count()), root.list("z").count()), (Some(0), 0));
    assert_eq!(
        JsonText::read(b"{\"a\":1,\"a\":2}").unwrap().view().get("a").and_then(View::as_number),
        Some(2.0)
    );
}

#[test]
fn a_field_is_replaced_or_appended() {
    let text = JsonText::read(br#"{"a":1,"b":[2]}"#).unwrap();
    assert_eq!(text.with_text("a", "x\"").as_str(), r#"{"a":"x\"","b":[2]}"#);
    assert_eq!(text.with_text("c", "x").as_str(), r#"{"a":1,"b":[2],"c":"x"}"#);
    let escaped_text = "é\u{1}\u{8}\u{c}\n\r\t\"\\\u{7f}/end";
    assert_eq!(text.with_text("a", escaped_text).view().text("a").as_deref(), Some(escaped_text));
    let expected = json!({"a": escaped_text, "b": [2]});
    assert_eq!(text.with_text("a", escaped_text).as_str(), expected.to_string());
    let written = serde_json::to_value(&text).unwrap();
    assert_eq!(serde_json::from_value::<JsonText>(written).unwrap(), text);
    assert_eq!(serde_json::from_value::<JsonText>(json!({"a": 1, "b": [2]})).unwrap(), text);
}

/// Reads all values of a view, and checks that they equal those of a tree.
fn assert_reads(view: View<'_>, value: &Value) {
    match value {
        Value::Array(entries) => {
            assert_eq!(view.entries().count(), entries.len());
            view.entries().zip(entries).for_each(|(view, value)| assert_reads(view, value));
        }
        Value::Object(fields) => {
            assert_eq!(view.fields().count(), fields.len());
            for ((key, view), (name, value)) in view.fields().zip(fields) {
                assert_eq!(key.name(), name.as_str());
                assert_reads(view, value);
            }
        }
        other => assert_eq!(view.to_value(), *other),
    }
}

#[test]
fn views_read_long_and_short_lists_and_objects() {
    // The index has only long objects and lists. The tested lengths are around the minimum, alone
    // and nested.
    let text_of = |bytes: usize| "]}\"\\,".chars().cycle().take(bytes).collect::<String>();
    let lists: Vec<Value> = (0..40)
        .map(|n| json!([text_of(1_000 + n * 10), {"inner": [n, text_of(n), {}, []], "x": null}]))
        .collect();
    let mut value = json!({"lists": lists, "short": [1, [2, [3]]], "notes": vec![json!({"tick": 5}); 3_000]});
    for level in 0..20 {
        value = json!([level, value, {"after": [level]}]);
    }
    let text = JsonText::of_value(&value);
    assert_reads(text.view(), &value);
    // A copy has an index of its own.
    let copy = text.clone();
    drop(text);
    assert_reads(copy.view(), &value);
}
