//! The format kind: messages are built, no model is called.

use imp::{
    Adapter, Chat, Demo, Fields, FormatOptions, Message, Missing, Reply, Role, Value, Xml, read_reply,
    read_with,
};
use serde_json::{Map, Value as Json};

use super::signature::{Signature, same};
use super::{check_keys, is_error};

struct Run {
    signature: Signature,
    adapter: Box<dyn Adapter>,
    inputs: Fields,
    given: Map<String, Json>,
    messages: Vec<Message>,
}

/// Builds the messages, and returns what judges them.
#[allow(clippy::unnecessary_wraps)] // as the other kinds
pub(super) fn run(case: &Map<String, Json>) -> Result<impl Fn(&Json) -> Result<(), String> + use<>, String> {
    let built = build(case);
    Ok(move |expected: &Json| match (&built, expected) {
        (Err(Built::Error(_)), expected) if is_error(expected) => Ok(()),
        (Err(Built::Error(error)), _) => Err(format!("the error {error}")),
        (Err(Built::Unsupported(error)), _) => Err(error.clone()),
        (Ok(run), Json::Object(map)) => run.judge(map),
        (Ok(run), _) => Err(format!("{:?}", run.messages)),
    })
}

enum Built {
    /// The signature or the messages cannot be built.
    Error(String),
    /// The case itself cannot be run.
    Unsupported(String),
}

fn build(case: &Map<String, Json>) -> Result<Run, Built> {
    let unsupported = |error: &str| Built::Unsupported(error.to_owned());
    let input =
        case.get("input").and_then(Json::as_object).ok_or_else(|| unsupported("a case has an `input`"))?;
    check_keys(input, &["inputs", "demos", "instructions", "adapter"]).map_err(Built::Unsupported)?;
    let instructions = input.get("instructions").and_then(Json::as_str);
    let signature =
        Signature::new(case.get("signature").unwrap_or(&Json::Null), instructions).map_err(Built::Error)?;
    let adapter: Box<dyn Adapter> = match input.get("adapter").map(|adapter| adapter.as_str()) {
        None | Some(Some("chat")) => Box::new(Chat::new()),
        Some(Some("json")) => Box::new(imp::Json::new()),
        Some(Some("xml")) => Box::new(Xml::new()),
        _ => return Err(unsupported("an unknown adapter")),
    };
    let mut given = input.get("inputs").and_then(Json::as_object).cloned().unwrap_or_default();
    // It names the message, unless the signature has a field of that name.
    let declared = signature.inputs.iter().any(|(name, _)| name == "user_name");
    // As a program does: an absent input has its default.
    let mut complete = given.clone();
    for field in signature.spec.inputs() {
        if let (Some(default), false) = (field.default(), given.contains_key(field.name())) {
            complete.insert(field.name().to_owned(), serde_json::to_value(default).unwrap_or_default());
        }
    }
    let inputs = fields(&complete);
    if !declared {
        given.remove("user_name");
    }
    let mut options = FormatOptions::new();
    for demo in input.get("demos").and_then(Json::as_array).into_iter().flatten() {
        options = options.demo(Demo::from_fields(fields(demo.as_object().unwrap_or(&Map::new()))));
    }
    let messages = adapter
        .messages(&signature.spec, &inputs, &options)
        .map_err(|error| Built::Error(error.to_string()))?;
    Ok(Run { signature, adapter, inputs, given, messages })
}

fn fields(map: &Map<String, Json>) -> Fields {
    map.iter().map(|(key, value)| (key.clone(), Value::from(value.clone()))).collect::<imp::Map>().into()
}

impl Run {
    fn judge(&self, expected: &Map<String, Json>) -> Result<(), String> {
        for (key, wanted) in expected {
            let of = |role: Role| self.messages.iter().find(|message| message.role == role);
            let user = || self.messages.iter().rfind(|message| message.role == Role::User);
            match key.as_str() {
                "roles" => {
                    let roles: Vec<&str> =
                        self.messages.iter().map(|message| message.role.as_str()).collect();
                    if *wanted != Json::from(roles.as_slice()) {
                        return Err(format!("the roles {roles:?}"));
                    }
                }
                "system_message" => self.message(of(Role::System), wanted)?,
                "user_message" => self.message(user(), wanted)?,
                "demo_user" => self.message(of(Role::User), wanted)?,
                "demo_assistant" => self.message(of(Role::Assistant), wanted)?,
                "system_and_user" => {
                    let texts: Vec<String> = [of(Role::System), user()]
                        .into_iter()
                        .flatten()
                        .map(|m| m.text().into_owned())
                        .collect();
                    self.message(Some(&Message::user(texts.join("\n"))), wanted)?;
                }
                "all_messages" => {
                    let texts: Vec<String> = self.messages.iter().map(|m| m.text().into_owned()).collect();
                    self.message(Some(&Message::user(texts.join("\n"))), wanted)?;
                }
                "round_trip" => self.round_trip(wanted)?,
                "succeeds" if *wanted == Json::Bool(true) => {}
                _ => return Err(format!("an unknown key `{key}` of `expected`")),
            }
        }
        Ok(())
    }

    /// Each value, written by the adapter and read back by it.
    fn round_trip(&self, wanted: &Json) -> Result<(), String> {
        let wanted = wanted.as_object().ok_or("`round_trip` is a map")?;
        let spec = self.signature.inputs_as_outputs(&|name| wanted.contains_key(name))?;
        let text = self
            .adapter
            .assistant_content(&spec, &self.inputs, Missing::LeaveOut)
            .map_err(|error| error.to_string())?;
        let read: Fields = read_reply(&*self.adapter, &spec, Reply::Text(&text))
            .map_err(|error| format!("{error}\n{text}"))?;
        self.compare(wanted, &read).map_err(|error| format!("{error}\n{text}"))
    }

    fn compare(&self, wanted: &Map<String, Json>, read: &Fields) -> Result<(), String> {
        for (name, value) in wanted {
            let (_, ty) = self
                .signature
                .inputs
                .iter()
                .find(|(input, _)| input == name)
                .ok_or("there is no such input")?;
            if !read.get(name).is_some_and(|ours| same(ty, value, ours)) {
                return Err(format!("`{name}` is {:?}", read.get(name)));
            }
        }
        Ok(())
    }

    /// The inputs' part of a message, without the reminder at its end.
    fn inputs_part<'t>(&self, text: &'t str) -> &'t str {
        let reminder = self.adapter.output_requirements(&self.signature.spec);
        text.trim_end().strip_suffix(reminder.trim()).unwrap_or(text).trim_end()
    }

    /// The text of an input's section, as it stands.
    fn section(&self, text: &str, name: &str) -> Option<String> {
        let part = self.inputs_part(text);
        if self.adapter.name() == "xml" {
            let (_, rest) = part.split_once(&format!("<{name}>"))?;
            return Some(rest.split_once(&format!("</{name}>"))?.0.trim().to_owned());
        }
        let is_marker = |line: &str| line.trim().starts_with("[[ ## ") && line.trim().ends_with(" ## ]]");
        let mut lines = part.lines().skip_while(|line| line.trim() != format!("[[ ## {name} ## ]]"));
        lines.next()?;
        Some(lines.take_while(|line| !is_marker(line)).collect::<Vec<_>>().join("\n").trim().to_owned())
    }

    #[allow(clippy::too_many_lines)] // one table of assertions
    fn message(&self, message: Option<&Message>, wanted: &Json) -> Result<(), String> {
        let message = message.ok_or("there is no such message")?;
        let text = message.text();
        let came = |what: &str| Err(format!("{what} in {text:?}"));
        for (key, wanted) in wanted.as_object().ok_or("assertions are an object")? {
            let texts: Vec<&str> = wanted.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
            let each = wanted.as_object().into_iter().flatten();
            match key.as_str() {
                "must_contain" => {
                    if let Some(part) = texts.iter().find(|part| !text.contains(**part)) {
                        return came(&format!("no {part:?}"));
                    }
                }
                "must_not_contain" => {
                    if let Some(part) = texts.iter().find(|part| text.contains(**part)) {
                        return came(&format!("{part:?}"));
                    }
                }
                "must_mention" => {
                    let text = text.to_lowercase();
                    if let Some(part) = texts.iter().find(|part| !text.contains(&part.to_lowercase())) {
                        return came(&format!("no mention of {part:?}"));
                    }
                }
                "contains_in_order" => {
                    let mut rest = &*text;
                    for part in texts {
                        let Some((_, after)) = rest.split_once(part) else {
                            return came(&format!("no {part:?} in its place"));
                        };
                        rest = after;
                    }
                }
                "sections" => {
                    for (name, wanted) in each {
                        let section = self.section(&text, name);
                        if section.as_deref() != wanted.as_str().map(str::trim) {
                            return came(&format!("the section {section:?}"));
                        }
                    }
                }
                "sections_mention" => {
                    for (name, wanted) in each {
                        let section = self.section(&text, name).unwrap_or_default().to_lowercase();
                        let parts = wanted.as_array().into_iter().flatten().filter_map(Json::as_str);
                        if !parts.into_iter().all(|part| section.contains(&part.to_lowercase())) {
                            return came(&format!("the section {section:?}"));
                        }
                    }
                }
                "parts" => {
                    let plain = matches!(message.content, imp::Content::Text(_));
                    if *wanted != serde_json::json!(["text"]) || !plain {
                        return came("other parts");
                    }
                }
                "name" => {
                    if message.name.as_deref() != wanted.as_str() {
                        return came(&format!("the name {:?}", message.name));
                    }
                }
                "lines_equal_to_an_output_marker" => {
                    let names = self.signature.outputs.iter().map(|(name, _)| name.as_str());
                    let markers: Vec<String> =
                        names.chain(["completed"]).map(|name| format!("[[ ## {name} ## ]]")).collect();
                    let count = text
                        .lines()
                        .filter(|line| markers.iter().any(|marker| marker == line.trim()))
                        .count();
                    if wanted.as_u64() != Some(count as u64) {
                        return came(&format!("{count} marker lines"));
                    }
                }
                "value_recoverable" if *wanted == Json::Bool(true) => {
                    let spec = self.signature.inputs_as_outputs(&|name| self.given.contains_key(name))?;
                    let part = self.inputs_part(&text);
                    // Inputs stand in sections, whatever the outputs are.
                    let read: Result<Fields, _> = if self.adapter.name() == "xml" {
                        read_reply(&*self.adapter, &spec, Reply::Text(part))
                    } else {
                        read_reply(&Chat::new(), &spec, Reply::Text(part))
                    };
                    let read = read.map_err(|error| format!("{error} in {text:?}"))?;
                    let known = |name: &str| self.signature.inputs.iter().any(|(input, _)| input == name);
                    let given = self.given.iter().filter(|(name, _)| known(name));
                    let given: Map<String, Json> =
                        given.map(|(name, value)| (name.clone(), value.clone())).collect();
                    self.compare(&given, &read).or_else(|error| came(&error))?;
                }
                "opens_no_section" => {
                    let part = self.inputs_part(&text);
                    let read: Result<imp::Read<Fields>, _> =
                        read_with(&*self.adapter, &self.signature.spec, part);
                    let fields = match &read {
                        Ok(read) => &**read,
                        Err(error) => error.fields(),
                    };
                    let given = |name: &&&str| fields.get(name).is_some_and(|value| !value.is_null());
                    if let Some(name) = texts.iter().find(given) {
                        return came(&format!("a section `{name}`"));
                    }
                }
                _ => return Err(format!("an unknown assertion `{key}`")),
            }
        }
        Ok(())
    }
}
