//! `openapi.json`, and the check of responses against it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use jsonschema::Validator;
use serde_json::Value;

use super::site::Site;

/// Document served by a server.
pub(super) struct Document {
    value: Value,
    /// Keyed by documented path and status.
    validators: RefCell<BTreeMap<(String, String), Rc<Validator>>>,
}

#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) is_required: bool,
}

impl Document {
    pub(super) fn of(site: &Site) -> Self {
        let value = site.get("/api/v1/openapi.json").json();
        assert!(value["openapi"].as_str().unwrap().starts_with("3.1"));
        Self { value, validators: RefCell::default() }
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.value["paths"].as_object().unwrap().keys().map(String::as_str)
    }

    pub(super) fn parameters(&self, path: &str) -> Vec<Parameter> {
        let parameters = self.value["paths"][path]["get"]["parameters"].as_array();
        let of = |parameter: &Value| Parameter {
            name: parameter["name"].as_str().unwrap().to_owned(),
            is_required: parameter["required"] == true,
        };
        parameters.into_iter().flatten().map(of).collect()
    }

    /// Deviations of a response from the documentation.
    pub(super) fn complaints(&self, path: &str, status: u16, answer: &Value) -> Vec<String> {
        let responses = &self.value["paths"][path]["get"]["responses"];
        let names = [status.to_string(), format!("{}XX", status / 100)];
        let Some(name) = names.into_iter().find(|name| !responses[name]["content"].is_null()) else {
            return vec![format!("no answer of {path} has status {status} and a body")];
        };
        let content = responses[&name]["content"].as_object().unwrap();
        let schema = &content.values().next().unwrap()["schema"];
        let validator = self.validator((path.to_owned(), name), schema);
        validator.iter_errors(answer).map(|error| format!("{error} at {}", error.instance_path())).collect()
    }

    fn validator(&self, key: (String, String), schema: &Value) -> Rc<Validator> {
        let make = || {
            let mut root = schema.clone();
            root["components"] = self.value["components"].clone();
            Rc::new(jsonschema::draft202012::new(&root).unwrap())
        };
        Rc::clone(self.validators.borrow_mut().entry(key).or_insert_with(make))
    }
}
