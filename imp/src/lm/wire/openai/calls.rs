//! Tool calls as this wire has them: each with an id of its own, and every result with the id of its call.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Serialize;
use serde::ser::{Error as _, SerializeMap as _, Serializer};

use crate::message::{Message, Role, ToolCall};
use crate::tool_definition::is_name;
use crate::value::{Map, Value};

/// What a message says of tool calls.
#[derive(Debug, Default)]
pub(super) struct Sent<'a> {
    /// The calls of an assistant.
    pub(super) calls: Vec<SentCall<'a>>,
    /// The id of the call that a tool's message answers.
    pub(super) answers: Option<Cow<'a, str>>,
}

/// A call with the id that it has in the request.
#[derive(Debug)]
pub(super) struct SentCall<'a> {
    id: Cow<'a, str>,
    call: &'a ToolCall,
}

/// What each message says of tool calls. A call without an id is called after its tool; one whose id was there
/// before gets a number behind it, since providers refuse a conversation that has an id twice (Imp §17). Results
/// follow their calls. A longer conversation gives its beginning the same ids.
pub(super) fn sent(messages: &[Message]) -> Vec<Sent<'_>> {
    let mut used: HashSet<Cow<'_, str>> = HashSet::new();
    // The calls that have no result yet: the id they were given, and the one they have.
    let mut open: Vec<(&str, Cow<'_, str>)> = Vec::new();
    let mut all = Vec::with_capacity(messages.len());
    for message in messages {
        let mut sent = Sent::default();
        if message.role == Role::Tool {
            sent.answers = Some(answered(message.tool_call_id.as_deref(), &mut open));
        } else if !message.tool_calls.is_empty() {
            open.clear();
            for call in &message.tool_calls {
                let id = free(call, &used);
                used.insert(id.clone());
                open.push((&call.id, id.clone()));
                sent.calls.push(SentCall { id, call });
            }
        }
        all.push(sent);
    }
    all
}

/// The id of the call that a result answers: the first open one that was given the result's id, else, for a
/// result without an id, the first open one that had none.
fn answered<'a>(given: Option<&'a str>, open: &mut Vec<(&'a str, Cow<'a, str>)>) -> Cow<'a, str> {
    let given = given.unwrap_or_default();
    match open.iter().position(|(id, _)| *id == given) {
        Some(at) => open.remove(at).1,
        None if given.is_empty() => Cow::Borrowed("tool_result"),
        None => Cow::Borrowed(given),
    }
}

/// An id that no call before this one has.
fn free<'a>(call: &'a ToolCall, used: &HashSet<Cow<'a, str>>) -> Cow<'a, str> {
    let id = if call.id.is_empty() {
        Cow::Owned(format!("call_{}", legal(&call.name)))
    } else {
        Cow::Borrowed(&*call.id)
    };
    if !used.contains(&id) {
        return id;
    }
    // One of so many numbers is free.
    let mut numbers = (2..=used.len() + 2).map(|number| Cow::Owned(format!("{id}_{number}")));
    numbers.find(|numbered| !used.contains(numbered)).unwrap_or(id)
}

/// A name that providers take: a model may have called a tool that cannot exist.
fn legal(name: &str) -> Cow<'_, str> {
    if is_name(name) {
        return Cow::Borrowed(name);
    }
    let legal = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().take(64).map(legal).collect();
    Cow::Owned(if name.is_empty() { "unknown".to_owned() } else { name })
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    /// On this wire the arguments are a text that holds JSON.
    arguments: String,
}

impl Serialize for SentCall<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let call = self.call;
        // What could not be read is no JSON of its own.
        let received = |received: &Value| Map::from([("received", received.clone())]);
        let arguments = match &call.malformed {
            Some(malformed) => serde_json::to_string(&received(malformed)),
            None => serde_json::to_string(&call.arguments),
        };
        let arguments = arguments.map_err(S::Error::custom)?;
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("type", "function")?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("function", &Function { name: legal(&call.name), arguments })?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a=x,y` is an assistant that calls x and y (`:x` a call of x without an id), `t=x` a result of x.
    fn ids(conversation: &[&str]) -> Vec<String> {
        let messages: Vec<Message> = conversation
            .iter()
            .map(|turn| match turn.split_once('=') {
                Some(("t", id)) => Message::tool(id, "done"),
                Some((_, calls)) => {
                    let mut message = Message::assistant("");
                    message.tool_calls = calls
                        .split(',')
                        .map(|id| match id.strip_prefix(':') {
                            Some(name) => ToolCall::new("", name, Map::new()),
                            None => ToolCall::new(id, "f", Map::new()),
                        })
                        .collect();
                    message
                }
                None => Message::user(*turn),
            })
            .collect();
        let all = sent(&messages);
        all.iter()
            .map(|sent| match &sent.answers {
                Some(id) => id.to_string(),
                None => sent.calls.iter().map(|call| &*call.id).collect::<Vec<_>>().join(","),
            })
            .collect()
    }

    #[test]
    fn every_call_has_an_id_of_its_own_and_its_result_too() {
        for (conversation, expected) in [
            (&["u", "a=x", "t=x"][..], &["", "x", "x"][..]),
            (&["a=x", "t=x", "a=x", "t=x", "a=x", "t=x"], &["x", "x", "x_2", "x_2", "x_3", "x_3"]),
            (&["a=x,x", "t=x", "t=x"], &["x,x_2", "x", "x_2"]),
            (&["a=x_2", "t=x_2", "a=x", "t=x", "a=x", "t=x"], &["x_2", "x_2", "x", "x", "x_3", "x_3"]),
            (&["a=:f,:g", "t=", "t="], &["call_f,call_g", "call_f", "call_g"]),
            (&["a=:f", "t=", "a=:f", "t="], &["call_f", "call_f", "call_f_2", "call_f_2"]),
            (&["a=:f,x", "t=x", "t="], &["call_f,x", "x", "call_f"]),
            (&["a=:web search", "t="], &["call_web_search", "call_web_search"]),
            (&["t=y", "t="], &["y", "tool_result"]),
        ] {
            assert_eq!(ids(conversation), expected, "{conversation:?}");
        }
    }
}
