//! Every key of a JSON Schema as a page.

use std::fmt::Write as _;

use serde_json::{Map, Value};

const OPENING: &str = "# Every key of the profile\n\nGenerated from the types by `cargo xtask schema`; [profile.md](profile.md) says how \
                       to read them. `null` is what was not measured.\n";

/// A table for each type, the profile first, and the words of those that are words.
pub(super) fn page(schema: &Value) -> String {
    let mut page = OPENING.to_owned();
    section(&mut page, "The profile", schema);
    let types = schema.get("$defs").and_then(Value::as_object).into_iter().flatten();
    for (name, of) in types {
        section(&mut page, name, of);
    }
    page
}

fn section(page: &mut String, name: &str, of: &Value) {
    let _ = write!(page, "\n## {name}\n\n{}\n", described(of));
    let keys = of.get("properties").and_then(Value::as_object);
    if let Some(keys) = keys.filter(|keys| !keys.is_empty()) {
        table(page, keys);
    }
    let words = of.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let words: Vec<&Value> = words.filter(|word| word.get("const").is_some()).collect();
    if !words.is_empty() {
        page.push('\n');
    }
    for word in words {
        let said = word.get("const").and_then(Value::as_str).unwrap_or_default();
        let _ = writeln!(page, "- `{said}`: {}", described(word));
    }
}

fn table(page: &mut String, keys: &Map<String, Value>) {
    page.push_str("\n| key | type | what |\n|---|---|---|\n");
    for (key, of) in keys {
        let _ = writeln!(page, "| `{key}` | {} | {} |", type_of(of), described(of).replace('|', "\\|"));
    }
}

/// On one line.
fn described(of: &Value) -> String {
    let text = of.get("description").and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn type_of(of: &Value) -> String {
    if let Some(reference) = of.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or(reference);
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(items) = of.get("items") {
        return format!("list of {}", type_of(items));
    }
    let either = of.get("anyOf").or(of.get("oneOf")).and_then(Value::as_array);
    if let Some(either) = either {
        return either.iter().map(type_of).collect::<Vec<_>>().join(" or ");
    }
    match of.get("type") {
        Some(Value::String(one)) => one.clone(),
        Some(Value::Array(several)) => {
            several.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ => "anything".into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_and_words_are_named_with_what_they_are() {
        let schema = json!({
            "description": "A\nprofile.",
            "properties": { "depth": { "type": ["integer", "null"], "description": "How deep." } },
            "$defs": { "Kind": { "description": "Kinds.", "oneOf": [{ "const": "flash", "description": "Chips." }] },
                       "Rows": { "properties": { "kinds": { "type": "array", "items": { "$ref": "#/$defs/Kind" } } } } },
        });
        let page = page(&schema);
        for part in [
            "A profile.",
            "| `depth` | integer or null | How deep. |",
            "- `flash`: Chips.",
            "list of [Kind](#kind)",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}
