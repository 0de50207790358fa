//! For each quirk of DSPy that is a defect: a function that sees that our result is better.

use std::borrow::Cow;
use std::fmt;

use imp::{Chat, Dialect, Fields, SignatureSpec, Value};
use serde_json::Value as Json;

use super::case::{Case, Failure, Outcome, given};

/// Whether our result for a case does the better thing.
#[derive(Clone, Copy)]
pub(super) struct Check(fn(&Case<'_>, &Outcome) -> bool);

impl Check {
    pub(super) fn holds(self, case: &Case<'_>, outcome: &Outcome) -> bool {
        (self.0)(case, outcome)
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Check")
    }
}

/// The checks, by the names that `differences.toml` has for them.
const CHECKS: [(&str, Check); 21] = [
    ("one name for a union", Check(one_union_name)),
    ("input text is never interpreted", Check(plain_text)),
    ("a list on a text field is JSON", Check(list_as_json)),
    ("a demo without a history is complete", Check(demo_without_history)),
    ("a history is one or an error", Check(history_or_error)),
    ("no output is said to be None", Check(no_none)),
    ("no empty list of tool calls", Check(no_empty_calls)),
    ("the name is refused", Check(completed_refused)),
    ("a missing output is an error", Check(is_error)),
    ("training data as for chat", Check(training_data)),
    ("the value follows the marker", Check(value_after_marker)),
    ("a number is never two", Check(one_number)),
    ("a member is found by its text", Check(member_by_text)),
    ("quotes are no part of a member", Check(member_in_quotes)),
    ("text falls back to text", Check(text_fallback)),
    ("text is taken as it is", Check(text_as_it_is)),
    ("one value or an error", Check(one_value)),
    ("one error type that names the field", Check(parse_error)),
    ("json_object is asked for", Check(json_object)),
    ("a text is its JSON", Check(text_is_json)),
    ("no number is made of a truth value", Check(no_number_of_truth)),
];

/// The check of that name.
pub(super) fn named(name: &str) -> Option<Check> {
    CHECKS.iter().find(|(known, _)| *known == name).map(|(_, check)| *check)
}

fn contents(outcome: &Outcome) -> Option<Vec<(&str, &str)>> {
    let Outcome::Messages(messages) = outcome else { return None };
    messages.iter().map(|message| Some((message["role"].as_str()?, message["content"].as_str()?))).collect()
}

/// `pep604-union-name`: what DSPy prints for the other spelling of the union.
fn one_union_name(case: &Case<'_>, outcome: &Outcome) -> bool {
    let Some(ours) = contents(outcome) else { return false };
    let theirs = case.json["expected"]["messages"].as_array().into_iter().flatten();
    let theirs: Vec<_> = theirs
        .map(|message| {
            let content = message["content"].as_str().unwrap_or_default();
            (message["role"].as_str().unwrap_or_default(), content.replace("UnionType[", "Union["))
        })
        .collect();
    theirs.iter().map(|(role, content)| (*role, content.as_str())).eq(ours)
}

/// `custom-type-marker-injection`: every given text stands in the request, in one plain text.
fn plain_text(case: &Case<'_>, outcome: &Outcome) -> bool {
    let Some(ours) = contents(outcome) else { return false };
    let Some((_, request)) = ours.last() else { return false };
    inputs(case).all(|name| match given(case, "inputs", name) {
        Some(Value::String(text)) => request.contains(&format!("[[ ## {name} ## ]]\n{text}\n")),
        _ => true,
    })
}

/// `schema-nested-dict-emptied`, `schema-optional-dict-left-open`: no schema is sent, but the weaker form.
fn json_object(_: &Case<'_>, outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Error(failure) if failure.message == "no schema but Object")
}

fn inputs<'c>(case: &Case<'c>) -> impl Iterator<Item = &'c str> {
    case.json["signature"]["inputs"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|field| field["name"].as_str())
}

/// `list-on-str-nonstr-item`: the section reads as the JSON list that was given.
fn list_as_json(case: &Case<'_>, outcome: &Outcome) -> bool {
    let Some(ours) = contents(outcome) else { return false };
    let Some((_, request)) = ours.last() else { return false };
    let lists = inputs(case).filter_map(|name| match given(case, "inputs", name) {
        Some(list @ Value::List(_)) => Some((name, list)),
        _ => None,
    });
    lists.into_iter().all(|(name, list)| {
        let section = section(request, name);
        section.is_some_and(|text| {
            serde_json::from_str::<Json>(text).is_ok_and(|json| Value::from(json) == list)
        })
    })
}

/// What the reply says of an output: its section, its element, or the text of its JSON.
fn written<'c>(case: &Case<'c>, name: &str) -> Option<Cow<'c, str>> {
    let reply = case.json["lm_text"].as_str()?;
    if let Some(text) = section(reply, name) {
        return Some(text.into());
    }
    match serde_json::from_str::<Json>(reply).ok()?.get(name)? {
        Json::String(text) => Some(text.clone().into()),
        json => Some(json.to_string().into()),
    }
}

/// The text between a section's marker and the next one, or between an element's tags.
fn section<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    marked(text, name).or_else(|| elements(text, name).next())
}

/// What is between the tags of the elements of that name, which have no attributes.
fn elements<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(open.as_str())?;
        let (content, after) = after.split_once(close.as_str())?;
        rest = after;
        Some(content.trim())
    })
}

fn marked<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let marker = format!("[[ ## {name} ## ]]");
    let mut lines = text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    });
    let (start, _) = lines.find(|(_, line)| line.trim_start().starts_with(&marker))?;
    let from = start + text[start..].find(&marker)? + marker.len();
    let to = lines.find(|(_, line)| is_marker(line)).map_or(text.len(), |(start, _)| start);
    let end = text[from..to].find("\n\nRespond with").map_or(to, |at| from + at);
    Some(text[from..end].trim())
}

fn is_marker(line: &str) -> bool {
    let name = line.trim_start().strip_prefix("[[ ## ").and_then(|rest| rest.split_once(" ## ]]"));
    name.is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c == '_' || c.is_alphanumeric()))
}

/// `demo-missing-history-incomplete`: a demo is incomplete only if another field lacks a value.
fn demo_without_history(case: &Case<'_>, outcome: &Outcome) -> bool {
    let Some(ours) = contents(outcome) else { return false };
    let marked =
        ours.iter().filter(|(_, content)| content.starts_with("This is an example of the task, though"));
    let fields = |side: &str| case.json["signature"][side].as_array().cloned().unwrap_or_default();
    let fields: Vec<Json> = fields("inputs").into_iter().chain(fields("outputs")).collect();
    let demos = case.json["demos"].as_array().into_iter().flatten();
    let incomplete = demos.filter(|demo| {
        let lacks = |field: &&Json| {
            let pairs = demo.as_array().into_iter().flatten();
            field["type"] != "history"
                && !pairs.into_iter().any(|pair| pair[0] == field["name"] && !pair[1].is_null())
        };
        fields.iter().any(|field| lacks(&field))
    });
    marked.count() == incomplete.count()
}

/// `history-none-crash`: none is an empty history, anything else that is no history a clear error.
fn history_or_error(case: &Case<'_>, outcome: &Outcome) -> bool {
    let history = inputs(case).find(|name| {
        let fields = case.json["signature"]["inputs"].as_array().into_iter().flatten();
        fields.into_iter().any(|field| field["name"] == *name && field["type"] == "history")
    });
    match (history.and_then(|name| given(case, "inputs", name)), outcome) {
        (None | Some(Value::Null), Outcome::Messages(messages)) => messages.len() == 2,
        // `{"messages": [turn…]}` is how a history is written as data.
        (Some(Value::Map(map)), Outcome::Messages(messages)) => match map.get("messages") {
            Some(Value::List(turns)) if map.len() == 1 => (messages.len() > 2) != turns.is_empty(),
            _ => false,
        },
        (Some(Value::Map(_) | Value::List(_) | Value::String(_)), Outcome::Error(failure)) => {
            !failure.message.is_empty()
        }
        _ => false,
    }
}

/// `history-missing-output-none`: no assistant's message has a section `None`.
fn no_none(_: &Case<'_>, outcome: &Outcome) -> bool {
    contents(outcome).is_some_and(|ours| {
        let said = ours.iter().filter(|(role, _)| *role == "assistant");
        said.into_iter().all(|(_, content)| !content.lines().any(|line| line == "None"))
    })
}

/// `native-empty-tool-calls`: the key is left out.
fn no_empty_calls(_: &Case<'_>, outcome: &Outcome) -> bool {
    let Outcome::Messages(messages) = outcome else { return false };
    messages
        .iter()
        .all(|message| message.get("tool_calls").is_none_or(|calls| *calls != Json::Array(Vec::new())))
}

/// `field-named-completed`: refused when the signature is built, by name.
fn completed_refused(_: &Case<'_>, outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Error(Failure { field: Some(field), .. }) if field == "completed")
}

/// `finetune-missing-output-none`: an error.
fn is_error(_: &Case<'_>, outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Error(_))
}

/// `finetune-json-not-implemented`: the last message is the assistant's, with all outputs in one object.
fn training_data(case: &Case<'_>, outcome: &Outcome) -> bool {
    let Some(ours) = contents(outcome) else { return false };
    let Some(("assistant", content)) = ours.last() else { return false };
    let Ok(Json::Object(object)) = serde_json::from_str(content) else { return false };
    let mut outputs = case.outputs().filter_map(|field| field["name"].as_str());
    outputs.all(|name| match (given(case, "outputs", name), object.get(name)) {
        (Some(given), Some(ours)) => Value::from(ours.clone()) == given,
        _ => false,
    })
}

/// `marker-slice-unstripped`: the values are those of the same reply with its markers at the line starts.
fn value_after_marker(case: &Case<'_>, outcome: &Outcome) -> bool {
    let Some(reply) = case.json["lm_text"].as_str() else { return false };
    let lines = reply.split('\n').map(|line| if is_marker(line) { line.trim_start() } else { line });
    let aligned = lines.collect::<Vec<_>>().join("\n");
    let Ok(spec) = SignatureSpec::from_json(&case.json["signature"]) else { return false };
    match (outcome, Chat::new().dialect(Dialect::Dspy).read_fields(&spec, aligned.as_str())) {
        (Outcome::Fields(ours), Ok(aligned)) => *ours == aligned,
        _ => false,
    }
}

/// The digits of all numbers and texts in a value, in order.
fn digits(value: &Value, out: &mut String) {
    let text = match value {
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::List(items) => return items.iter().for_each(|item| digits(item, out)),
        Value::Map(map) => return map.iter().for_each(|(_, item)| digits(item, out)),
        _ => return,
    };
    out.extend(text.chars().filter(char::is_ascii_digit));
}

/// `thousands-separator-tuple`: refused, or read with every digit that was written.
fn one_number(case: &Case<'_>, outcome: &Outcome) -> bool {
    let fields = match outcome {
        Outcome::Fields(fields) => fields,
        Outcome::Error(failure) => return failure.parse.is_some(),
        _ => return false,
    };
    fields.iter().all(|(name, value)| {
        let (mut ours, mut theirs) = (String::new(), String::new());
        digits(value, &mut ours);
        digits(&written(case, name).unwrap_or_default().as_ref().into(), &mut theirs);
        ours == theirs
    })
}

/// The types of a described type that hold members: literals and enums.
fn members(ty: &Json) -> Vec<Json> {
    let mut found = Vec::new();
    let mut open = vec![ty];
    while let Some(ty) = open.pop() {
        if let Some(values) = ty["literal"].as_array() {
            found.extend(values.iter().cloned());
        }
        for member in ty["enum"]["members"].as_array().into_iter().flatten() {
            found.push(member[1].clone());
        }
        open.extend(["list", "optional"].iter().filter_map(|key| ty.get(key)));
    }
    found
}

/// `int-enum-value-unmatchable`, `int-literal-unmatchable`: the member whose text it is. Where no member
/// has that text the value is refused; other outputs of the reply may be wrong in their own right.
fn member_by_text(case: &Case<'_>, outcome: &Outcome) -> bool {
    let Some(reply) = case.json["lm_text"].as_str() else { return false };
    let known = match outcome {
        Outcome::Fields(fields) => fields,
        Outcome::Error(Failure { parse: Some(error), .. }) => error.fields(),
        _ => return false,
    };
    case.outputs().all(|field| {
        let members = members(&field["type"]);
        let name = field["name"].as_str().unwrap_or_default();
        if let (Some(properties), Some(Value::Map(ours))) =
            (field["type"]["object"]["fields"].as_array(), known.get(name))
        {
            return properties.iter().all(|property| property_by_text(reply, property, ours));
        }
        if !members.iter().any(Json::is_number) {
            return true;
        }
        let text = written(case, name).unwrap_or_default();
        let items: Vec<String> = match serde_json::from_str(&text) {
            Ok(Json::Array(items)) => items.iter().map(plain).collect(),
            _ => vec![text.trim_matches(['"', '`', '\'']).to_owned()],
        };
        let meant: Option<Vec<&Json>> =
            items.iter().map(|item| members.iter().find(|member| plain(member) == *item)).collect();
        match (meant, known.get(name)) {
            (Some(meant), Some(Value::List(ours))) => {
                meant.iter().map(|&member| Value::from(member.clone())).eq(ours.iter().cloned())
            }
            (Some(meant), Some(ours)) => meant.iter().all(|&member| Value::from(member.clone()) == *ours),
            (Some(_), None) => false,
            // Not a member's text: refused, or read as DSPy reads the same number outside a section.
            (None, _) => true,
        }
    })
}

/// The same for a property of an object in XML.
fn property_by_text(reply: &str, property: &Json, ours: &imp::Map) -> bool {
    let members = members(&property["type"]);
    let name = property["name"].as_str().unwrap_or_default();
    let text = elements(reply, name).next();
    let meant = members.iter().find(|member| Some(plain(member).as_str()) == text);
    match meant {
        Some(meant) if meant.is_number() => ours.get(name) == Some(&Value::from(meant.clone())),
        _ => true,
    }
}

/// `xml-duplicate-str-repr`: one of the values that were given, or an error about the output.
fn one_value(case: &Case<'_>, outcome: &Outcome) -> bool {
    let Some(reply) = case.json["lm_text"].as_str() else { return false };
    match outcome {
        Outcome::Fields(fields) => fields.iter().all(|(name, value)| match value.as_str() {
            Some(text) => elements(reply, name).any(|given| given == text),
            None => true,
        }),
        Outcome::Error(Failure { parse: Some(error), .. }) => !error.failures().is_empty(),
        _ => false,
    }
}

fn plain(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

fn read(outcome: &Outcome) -> Option<&Fields> {
    match outcome {
        Outcome::Fields(fields) => Some(fields),
        _ => None,
    }
}

/// `enum-quoted-fails`: as for a literal, the quotes are taken off.
fn member_in_quotes(case: &Case<'_>, outcome: &Outcome) -> bool {
    let Some(ours) = read(outcome) else { return false };
    ours.iter().all(|(name, value)| {
        let text = written(case, name).unwrap_or_default();
        value.as_str().is_none() || value.as_str() == Some(text.trim_matches(['"', '\'']))
    })
}

/// `union-str-no-text-fallback`: where a text is welcome and nothing else fits, the text that was written.
fn text_fallback(case: &Case<'_>, outcome: &Outcome) -> bool {
    let Some(ours) = read(outcome) else { return false };
    let welcome =
        |ty: &Json| ty == "any" || ty["union"].as_array().is_some_and(|types| types.contains(&"str".into()));
    let mut texts = case
        .outputs()
        .filter(|field| welcome(&field["type"]) || welcome(&field["type"]["optional"]))
        .filter_map(|field| field["name"].as_str())
        .filter_map(|name| Some((ours.get(name)?.as_str()?, written(case, name)?)))
        .peekable();
    texts.peek().is_some() && texts.all(|(ours, written)| ours == written)
}

/// `reasoning-json-repaired`: a reasoning is its section's text.
fn text_as_it_is(case: &Case<'_>, outcome: &Outcome) -> bool {
    let Some(ours) = read(outcome) else { return false };
    let mut reasonings = case.outputs().filter(|field| field["type"] == "reasoning");
    reasonings.all(|field| {
        let name = field["name"].as_str().unwrap_or_default();
        ours.get(name).and_then(Value::as_str) == written(case, name).as_deref()
    })
}

/// `json-parse-raw-exception`: a parse error with the name of an output.
fn parse_error(_: &Case<'_>, outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Error(Failure { parse: Some(error), .. }) => {
            !error.failures().is_empty() || !error.missing().is_empty()
        }
        _ => false,
    }
}

/// `json-str-python-repr`: a text output that was given other JSON is the text of that JSON; null is none.
fn text_is_json(case: &Case<'_>, outcome: &Outcome) -> bool {
    let reply = case.json["lm_text"].as_str().unwrap_or_default();
    let object = reply.find('{').zip(reply.rfind('}')).and_then(|(from, to)| reply.get(from..=to));
    let Ok(Json::Object(reply)) = serde_json::from_str::<Json>(object.unwrap_or_default()) else {
        return false;
    };
    let null = |name: &str| reply.get(name).is_some_and(Json::is_null);
    let mut texts =
        case.outputs().filter(|field| field["type"] == "str").filter_map(|field| field["name"].as_str());
    match outcome {
        Outcome::Fields(ours) => texts.all(|name| {
            let Some(ours) = ours.get(name).and_then(Value::as_str) else { return false };
            match reply.get(name) {
                Some(Json::String(text)) => text == ours,
                Some(Json::Null) | None => true,
                // Numbers in Python's spelling, which is JSON too.
                Some(json) => serde_json::from_str::<Json>(ours).is_ok_and(|ours| ours == *json),
            }
        }),
        Outcome::Error(Failure { parse: Some(error), .. }) => {
            let said = error.failures().iter().map(|failure| &failure.field).chain(error.missing());
            said.into_iter().any(|name| null(name))
        }
        _ => false,
    }
}

/// `bool-as-number`: `true` is refused where a number is asked for, or is the text that it was written as.
fn no_number_of_truth(case: &Case<'_>, outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Fields(ours) => {
            let theirs = case.json["expected"]["fields"].as_array().into_iter().flatten();
            theirs.into_iter().all(|pair| {
                let ours = ours.get(pair[0].as_str().unwrap_or_default());
                ours.is_some_and(|ours| *ours == Value::from(pair[1].clone()) || ours.as_str().is_some())
            })
        }
        Outcome::Error(Failure { parse: Some(error), .. }) => !error.failures().is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use imp::Map;

    #[test]
    fn sections_are_cut_at_markers() {
        let text = "x\n  [[ ## a ## ]] 1\n2\n\n[[ ## b ## ]]\n3\n\nRespond with the";
        assert_eq!(section(text, "a"), Some("1\n2"));
        assert_eq!(section(text, "b"), Some("3"));
        assert_eq!(section(text, "c"), None);
        let text = "<a>\n1\n</a> <b>2</b><a>3</a><c>";
        assert_eq!(elements(text, "a").collect::<Vec<_>>(), ["1", "3"]);
        assert_eq!(section(text, "b"), Some("2"));
        assert_eq!(section(text, "c"), None);
    }

    #[test]
    fn digits_keep_what_a_tuple_loses() {
        let mut out = String::new();
        digits(&Value::Map(Map::from([("a", Value::List(vec![1.into(), 0.into()]))])), &mut out);
        assert_eq!(out, "10");
    }
}
