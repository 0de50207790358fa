//! One case: running it, and comparing the result.

use std::collections::BTreeSet;

use imp::{
    Adapter, Chat, Demo, Dialect, Fields, FormatOptions, Message, Missing, OutputForm, ParseError,
    ParseErrorKind, Reply, SignatureSpec, read_reply,
};
use serde_json::{Value as Json, json};

use super::Quirks;
use super::value::{Enums, decode, fields, same};

/// A case of the corpus.
#[derive(Debug)]
pub(super) struct Case<'c> {
    pub(super) id: &'c str,
    pub(super) kind: &'c str,
    pub(super) quirk: Option<&'c str>,
    pub(super) json: &'c Json,
    pub(super) enums: Enums<'c>,
    /// Whether stored turns repeat the reminder, as since DSPy 3.4.1.
    reminder: bool,
}

/// What `imp` makes of a case.
#[derive(Debug)]
pub enum Outcome {
    /// Messages as JSON.
    Messages(Vec<Json>),
    /// An assistant's text.
    Text(String),
    /// What a reply was read as.
    Fields(Fields),
    /// The schema that a provider is sent.
    Schema(Json),
    /// An error.
    Error(Failure),
    /// `imp` cannot express the case.
    Unsupported(String),
}

/// An error of any kind.
#[derive(Debug)]
pub struct Failure {
    /// Its text.
    pub message: String,
    /// The field that it names, if it is about a signature.
    pub field: Option<String>,
    /// The error of a parse, if it is one.
    pub parse: Option<ParseError>,
}

/// The quirk of histories that a case shows by what it is given; the files of a later version name none.
fn seen(json: &Json) -> Option<&'static str> {
    let fields = |side: &str| json["signature"][side].as_array().cloned().unwrap_or_default();
    let history = fields("inputs").into_iter().find(|field| field["type"] == "history")?;
    let has = |pairs: &Json, name: &Json| pairs.as_array().into_iter().flatten().any(|pair| pair[0] == *name);
    let given = json["inputs"].as_array()?.iter().find(|pair| pair[0] == history["name"])?;
    let mut turns = given[1]["$history"].as_array()?.iter();
    let outputs = fields("outputs");
    if turns.any(|turn| outputs.iter().any(|output| !has(turn, &output["name"]))) && json["native"] != true {
        return Some("history-missing-output-none");
    }
    let mut demos = json["demos"].as_array()?.iter();
    demos.any(|demo| !has(demo, &history["name"])).then_some("demo-missing-history-incomplete")
}

fn failure(error: &impl ToString) -> Outcome {
    Outcome::Error(Failure { message: error.to_string(), field: None, parse: None })
}

impl<'c> Case<'c> {
    pub(super) fn new(json: &'c Json, quirks: &'c Quirks, reminder: bool) -> Result<Self, String> {
        let text = |key: &str| json[key].as_str().ok_or_else(|| format!("a case without `{key}`: {json}"));
        Ok(Case {
            id: text("id")?,
            kind: text("kind")?,
            quirk: json["quirk"].as_str().or_else(|| quirks.of(text("id").ok()?)).or_else(|| seen(json)),
            json,
            enums: Enums::of(&json["signature"]),
            reminder,
        })
    }

    /// Whether the signature has a history or tool calls.
    pub(super) fn has_history(&self) -> bool {
        ["inputs", "outputs"]
            .iter()
            .filter_map(|side| self.json["signature"][side].as_array())
            .flatten()
            .any(|field| field["type"] == "history" || field["type"] == "tool_calls")
    }

    /// The described outputs.
    pub(super) fn outputs(&self) -> impl Iterator<Item = &'c Json> {
        self.json["signature"]["outputs"].as_array().into_iter().flatten()
    }

    pub(super) fn run(&self) -> Outcome {
        let spec = match SignatureSpec::from_json(&self.json["signature"]) {
            Ok(spec) => spec,
            Err(error) => {
                return Outcome::Error(Failure {
                    message: error.to_string(),
                    field: error.field().map(str::to_owned),
                    parse: None,
                });
            }
        };
        match self.json["adapter"].as_str() {
            Some("chat") => self.run_with(&Chat::new().dialect(Dialect::Dspy), &spec),
            Some("json") => self.run_with(&imp::Json::new().dialect(Dialect::Dspy), &spec),
            Some("xml") => self.run_with(&imp::Xml::new().dialect(Dialect::Dspy), &spec),
            adapter => Outcome::Unsupported(format!("the adapter {}", adapter.unwrap_or("?"))),
        }
    }

    fn run_with(&self, adapter: &dyn Adapter, spec: &SignatureSpec) -> Outcome {
        self.try_with(adapter, spec).unwrap_or_else(Outcome::Unsupported)
    }

    fn try_with(&self, adapter: &dyn Adapter, spec: &SignatureSpec) -> Result<Outcome, String> {
        Ok(match self.kind {
            "json_schema" => match adapter.output_form(spec) {
                OutputForm::Schema(schema) => Outcome::Schema(schema),
                form => failure(&format!("no schema but {form:?}")),
            },
            "format" | "json_format" | "xml_format" => {
                match adapter.messages(spec, &self.fields("inputs")?, &self.options()?) {
                    Ok(messages) => Outcome::Messages(messages.iter().map(message_json).collect()),
                    Err(error) => failure(&error),
                }
            }
            "finetune" => {
                let (inputs, outputs) = (self.fields("inputs")?, self.fields("outputs")?);
                match adapter.finetune_messages(spec, &inputs, &outputs, &self.options()?) {
                    Ok(messages) => Outcome::Messages(messages.iter().map(message_json).collect()),
                    Err(error) => failure(&error),
                }
            }
            "assistant" => {
                let missing = self.json["missing_field_message"].as_str();
                let missing = missing.map_or(Missing::LeaveOut, Missing::Say);
                match adapter.assistant_content(spec, &self.fields("outputs")?, missing) {
                    Ok(text) => Outcome::Text(text),
                    Err(error) => failure(&error),
                }
            }
            "parse" | "json_parse" | "xml_parse" => {
                let reply = self.json["lm_text"].as_str().ok_or("a case without `lm_text`")?;
                match read_reply(adapter, spec, Reply::Text(reply)) {
                    Ok(fields) => Outcome::Fields(fields),
                    Err(error) => Outcome::Error(Failure {
                        message: error.to_string(),
                        field: None,
                        parse: Some(error),
                    }),
                }
            }
            kind => Outcome::Unsupported(format!("the kind {kind}")),
        })
    }

    fn fields(&self, key: &str) -> Result<Fields, String> {
        fields(&self.json[key], &self.enums)
    }

    fn options(&self) -> Result<FormatOptions, String> {
        let native = self.json["native"] == true;
        let mut options = FormatOptions::new().history_reminder(self.reminder).native_tool_calls(native);
        for demo in self.json["demos"].as_array().into_iter().flatten() {
            options = options.demo(Demo::from_fields(fields(demo, &self.enums)?));
        }
        Ok(options)
    }
}

fn message_json(message: &Message) -> Json {
    let mut json = json!({ "role": message.role.as_str(), "content": message.text() });
    if !message.tool_calls.is_empty() {
        if message.text().is_empty() {
            json["content"] = Json::Null;
        }
        json["tool_calls"] = message
            .tool_calls
            .iter()
            .map(|call| {
                let function = json!({ "name": call.name, "arguments": python_json(&call.arguments) });
                json!({ "id": call.id, "type": "function", "function": function })
            })
            .collect();
    }
    if let Some(id) = &message.tool_call_id {
        json["tool_call_id"] = id.as_str().into();
    }
    if let Some(name) = &message.name {
        json["name"] = name.as_str().into();
    }
    json
}

/// A message without an empty list of tool calls: a [`Message`] without calls is one message, however it is
/// written, and no client sends an empty list (the quirk `native-empty-tool-calls`).
fn without_empty_calls(mut message: Json) -> Json {
    if let Some(map) = message.as_object_mut() {
        map.retain(|key, value| {
            key != "tool_calls" || value.as_array().is_none_or(|calls| !calls.is_empty())
        });
    }
    message
}

/// The arguments of a call as Python's `json.dumps` writes them.
fn python_json(arguments: &imp::Map) -> String {
    let spec =
        SignatureSpec::from_json(&json!({ "inputs": [], "outputs": [{ "name": "x", "type": "any" }] }));
    let record = Fields::from([("x", arguments.clone())]);
    let text = spec.ok().and_then(|spec| {
        Chat::new().dialect(Dialect::Dspy).assistant_content(&spec, &record, Missing::LeaveOut).ok()
    });
    let text = text.unwrap_or_default();
    text.lines().nth(1).unwrap_or_default().to_owned()
}

/// Whether our result is DSPy's.
pub(super) fn matches(case: &Case<'_>, outcome: &Outcome) -> bool {
    let expected = &case.json["expected"];
    if expected.get("error").is_some() {
        return match outcome {
            Outcome::Error(failure) => matches_error(case, expected, failure),
            _ => false,
        };
    }
    match outcome {
        Outcome::Messages(messages) => {
            let theirs = expected["messages"].as_array().into_iter().flatten().cloned();
            theirs.map(without_empty_calls).eq(messages.iter().cloned())
        }
        Outcome::Text(text) => expected["text"] == text.as_str(),
        Outcome::Schema(schema) => expected["schema"] == *schema,
        Outcome::Fields(ours) => {
            let typed = expected.get("typed").unwrap_or(&expected["fields"]);
            match fields(typed, &case.enums) {
                Ok(theirs) => same(&theirs.into_map().into(), &ours.clone().into_map().into()),
                Err(_) => false,
            }
        }
        Outcome::Error(_) | Outcome::Unsupported(_) => false,
    }
}

/// An error matches any other, but for the reason and, where outputs are missing, those that are not.
fn matches_error(case: &Case<'_>, expected: &Json, failure: &Failure) -> bool {
    let Some(parse) = &failure.parse else { return expected.get("reason").is_none() };
    match expected["reason"].as_str() {
        // JSONAdapter gives a wrong value the same reason, with all that the reply had; only the message
        // tells the two apart.
        Some("missing_fields") if wrong_field(expected).is_some() => {
            parse.failures().iter().any(|failure| Some(failure.field.as_str()) == wrong_field(expected))
        }
        Some("missing_fields") => {
            let there: BTreeSet<&str> = case
                .outputs()
                .filter_map(|field| field["name"].as_str())
                .filter(|name| !parse.missing().iter().any(|missing| missing == name))
                .collect();
            let theirs: BTreeSet<&str> =
                expected["parsed"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
            parse.kind() == ParseErrorKind::MissingFields && there == theirs
        }
        // DSPy reports the first failure in the order of the reply, and a wrong value before any
        // missing one; we report all of them.
        Some("bad_value") => !parse.failures().is_empty(),
        Some(_) | None => true,
    }
}

/// The output that DSPy could not read, if that is its error.
fn wrong_field(expected: &Json) -> Option<&str> {
    expected["message"].as_str()?.strip_prefix("Failed to parse field ")?.split([':', ' ']).next()
}

/// The value that one pair of the case encodes.
pub(super) fn given(case: &Case<'_>, key: &str, name: &str) -> Option<imp::Value> {
    let pair = case.json[key].as_array()?.iter().find(|pair| pair[0] == name)?;
    decode(&pair[1], &case.enums).ok()
}
