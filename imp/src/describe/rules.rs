//! Which JSON Schemas a described signature may have: those of which every keyword is enforced.
//!
//! A type of Rust is checked by serde whatever its schema says; a described one by nothing but its
//! [`TypeTree`](crate::types::TypeTree). A keyword that it does not look at would be a promise to the
//! model which nobody keeps, so it is an error here.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::{Map, Value as Json};

use crate::nearest::nearest;
use crate::spec::leaves_nothing;
use crate::types::{Number, key};

/// Keywords that assert nothing.
const ANNOTATIONS: [&str; 17] = [
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "format",
    "contentEncoding",
    "contentMediaType",
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "discriminator",
];
const NUMERIC: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const TEXTUAL: [&str; 3] = ["minLength", "maxLength", "pattern"];
const LISTED: [&str; 5] = ["items", "prefixItems", "minItems", "maxItems", "uniqueItems"];
const KEYED: [&str; 6] =
    ["properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"];
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// Refuses a schema with a keyword that is not enforced, that is written wrong or that no value can meet.
///
/// # Errors
///
/// A text that names the keyword, its place in the schema and the remedy.
pub(crate) fn check(schema: &Json) -> Result<(), String> {
    let mut open = vec![(String::new(), schema)];
    while let Some((place, schema)) = open.pop() {
        match schema {
            Json::Bool(true) => {}
            Json::Bool(false) => return Err(at("the schema `false` has no value", &place, "leave it out")),
            Json::Object(map) => Node { map, place }.check(&mut open)?,
            _ => return Err(at("a schema is an object or `true`", &place, "write `{}` for any value")),
        }
    }
    Ok(())
}

fn at(message: &str, place: &str, remedy: &str) -> String {
    let place = if place.is_empty() { String::new() } else { format!(" (at `#{place}`)") };
    format!("{message}{place}: {remedy}")
}

struct Node<'s> {
    map: &'s Map<String, Json>,
    place: String,
}

type Open<'s> = Vec<(String, &'s Json)>;

impl<'s> Node<'s> {
    fn fault(&self, message: impl AsRef<str>, remedy: impl AsRef<str>) -> String {
        at(message.as_ref(), &self.place, remedy.as_ref())
    }

    fn check(&self, open: &mut Open<'s>) -> Result<(), String> {
        for word in ["$defs", "definitions"] {
            self.each(word, open)?;
        }
        // The word that decides what is looked at: what stands beside it is not.
        let main = ["$ref", "enum", "const", "anyOf", "oneOf", "allOf"];
        if self.map.contains_key(key::KIND) {
            return Ok(());
        }
        let Some(main) = main.into_iter().find(|word| self.map.contains_key(*word)) else {
            return self.typed(open);
        };
        let beside = |word: &str| match main {
            "enum" | "const" => word == "type",
            _ => false,
        };
        self.words(|word| word == main || beside(word), &format!("beside `{main}`"))?;
        match main {
            "$ref" if !self.map["$ref"].is_string() => {
                Err(self.fault("`$ref` is not a text", "write `#/$defs/NAME`"))
            }
            "enum" => self.members(),
            "const" | "$ref" => Ok(()),
            word => {
                let branches = self.list(word)?;
                if branches.is_empty() {
                    return Err(self.fault(format!("`{word}` is empty"), "give it a schema"));
                }
                if word == "allOf" && branches.len() > 1 {
                    return Err(self.fault(
                        "the keyword `allOf` with several schemas is not enforced",
                        "merge them into one schema",
                    ));
                }
                open.extend(
                    branches.iter().enumerate().map(|(i, item)| (self.inside(word, &i.to_string()), item)),
                );
                Ok(())
            }
        }
    }

    fn inside(&self, word: &str, name: &str) -> String {
        format!("{}/{word}/{name}", self.place)
    }

    /// Refuses words that are neither annotations nor allowed `here`.
    fn words(&self, allowed: impl Fn(&str) -> bool, here: &str) -> Result<(), String> {
        for word in self.map.keys() {
            if ANNOTATIONS.contains(&word.as_str()) || word.starts_with("x-") || allowed(word) {
                continue;
            }
            let known: Vec<&str> = TYPE_WORDS.iter().flat_map(|(_, words)| words.iter().copied()).collect();
            let remedy = match word.as_str() {
                "not" | "if" | "then" | "else" | "contains" | "dependentRequired" | "propertyNames" => {
                    "leave it out and say it in the field's description".to_owned()
                }
                "nullable" => "write `\"type\": [\"…\", \"null\"]`".to_owned(),
                word if known.contains(&word) && here.starts_with("beside") => {
                    "put it into the schema of the branch or of the named type".to_owned()
                }
                word if known.contains(&word) => "leave it out, or say the type that it is for".to_owned(),
                word => match nearest(word, known) {
                    Some(known) => format!("did you mean `{known}`?"),
                    None => "leave it out and say it in the field's description".to_owned(),
                },
            };
            let message = format!("the schema's keyword `{word}` is not enforced {here}");
            return Err(self.fault(message.trim_end(), remedy));
        }
        Ok(())
    }

    fn typed(&self, open: &mut Open<'s>) -> Result<(), String> {
        let words: Vec<&str> = match self.map.get("type") {
            Some(Json::String(word)) => vec![word],
            Some(Json::Array(words)) if !words.is_empty() => {
                let words: Option<Vec<&str>> = words.iter().map(Json::as_str).collect();
                words.ok_or_else(|| self.fault("`type` is not a list of texts", "write the types' names"))?
            }
            Some(_) => {
                return Err(self.fault("`type` is neither a text nor a list of texts", "write a type's name"));
            }
            None if self.map.contains_key("properties") => vec!["object"],
            None => return self.words(|_| false, "without a `type`"),
        };
        for word in &words {
            if !TYPES.contains(word) {
                let remedy = match nearest(word, TYPES) {
                    Some(known) => format!("did you mean `{known}`?"),
                    None => format!("known are {}", TYPES.map(|word| format!("`{word}`")).join(", ")),
                };
                return Err(self.fault(format!("the schema's `type` is no type: `{word}`"), remedy));
            }
        }
        let dated = words.contains(&"string")
            && matches!(
                self.map.get("format").and_then(Json::as_str),
                Some("date-time" | "partial-date-time" | "date")
            );
        let here =
            if dated { "for a date".to_owned() } else { format!("for the type `{}`", words.join("`, `")) };
        self.words(
            |word| {
                word == "type"
                    || TYPE_WORDS.iter().any(|(ty, known)| {
                        words.contains(ty) && known.contains(&word) && !(dated && *ty == "string")
                    })
            },
            &here,
        )?;
        self.numbers()?;
        self.lengths()?;
        if self.map.get("pattern").is_some_and(|pattern| !pattern.is_string()) {
            return Err(self.fault("`pattern` is not a text", "write a regular expression"));
        }
        self.lists(open)?;
        self.objects(open)
    }

    fn numbers(&self) -> Result<(), String> {
        let number = |word: &str| match self.map.get(word) {
            None => Ok(None),
            Some(value) => match Number::from_json(value) {
                Some(number) => Ok(Some(number)),
                None => Err(self.fault(format!("`{word}` is not a number"), "write a number")),
            },
        };
        let [ge, le, gt, lt] = [
            number("minimum")?,
            number("maximum")?,
            number("exclusiveMinimum")?,
            number("exclusiveMaximum")?,
        ];
        if let Some(of) = number("multipleOf")? {
            if of.compare(Number::Int(0)) != Some(Ordering::Greater) {
                return Err(self.fault("`multipleOf` is not above 0", "write a number above 0"));
            }
        }
        for (low, low_word, open_low) in [(ge, "minimum", false), (gt, "exclusiveMinimum", true)] {
            for (high, high_word, open_high) in [(le, "maximum", false), (lt, "exclusiveMaximum", true)] {
                let (Some(low), Some(high)) = (low, high) else { continue };
                if leaves_nothing(low, high, open_low || open_high) {
                    return Err(self.fault(
                        format!("no number is between `{low_word}` and `{high_word}`"),
                        "swap or widen them",
                    ));
                }
            }
        }
        Ok(())
    }

    fn lengths(&self) -> Result<(), String> {
        for (low, high) in
            [("minLength", "maxLength"), ("minItems", "maxItems"), ("minProperties", "maxProperties")]
        {
            let length = |word: &str| match self.map.get(word) {
                None => Ok(None),
                Some(value) => match value.as_u64() {
                    Some(length) => Ok(Some(length)),
                    None => {
                        Err(self.fault(format!("`{word}` is not a length"), "write a whole number from 0"))
                    }
                },
            };
            if let (Some(least), Some(most)) = (length(low)?, length(high)?) {
                if least > most {
                    return Err(self.fault(format!("`{low}` is greater than `{high}`"), "swap or widen them"));
                }
            }
        }
        Ok(())
    }

    fn lists(&self, open: &mut Open<'s>) -> Result<(), String> {
        let unique = match self.map.get("uniqueItems") {
            None => false,
            Some(unique) => unique
                .as_bool()
                .ok_or_else(|| self.fault("`uniqueItems` is not a boolean", "write true or false"))?,
        };
        let Some(prefix) = self.map.get("prefixItems") else {
            if let Some(items) = self.map.get("items") {
                open.push((format!("{}/items", self.place), items));
            }
            return Ok(());
        };
        let Json::Array(prefix) = prefix else {
            return Err(self.fault("`prefixItems` is not a list", "write a list of schemas"));
        };
        let of_its_length =
            |word: &str| self.map.get(word).is_none_or(|length| length.as_u64() == Some(prefix.len() as u64));
        let rest = self.map.get("items").is_some_and(|items| *items != Json::Bool(false));
        for (word, wrong) in [
            ("items", rest),
            ("uniqueItems", unique),
            ("minItems", !of_its_length("minItems")),
            ("maxItems", !of_its_length("maxItems")),
        ] {
            if wrong {
                return Err(self.fault(
                    format!("the keyword `{word}` is not enforced beside `prefixItems`, which is a list of exactly its length"),
                    "leave it out, or use `items` alone",
                ));
            }
        }
        open.extend(
            prefix.iter().enumerate().map(|(i, item)| (self.inside("prefixItems", &i.to_string()), item)),
        );
        Ok(())
    }

    fn objects(&self, open: &mut Open<'s>) -> Result<(), String> {
        self.each("properties", open)?;
        self.each("patternProperties", open)?;
        let properties = self.map.get("properties").and_then(Json::as_object);
        let patterns = self.map.get("patternProperties").and_then(Json::as_object);
        if let Some(patterns) = patterns {
            let closed = self.map.get("additionalProperties") == Some(&Json::Bool(false));
            if patterns.len() != 1 || properties.is_some() || !closed {
                return Err(self.fault(
                    "the keyword `patternProperties` is enforced only with one pattern, without `properties` and with `\"additionalProperties\": false`",
                    "write it so",
                ));
            }
        }
        match self.map.get("additionalProperties") {
            None | Some(Json::Bool(_)) => {}
            Some(values) => open.push((format!("{}/additionalProperties", self.place), values)),
        }
        let Some(required) = self.map.get("required") else { return Ok(()) };
        let names: Option<Vec<&str>> =
            required.as_array().map(Vec::as_slice).unwrap_or_default().iter().map(Json::as_str).collect();
        let names = names
            .filter(|_| required.is_array())
            .ok_or_else(|| self.fault("`required` is not a list of texts", "write the properties' names"))?;
        match names.iter().find(|name| !properties.is_some_and(|known| known.contains_key(**name))) {
            Some(name) => Err(self.fault(
                format!("`required` names `{name}`, which is no property"),
                "describe it in `properties`",
            )),
            None => Ok(()),
        }
    }

    /// The schemas in an object of schemas.
    fn each(&self, word: &str, open: &mut Open<'s>) -> Result<(), String> {
        match self.map.get(word) {
            None => Ok(()),
            Some(Json::Object(schemas)) => {
                open.extend(schemas.iter().map(|(name, schema)| (self.inside(word, name), schema)));
                Ok(())
            }
            Some(_) => Err(self.fault(format!("`{word}` is not an object"), "write schemas by their names")),
        }
    }

    fn list(&self, word: &str) -> Result<&'s [Json], String> {
        self.map
            .get(word)
            .and_then(Json::as_array)
            .map(Vec::as_slice)
            .ok_or_else(|| self.fault(format!("`{word}` is not a list"), "write a list"))
    }

    fn members(&self) -> Result<(), String> {
        let members = self.list("enum")?;
        if members.is_empty() {
            return Err(self.fault("`enum` has no members", "give it one"));
        }
        match twice(members) {
            Some(member) => Err(self.fault(format!("`enum` has {member} twice"), "remove one of them")),
            None => Ok(()),
        }
    }
}

const TYPE_WORDS: [(&str, &[&str]); 5] = [
    ("integer", &NUMERIC),
    ("number", &NUMERIC),
    ("string", &TEXTUAL),
    ("array", &LISTED),
    ("object", &KEYED),
];

/// The first value that is there a second time; 1 and 1.0 are one value.
pub(crate) fn twice<'j>(values: impl IntoIterator<Item = &'j Json>) -> Option<&'j Json> {
    let mut seen = HashSet::new();
    values.into_iter().find(|value| !seen.insert(spelling(value)))
}

/// One spelling for each value.
#[allow(clippy::cast_possible_truncation, reason = "a whole number within 2^63")]
fn spelling(value: &Json) -> String {
    match value.as_f64().filter(|float| value.is_f64() && float.fract() == 0.0 && float.abs() < 9e18) {
        Some(whole) => (whole as i64).to_string(),
        None => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_enforced_is_named() {
        for (schema, part) in [
            (json!({"allOf": [{"type": "integer"}, {"minimum": 1}]}), "`allOf` with several"),
            (json!({"type": "integer", "not": {"const": 1}}), "`not` is not enforced"),
            (json!({"type": "array", "contains": {}}), "`contains`"),
            (json!({"type": "array", "minContains": 2}), "`minContains`"),
            (json!({"if": {}, "then": {}, "else": {}}), "`if` is not enforced without a `type`"),
            (json!({"type": "object", "dependentRequired": {}}), "`dependentRequired`"),
            (json!({"type": "object", "propertyNames": {}}), "`propertyNames`"),
            (json!({"type": "object", "unevaluatedProperties": false}), "`unevaluatedProperties`"),
            (json!(false), "the schema `false` has no value"),
            (json!({"type": "strng"}), "did you mean `string`?"),
            (json!({"type": 3}), "`type` is neither"),
            (json!({"type": "integer", "minimum": "x"}), "`minimum` is not a number"),
            (json!({"type": "string", "maxLength": -1}), "`maxLength` is not a length"),
            (json!({"type": "string", "minlength": 1}), "did you mean `minLength`?"),
            (json!({"type": "string", "minimum": 1}), "`minimum` is not enforced for the type `string`"),
            (
                json!({"type": "string", "format": "date", "pattern": "^2"}),
                "`pattern` is not enforced for a date",
            ),
            (json!({"minimum": 1}), "without a `type`"),
            (
                json!({"$ref": "#/$defs/A", "minimum": 1, "$defs": {"A": {"type": "integer"}}}),
                "beside `$ref`",
            ),
            (json!({"type": "string", "anyOf": [{"maxLength": 1}]}), "`type` is not enforced beside `anyOf`"),
            (json!({"type": "integer", "minimum": 5, "maximum": 1}), "between `minimum` and `maximum`"),
            (json!({"type": "number", "exclusiveMinimum": 1, "maximum": 1.0}), "`exclusiveMinimum`"),
            (json!({"type": "integer", "multipleOf": 0}), "`multipleOf` is not above 0"),
            (json!({"type": "array", "minItems": 3, "maxItems": 2}), "`minItems` is greater"),
            (json!({"type": "array", "prefixItems": [{}], "items": {}}), "`items` is not enforced beside"),
            (json!({"type": "object", "required": ["a"]}), "`required` names `a`"),
            (
                json!({"properties": {"a": {"type": "array", "items": {"not": {}}}}}),
                "(at `#/properties/a/items`)",
            ),
            (json!({"properties": [], "type": "object"}), "`properties` is not an object"),
            (json!({"enum": ["a", "b", "a"]}), "`enum` has \"a\" twice"),
            (json!({"enum": [1, 1.0]}), "twice"),
            (json!({"enum": []}), "no members"),
            (json!({"type": "array", "items": 3}), "a schema is an object or `true`"),
        ] {
            let error = check(&schema).expect_err(&schema.to_string());
            assert!(error.contains(part), "{schema}: {error}");
        }
    }

    #[test]
    fn what_is_enforced_passes() {
        for schema in [
            json!(true),
            json!({"description": "any"}),
            json!({"type": ["integer", "null"], "minimum": 1, "format": "uint8"}),
            json!({"type": "array", "items": {"type": "string", "pattern": "^a"}, "uniqueItems": true}),
            json!({"type": "array", "prefixItems": [{}, true], "minItems": 2, "maxItems": 2}),
            json!({"oneOf": [{"const": "a", "description": "A"}, {"type": "integer"}]}),
            json!({"type": "string", "enum": ["a", "1"], "x-other": 1}),
            json!({"allOf": [{"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 1}]}),
            json!({"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": false}),
        ] {
            assert_eq!(check(&schema), Ok(()), "{schema}");
        }
    }
}
