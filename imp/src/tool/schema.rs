//! The schema of a tool's arguments, as providers take it.

use serde_json::{Map, Value as Json, json};

/// How many nodes a schema may have once its definitions stand where they are used; a type beyond that keeps
/// its references. Trees of structs can be exponentially large.
const NODES: usize = 20_000;

/// The schema with its definitions where they are used, and without what providers have no use for or refuse:
/// `$schema`, titles, and the formats of Rust's numbers. A type that contains itself stays among the definitions.
pub(crate) fn tidy(schema: Json) -> Json {
    let Json::Object(mut root) = schema else { return schema };
    let defs = match root.remove("$defs") {
        Some(Json::Object(defs)) => defs,
        _ => Map::new(),
    };
    let mut inliner = Inliner { defs: &defs, open: Vec::new(), kept: Vec::new(), nodes: 0 };
    let mut tidied = inliner.schema(&Json::Object(root));
    // What a kept definition refers to may be kept in turn.
    let mut at = 0;
    let mut kept = Map::new();
    while let Some(name) = inliner.kept.get(at).cloned() {
        at += 1;
        if let Some(def) = defs.get(&name) {
            inliner.open.push(name.clone());
            kept.insert(name, inliner.body(def));
            inliner.open.pop();
        }
    }
    if let (Json::Object(map), false) = (&mut tidied, kept.is_empty()) {
        map.insert("$defs".to_owned(), Json::Object(kept));
    }
    if tidied.get("type").and_then(Json::as_str) == Some("null") {
        // No arguments at all.
        return json!({ "type": "object", "properties": {} });
    }
    if let Json::Object(map) = &mut tidied {
        if map.get("type").and_then(Json::as_str) == Some("object") && !map.contains_key("properties") {
            map.insert("properties".to_owned(), json!({}));
        }
    }
    tidied
}

struct Inliner<'s> {
    defs: &'s Map<String, Json>,
    /// The definitions that are being written: one of them again is a type that contains itself.
    open: Vec<String>,
    /// The definitions that references are left to, in the order of their first use.
    kept: Vec<String>,
    nodes: usize,
}

impl Inliner<'_> {
    /// A schema that may be a reference.
    fn schema(&mut self, json: &Json) -> Json {
        self.nodes += 1;
        let name = json.get("$ref").and_then(Json::as_str).and_then(|target| target.strip_prefix("#/$defs/"));
        let Some(name) = name.map(|name| name.replace("~1", "/").replace("~0", "~")) else {
            return self.body(json);
        };
        let Some(def) = self.defs.get(&name) else { return json.clone() };
        if self.open.contains(&name) || self.nodes > NODES {
            if !self.kept.contains(&name) {
                self.kept.push(name);
            }
            return json.clone();
        }
        self.open.push(name);
        let mut body = self.body(def);
        self.open.pop();
        // What stands beside a reference is about this place.
        if let (Json::Object(body), Json::Object(beside)) = (&mut body, json) {
            for (key, value) in beside.iter().filter(|(key, _)| *key != "$ref" && *key != "title") {
                body.insert(key.clone(), value.clone());
            }
        }
        body
    }

    fn body(&mut self, json: &Json) -> Json {
        let Json::Object(map) = json else { return json.clone() };
        let mut out = Map::new();
        for (key, value) in map {
            let tidied = match (key.as_str(), value) {
                ("$schema" | "title", Json::String(_)) => continue,
                ("format", Json::String(format)) if is_of_a_number(format) => continue,
                ("properties" | "patternProperties" | "$defs" | "dependentSchemas", Json::Object(inner)) => {
                    inner.iter().map(|(name, schema)| (name.clone(), self.schema(schema))).collect()
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Json::Array(inner)) => {
                    inner.iter().map(|schema| self.schema(schema)).collect()
                }
                ("items" | "additionalProperties" | "not" | "contains" | "propertyNames", inner) => {
                    self.schema(inner)
                }
                _ => value.clone(),
            };
            out.insert(key.clone(), tidied);
        }
        Json::Object(out)
    }
}

/// `uint8`, `int64`, `double`: what schemars says of Rust's numbers.
fn is_of_a_number(format: &str) -> bool {
    format == "float"
        || format == "double"
        || format
            .strip_prefix("uint")
            .or_else(|| format.strip_prefix("int"))
            .is_some_and(|bits| bits.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_stand_where_they_are_used() {
        let schema = json!({
            "$schema": "x", "title": "Args", "type": "object",
            "properties": {
                "title": {"type": "string", "title": "Title"},
                "at": {"description": "where", "$ref": "#/$defs/Place"},
                "count": {"type": "integer", "format": "uint8", "minimum": 0},
                "day": {"type": "string", "format": "date"},
            },
            "required": ["title"],
            "$defs": {"Place": {"type": "object", "description": "a place", "properties": {"x": {"type": "number", "format": "double"}}}},
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "at": {"type": "object", "description": "where", "properties": {"x": {"type": "number"}}},
                "count": {"type": "integer", "minimum": 0},
                "day": {"type": "string", "format": "date"},
            },
            "required": ["title"],
        });
        assert_eq!(tidy(schema), expected);
    }

    #[test]
    fn a_type_that_contains_itself_stays_a_definition() {
        let tree = json!({"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]}}});
        let schema = json!({"type": "object", "properties": {"tree": {"$ref": "#/$defs/Tree"}}, "$defs": {"Tree": tree}});
        let tidied = tidy(schema);
        assert_eq!(tidied["properties"]["tree"], tree);
        assert_eq!(tidied["$defs"], json!({"Tree": tree}));
    }

    #[test]
    fn nothing_is_an_empty_object() {
        for schema in [json!({"type": "null"}), json!({"type": "object"})] {
            assert_eq!(tidy(schema), json!({"type": "object", "properties": {}}));
        }
    }
}
