//! Looser spellings of values, for a salvage: a text becomes the text or the JSON that the exact reader takes.
//!
//! Each rule has one reading or none. What has none stays as it is, and the exact reader says what is wrong.

use std::borrow::Cow;
use std::ops::Range;

use super::denial::{denies, names, rejects};
use super::forgive::Slips;
use super::parser::Parser;
use super::{Source, is_container};
use crate::dialect::Dialect;
use crate::text::marker::{folded, is_blank};
use crate::text::write::json_text;
use crate::types::{Choice, Kind, Type, TypeTree};
use crate::value::{Map, Value};

/// Another spelling of what `source` says, for a field `name` of the type `tree`; `None` if there is none.
pub(crate) fn source(source: &Source<'_>, tree: &TypeTree, name: &str) -> Option<Source<'static>> {
    let loose = Loose { tree, name };
    let ty = tree.present(&tree.root);
    let value = match source {
        Source::Text(text) => loose.text(text, ty)?,
        // No answer, whatever the type.
        Source::Json(json) if json.trim_matches(is_blank) == "null" => return None,
        Source::Json(json) => loose.value(&json_value(json)?, &tree.root, true),
    };
    // A text stays a text: a date reads itself from one.
    match (source, value) {
        (Source::Text(_), Value::String(text)) => Some(Source::Text(text.into())),
        // The text `null` is a value; JSON's null is no answer (spec/imp.md §8.3).
        (_, Value::Null) => Some(Source::Text("null".into())),
        (_, value) => Some(Source::Json(json_text(&value).into())),
    }
}

/// An object in a text, its entries in order.
#[derive(Debug)]
pub(crate) struct FoundObject {
    pub(crate) place: Range<usize>,
    pub(crate) entries: Vec<(String, Value)>,
}

/// So many braces in prose are looked at, and no more.
const ATTEMPTS: usize = 8;

/// The JSON objects of a text that are inside no other, from `from` on; `None` if one breaks off.
pub(crate) fn objects(text: &str, from: usize) -> Option<Vec<FoundObject>> {
    let mut found = Vec::new();
    let mut at = from;
    for _ in 0..ATTEMPTS {
        let Some(brace) = text.get(at..)?.find('{') else { return Some(found) };
        let start = at + brace;
        match entries_at(text, start) {
            Ok((entries, end)) => {
                found.push(FoundObject { place: start..end, entries });
                at = end;
            }
            // It breaks off: the rest of the text is inside.
            Err(true) => return None,
            Err(false) => at = start + 1,
        }
    }
    // More braces than were looked at: there may be another object.
    text.get(at..)?.contains('{').then_some(()).map_or(Some(found), |()| None)
}

/// The objects in the content of a text that is one JSON string, or that lacks only the quotes to be one.
pub(crate) fn quoted_objects(text: &str) -> Option<Vec<FoundObject>> {
    let whole = text.trim_matches(is_blank);
    let content: String = if whole.starts_with('"') {
        serde_json::from_str(whole).ok()?
    } else if whole.starts_with("{\\\"") {
        serde_json::from_str(&format!("\"{whole}\"")).ok()?
    } else {
        return None;
    };
    content.trim_matches(is_blank).starts_with('{').then_some(())?;
    let found = objects(&content, 0)?;
    let place = |object: FoundObject| FoundObject { place: 0..text.len(), ..object };
    Some(found.into_iter().map(place).collect())
}

/// The entries of the object at `start` and its end; the error says whether the text breaks off in it.
fn entries_at(text: &str, start: usize) -> Result<(Vec<(String, Value)>, usize), bool> {
    let read = |escapes| {
        let mut parser = Parser::new(text, Slips::LOOSE, Dialect::Plain).with_loose_escapes(escapes);
        parser.pos = start;
        let (mut spans, mut open) = (Vec::new(), None);
        let result = parser.entries(&mut spans, &mut open);
        // At the end of the text something is still open, if only the object itself.
        let cut = result.is_err() && parser.pos >= text.len();
        (spans, result.is_ok(), cut, parser.pos, parser.must_repeat())
    };
    let (spans, whole, cut, end, repeat) = match read(false) {
        (.., true) => {
            let (spans, whole, cut, end, _) = read(true);
            (spans, whole, cut, end, true)
        }
        once => once,
    };
    if !whole {
        return Err(cut);
    }
    let value = |span: Range<usize>| {
        let text = text.get(span).unwrap_or_default();
        let mut parser = Parser::new(text, Slips::LOOSE, Dialect::Plain).with_loose_escapes(repeat);
        parser.value().ok()
    };
    let entries: Option<Vec<_>> =
        spans.into_iter().map(|(key, span)| Some((key.into_owned(), value(span)?))).collect();
    entries.map(|entries| (entries, end)).ok_or(false)
}

/// The JSON of a whole text, with what has one reading.
fn json_value(text: &str) -> Option<Value> {
    let text = text.trim_matches(is_blank);
    let read = |escapes| {
        let mut parser = Parser::new(text, Slips::LOOSE, Dialect::Plain).with_loose_escapes(escapes);
        let value = parser.value().and_then(|value| parser.finish().map(|()| value));
        (value.ok(), parser.must_repeat())
    };
    match read(false) {
        (_, true) => read(true).0,
        (value, false) => value,
    }
}

/// The container that a text says: in a fence, in quotes, as a Python tuple.
fn container(text: &str) -> Option<Value> {
    let text = undecorated(text);
    if text.starts_with(['[', '{']) {
        return json_value(text);
    }
    if let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        return json_value(&format!("[{inner}]"));
    }
    // The container in a JSON string.
    if let Some(content) = super::described::quoted(text) {
        return content.trim_start().starts_with(['[', '{']).then(|| json_value(&content))?;
    }
    if !text.contains("```") {
        // One container with words around it.
        let start = text.find(['[', '{'])?;
        let mut parser = Parser::new(text, Slips::NONE, Dialect::Plain);
        parser.pos = start;
        let value = parser.value().ok()?;
        let empty = match &value {
            Value::List(list) => list.is_empty(),
            Value::Map(map) => map.is_empty(),
            _ => true,
        };
        return (!empty && !parser.rest().contains(['[', ']', '{', '}'])).then_some(value);
    }
    // One fence with words around it.
    let (_, rest) = text.split_once("```")?;
    let (inside, after) = rest.split_once("```")?;
    let (info, body) = inside.split_once('\n')?;
    let plain = info.trim().chars().all(char::is_alphanumeric) && !after.contains("```");
    let outside = !after.contains(['[', '{']) && text.find(['[', '{']) > text.find("```");
    if plain && outside && body.trim_start().starts_with(['[', '{']) { json_value(body) } else { None }
}

/// Words that say that there is no value, where the type has no texts.
fn is_none(text: &str) -> bool {
    let text = undecorated(text);
    text.is_empty() || ["null", "none", "nil", "n/a", "na"].iter().any(|word| word.eq_ignore_ascii_case(text))
}

struct Loose<'t> {
    tree: &'t TypeTree,
    /// The field's name, which a model may write in front of its value.
    name: &'t str,
}

impl<'t> Loose<'t> {
    fn text(&self, text: &str, ty: &'t Type) -> Option<Value> {
        if let Some(value) = scalar(text, ty) {
            return Some(value);
        }
        if self.tree.nullable() && has_no_text(self.tree, ty) && is_none(text) {
            return Some(Value::Null);
        }
        let unlabelled = self.unlabelled(text);
        if unlabelled.len() < text.len() {
            if let Some(value) = scalar(unlabelled, ty) {
                return Some(value);
            }
        }
        if !is_container(&ty.kind) {
            // An object whose only key is the field's own name, around a word.
            let Value::Map(map) = container(text)
                .filter(|_| has_no_text(self.tree, ty) || is_choice(ty))
                .filter(|_| !self.competes(text, ty))?
            else {
                return None;
            };
            let mut entries = map.iter();
            return match (entries.next(), entries.next()) {
                (
                    Some((
                        key,
                        inner @ (Value::String(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_)),
                    )),
                    None,
                ) if key == self.name => Some(self.value(inner, &self.tree.root, true)),
                _ => None,
            };
        }
        if let Some(value) = container(text).or_else(|| container(unlabelled)) {
            if self.competes(text, ty) {
                return None;
            }
            return Some(self.value(self.unwrapped(&value, ty), &self.tree.root, true));
        }
        let Kind::List { items, .. } = &ty.kind else { return None };
        let items = items.as_deref()?;
        let list = bullets(text)?;
        // A mark may also be a sign: `- 5`.
        if !matches!(self.tree.present(items).kind, Kind::String | Kind::Choice(_)) {
            return None;
        }
        let list = list.into_iter().map(Value::from).collect();
        Some(self.value(&Value::List(list), &self.tree.root, true))
    }

    /// Whether there is a value of the type beside an object or a list in a text, or words that reject that.
    fn competes(&self, text: &str, ty: &Type) -> bool {
        let text = undecorated(text);
        let Some(start) = text.find(['[', '{', '(', '"']) else { return false };
        let start = text.find("```").map_or(start, |fence| fence.min(start));
        let end = text.rfind([']', '}', ')', '"']).map_or(text.len(), |end| end + 1);
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(end..).unwrap_or_default();
        rejects(before)
            || (folded(before) != folded(self.name) && self.has_value(before, ty))
            || self.has_value(after, ty)
    }

    /// Whether prose has a value of the type: for a list a line of nothing else, or items with marks.
    fn has_value(&self, prose: &str, ty: &Type) -> bool {
        match &ty.kind {
            Kind::Integer | Kind::Number | Kind::Date | Kind::DateTime => {
                prose.contains(|c: char| c.is_ascii_digit())
            }
            Kind::Boolean => ["true", "false", "yes", "no"].iter().any(|word| names(prose, word)),
            Kind::Choice(choice) => choice.members.iter().any(|member| {
                let value = &member.value;
                value.as_str().map_or_else(|| names(prose, &json_text(value)), |text| names(prose, text))
                    || member.name.as_deref().is_some_and(|name| names(prose, name))
            }),
            Kind::List { items: Some(items), .. } => {
                let items = self.tree.present(items);
                bullets(prose).is_some()
                    || prose.lines().map(|line| line.trim_matches(is_blank)).any(|line| {
                        !line.is_empty()
                            && line
                                .split([',', ';'])
                                .map(|part| part.trim_matches(is_blank))
                                .all(|part| is_value(part, items))
                    })
            }
            _ => false,
        }
    }

    /// The value of a text without the field's own name in front of it.
    fn unlabelled<'x>(&self, text: &'x str) -> &'x str {
        let trimmed = text.trim_matches(is_blank);
        let Some(at) = trimmed.find([':', '=']) else { return text };
        let (label, rest) = trimmed.split_at(at);
        let value = rest.get(1..).unwrap_or_default();
        // `**Mood:** calm` has its bold end behind the colon.
        let value = match label.trim_start().strip_prefix("**") {
            Some(label) if !label.contains("**") => value.strip_prefix("**").unwrap_or(value),
            _ => value,
        };
        if label.len() <= self.name.len() + 16 && folded(label) == folded(self.name) {
            value.trim_matches(is_blank)
        } else {
            text
        }
    }

    /// A container out of an object whose only key is the field's own name.
    fn unwrapped<'v>(&self, value: &'v Value, ty: &'t Type) -> &'v Value {
        let Value::Map(map) = value else { return value };
        let mut entries = map.iter();
        let (Some((key, inner)), None) = (entries.next(), entries.next()) else { return value };
        let own = match &ty.kind {
            Kind::Object(object) => object.properties.iter().any(|property| property.name == key),
            Kind::Map { .. } => true,
            _ => false,
        };
        if own || key != self.name { value } else { inner }
    }

    /// The value with looser spellings inside made exact. `top` says that it is the field's own.
    fn value(&self, value: &Value, ty: &'t Type, top: bool) -> Value {
        let nullable = self.tree.is_nullable(ty);
        let ty = self.tree.present(ty);
        match (value, &ty.kind) {
            (Value::String(text), _) if nullable && has_no_text(self.tree, ty) && is_none(text) => {
                Value::Null
            }
            (
                Value::String(text),
                Kind::Integer | Kind::Number | Kind::Boolean | Kind::Choice(_) | Kind::Date | Kind::DateTime,
            ) => {
                let label = if top { self.unlabelled(text) } else { text };
                scalar(text, ty).or_else(|| scalar(label, ty)).unwrap_or_else(|| value.clone())
            }
            (Value::Int(number @ (0 | 1)), Kind::Boolean) => Value::Bool(*number == 1),
            (Value::String(text), kind) if is_container(kind) => match container(text) {
                // Once: a text inside is not looked into again.
                Some(inner @ (Value::List(_) | Value::Map(_))) => self.value(&inner, ty, false),
                _ => value.clone(),
            },
            (Value::List(list), Kind::List { items: Some(items), .. }) => {
                Value::List(list.iter().map(|item| self.value(item, items, false)).collect())
            }
            (Value::List(list), Kind::Tuple(types)) if types.len() == list.len() => {
                Value::List(list.iter().zip(types).map(|(item, ty)| self.value(item, ty, false)).collect())
            }
            (Value::Map(map), Kind::Map { values: Some(values), .. }) => Value::Map(
                map.iter().map(|(key, item)| (key.to_owned(), self.value(item, values, false))).collect(),
            ),
            (Value::Map(map), Kind::Object(object)) => {
                let names: Vec<&str> =
                    object.properties.iter().map(|property| property.name.as_str()).collect();
                let mut out = Map::new();
                for (key, item) in map.iter() {
                    let given: Vec<&str> = map.iter().map(|(key, _)| key).collect();
                    let name = property(key, &names, &given);
                    let ty = object.properties.iter().find(|property| property.name == name);
                    let item =
                        ty.map_or_else(|| item.clone(), |property| self.value(item, &property.ty, false));
                    out.insert(name, item);
                }
                Value::Map(out)
            }
            _ => value.clone(),
        }
    }
}

/// The value of a text for a type of one word, if it has one reading.
fn scalar(text: &str, ty: &Type) -> Option<Value> {
    match &ty.kind {
        Kind::Integer => json_value(&number(text)?).filter(|value| matches!(value, Value::Int(_))),
        Kind::Number => json_value(&number(text)?)
            .filter(|value| matches!(value, Value::Int(_) | Value::Float(_)))
            .filter(|value| !matches!(value, Value::Float(value) if !value.is_finite())),
        Kind::Boolean => boolean(text),
        Kind::Choice(choice) => choice_of(choice, text),
        Kind::Date | Kind::DateTime => {
            let inner = undecorated(text);
            (inner.len() < text.len()).then(|| Value::from(inner))
        }
        _ => None,
    }
}

/// Whether a text is a value of a type of one word, exactly or in a looser spelling.
fn is_value(text: &str, ty: &Type) -> bool {
    let exact = match &ty.kind {
        Kind::Integer | Kind::Number => super::scalar::number(text, Dialect::Plain).is_some(),
        _ => false,
    };
    exact || (!matches!(ty.kind, Kind::Date | Kind::DateTime) && scalar(text, ty).is_some())
}

/// The one of `names` that a key means: itself, or the one that differs in case and separators only, if that is
/// the only one and no other key means it.
pub(crate) fn property<'n>(key: &'n str, names: &[&'n str], given: &[&str]) -> &'n str {
    if names.contains(&key) {
        return key;
    }
    let wanted = folded(key);
    if wanted.is_empty() {
        return key;
    }
    let mut alike = names.iter().filter(|name| folded(name) == wanted);
    let (Some(name), None) = (alike.next(), alike.next()) else { return key };
    if given.iter().filter(|other| folded(other) == wanted).count() == 1 { name } else { key }
}

fn is_choice(ty: &Type) -> bool {
    matches!(ty.kind, Kind::Choice(_))
}

/// Whether no value of the type is a text of its own.
fn has_no_text(tree: &TypeTree, ty: &Type) -> bool {
    match &tree.present(ty).kind {
        Kind::Integer | Kind::Number | Kind::Boolean | Kind::Date | Kind::DateTime => true,
        Kind::Choice(choice) => choice
            .members
            .iter()
            .all(|member| !member.value.as_str().is_some_and(is_none) && !member.value.is_null()),
        kind => is_container(kind),
    }
}

/// A text without the decoration around it: white space, emphasis, quotes, a fence, a final full stop.
pub(crate) fn undecorated(text: &str) -> &str {
    const PAIRS: [(&str, &str); 10] = [
        ("**", "**"),
        ("__", "__"),
        ("*", "*"),
        ("_", "_"),
        ("`", "`"),
        ("\"", "\""),
        ("'", "'"),
        ("“", "”"),
        ("‘", "’"),
        ("«", "»"),
    ];
    let mut text = text.trim_matches(is_blank);
    // Each turn takes something off; more than a few is no decoration.
    for _ in 0..8 {
        let before = text;
        if let Some(inner) = text.strip_prefix("```").and_then(|text| text.strip_suffix("```")) {
            let body =
                inner.split_once('\n').filter(|(info, _)| info.trim().chars().all(char::is_alphanumeric));
            text = body.map_or(text, |(_, body)| body);
        } else {
            let pair = PAIRS.iter().find_map(|(open, close)| {
                let inner = text.strip_prefix(open)?.strip_suffix(close)?;
                (!inner.is_empty() && !inner.contains(open) && !inner.contains(close)).then_some(inner)
            });
            if let Some(inner) = pair {
                text = inner;
            } else if let Some(inner) = text.strip_suffix(['.', '!']) {
                text = inner.strip_suffix(['.', '!', '?']).map_or(inner, |_| text);
            }
        }
        text = text.trim_matches(is_blank);
        if text.len() == before.len() {
            break;
        }
    }
    text
}

/// The plain digits of a number with a currency sign in front of it, with thousands groups, or decorated.
fn number(text: &str) -> Option<String> {
    let text = undecorated(text);
    let (negative, text) = match text.chars().next()? {
        '-' | '−' => (true, text.get(text.chars().next()?.len_utf8()..)?),
        '+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let currency =
        text.chars().next().filter(|c| matches!(c, '$' | '£' | '¥' | '€' | '₩' | '₹' | '₽' | '₺' | '₿'));
    let text = currency.map_or(text, |c| text.get(c.len_utf8()..).unwrap_or_default().trim_start());
    let (negative, text) = match (currency, text.strip_prefix('-')) {
        (Some(_), Some(rest)) if !negative => (true, rest),
        _ => (negative, text),
    };
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let digits = if whole.is_empty() && fraction.is_some() {
        "0".to_owned()
    } else if is_digits(whole) {
        whole.to_owned()
    } else {
        let separator = whole.chars().find(|c| !c.is_ascii_digit())?;
        if !matches!(separator, ',' | '_' | '\u{a0}' | '\u{202f}' | '\u{2009}') {
            // An exponent, as the exact reader takes it.
            let plain = super::scalar::number(text, Dialect::Plain).is_some();
            return (plain && text.starts_with(|c: char| c.is_ascii_digit()))
                .then(|| if negative { format!("-{text}") } else { text.to_owned() });
        }
        let mut groups = whole.split(separator);
        let first = groups.next()?;
        let grouped = is_digits(first) && first.len() <= 3 && !first.starts_with('0');
        if !grouped || !groups.all(|group| group.len() == 3 && is_digits(group)) {
            return None;
        }
        whole.chars().filter(|c| *c != separator).collect()
    };
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    let sign = if negative { "-" } else { "" };
    match fraction {
        None => Some(format!("{sign}{digits}")),
        Some(fraction) => {
            let (digits_behind, exponent) =
                fraction.split_at(fraction.find(['e', 'E']).unwrap_or(fraction.len()));
            // `€1.299` may be thousands.
            if currency.is_some()
                && fraction.len() == 3
                && whole == digits
                && (1..=3).contains(&whole.len())
                && whole != "0"
            {
                return None;
            }
            (is_digits(digits_behind) && (exponent.is_empty() || !whole.is_empty()))
                .then(|| format!("{sign}{digits}.{fraction}"))
        }
    }
}

/// The first word or words of a text, and the explanation behind it; `None` if nothing separates the two.
fn explained<'x>(text: &'x str, word: &str) -> Option<&'x str> {
    let text = text.trim_matches(is_blank);
    let bare = text.trim_start_matches(|c| matches!(c, '*' | '_' | '`' | '"' | '\'' | '“') || is_blank(c));
    let decorated = bare.len() < text.len();
    let head = bare.get(..word.len()).filter(|head| head.eq_ignore_ascii_case(word))?;
    let rest = bare.get(head.len()..)?;
    // `A*` is another grade than `A`.
    let rest = if decorated { rest.trim_start_matches(['*', '_', '`', '"', '\'', '”']) } else { rest };
    let gap = rest.trim_start_matches([' ', '\t', '\u{a0}']);
    let spaced = gap.len() < rest.len();
    let mut chars = gap.chars();
    let behind = |gap: &'x str| gap.starts_with(is_blank);
    match chars.next()? {
        '—' | '\n' | '\r' => Some(chars.as_str()),
        '-' if spaced && behind(chars.as_str()) => Some(chars.as_str()),
        '–' | '(' if spaced => Some(chars.as_str()),
        ',' | ':' | ';' | '.' | '!' if behind(chars.as_str()) => Some(chars.as_str()),
        _ => None,
    }
}

/// A truth value that is the whole text, or that an explanation follows in which the opposite does not occur.
fn boolean(text: &str) -> Option<Value> {
    const TRUE: [&str; 2] = ["true", "yes"];
    const FALSE: [&str; 2] = ["false", "no"];
    let whole = undecorated(text);
    if let Some(value) = super::scalar::boolean(whole, Dialect::Plain) {
        return Some(Value::Bool(value));
    }
    for (value, words, rivals, agreed) in [
        (true, TRUE, &["false", "no"][..], &[][..]),
        // `no, not false` is no longer no.
        (
            false,
            FALSE,
            &["true", "yes", "false"],
            &["not", "never", "nothing", "isnt", "dont", "doesnt", "wont"],
        ),
    ] {
        for word in words {
            if let Some(rest) = explained(whole, word) {
                // `No. 5` is a number.
                let numbered = rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
                return (!numbered && !denies(rest, rivals, agreed)).then_some(Value::Bool(value));
            }
        }
    }
    None
}

/// The member that is the whole text, or that an explanation follows in which no other occurs.
fn choice_of(choice: &Choice, text: &str) -> Option<Value> {
    let whole = undecorated(text);
    if let Some(member) = super::scalar::member(choice, whole, Dialect::Plain, true) {
        return Some(member.value.clone());
    }
    let spelt = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => json_text(value),
    };
    let members: Vec<(String, &Value)> =
        choice.members.iter().map(|member| (spelt(&member.value), &member.value)).collect();
    let named = choice.members.iter().filter_map(|member| Some((member.name.clone()?, &member.value)));
    let all: Vec<(String, &Value)> = members.iter().cloned().chain(named).collect();
    let only = |alike: &dyn Fn(&str) -> bool| {
        let mut found: Option<&Value> = None;
        for (text, value) in &all {
            if alike(text) {
                if found.is_some_and(|found| found != *value) {
                    return Err(());
                }
                found = Some(value);
            }
        }
        Ok(found.cloned())
    };
    // Case first, then separators; two that are alike are no choice.
    match only(&|member| member.to_lowercase() == whole.to_lowercase()) {
        Ok(Some(value)) => return Some(value),
        Err(()) => return None,
        Ok(None) => {}
    }
    let wanted = folded(whole);
    if !wanted.is_empty() && whole.len() <= 2 * wanted.len() {
        match only(&|member| {
            !folded(member).is_empty()
                && folded(member) == wanted
                && same_signs(member, whole)
                && last_sign(member) == last_sign(whole)
        }) {
            Ok(Some(value)) => return Some(value),
            Err(()) => return None,
            Ok(None) => {}
        }
    }
    // The longest member that the text begins with; no other may occur behind it.
    let mut best: Option<(usize, &Value, &str)> = None;
    for (member, value) in &all {
        // A number may be the mark of a list's item.
        if !member.contains(char::is_alphabetic) {
            continue;
        }
        if let Some(rest) = explained(text, member) {
            if best.is_none_or(|(len, ..)| member.len() > len) {
                best = Some((member.len(), value, rest));
            }
        }
    }
    let (_, value, rest) = best?;
    let rival = all.iter().any(|(member, other)| other != &value && names(rest, member));
    (!rival && !denies(rest, &["false"], &[])).then(|| value.clone())
}

/// The sign that a text ends in, as grades do: `A-` is not `A`.
fn last_sign(text: &str) -> Option<char> {
    text.chars().next_back().filter(|c| matches!(c, '-' | '–' | '—' | '−' | '+' | '#' | '*'))
}

/// Whether two texts differ in blanks, `_` and `-` only, so that `C` is not `C++`.
fn same_signs(a: &str, b: &str) -> bool {
    let signs = |text: &str| {
        text.chars()
            .filter(|c| {
                !c.is_alphanumeric()
                    && !is_blank(*c)
                    && !matches!(c, '_' | '-' | '\'' | '"' | '`' | '*' | '.')
            })
            .collect::<String>()
    };
    signs(a) == signs(b)
}

/// The items of a numbered list (1 to n) or of one with marks, a line each.
fn bullets(text: &str) -> Option<Vec<&str>> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    let numbered = |(at, line): (usize, &&'_ str)| -> Option<usize> {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let number: usize = line.get(..digits)?.parse().ok()?;
        let rest = line.get(digits..)?.strip_prefix(['.', ')'])?;
        (number == at + 1 && rest.starts_with(' ')).then_some(line.len() - rest.len())
    };
    let marked = |(_, line): (usize, &&'_ str)| -> Option<usize> {
        ["- ", "* ", "+ ", "• "].iter().find(|mark| line.starts_with(**mark)).map(|mark| mark.len())
    };
    let items = |start: &dyn Fn((usize, &&str)) -> Option<usize>| -> Option<Vec<usize>> {
        lines.iter().enumerate().map(start).collect()
    };
    let starts = items(&numbered).or_else(|| items(&marked))?;
    let list: Vec<&str> =
        lines.iter().zip(starts).filter_map(|(line, start)| line.get(start..).map(str::trim)).collect();
    // More than one item on a line.
    let crowded = list
        .iter()
        .enumerate()
        .any(|(at, item)| [". ", ") "].iter().any(|end| item.contains(&format!(" {}{end}", at + 2))))
        || (list.len() == 1
            && list.iter().any(|item| [" - ", " * ", " + ", " • "].iter().any(|mark| item.contains(mark))));
    (!list.is_empty() && !crowded && list.iter().all(|item| !item.is_empty())).then_some(list)
}

/// The text of a JSON string that holds a JSON object, as some models wrap their answer once more.
pub(crate) fn inner_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) if text.trim_start().starts_with('{') => Some(Cow::Borrowed(text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_reading_or_none() {
        for (text, plain) in [
            ("**42**", Some("42")),
            ("$1,299.50", Some("1299.50")),
            ("-$5", Some("-5")),
            ("€ 3", Some("3")),
            ("1,234", Some("1234")),
            ("1_000_000.", Some("1000000")),
            (".5", Some("0.5")),
            ("`1.5e3`", Some("1.5e3")),
            ("−7", Some("-7")),
            ("3,14", None),
            ("0,123", None),
            ("1,23,456", None),
            ("1.234,50", None),
            ("85%", None),
            ("5-7", None),
            ("about 4", None),
            ("1/4", None),
            ("5 USD", None),
            ("NaN", None),
            ("007", None),
            ("1 000", None),
            ("--5", None),
            ("1.2.3", None),
            ("", None),
        ] {
            assert_eq!(number(text).as_deref(), plain, "{text}");
        }
    }

    #[test]
    fn truth_is_the_whole_text_or_explained_without_its_opposite() {
        for (text, value) in [
            ("Yes.", Some(true)),
            ("**no**", Some(false)),
            ("true, because the gate is open", Some(true)),
            ("**No** - it is not open", Some(false)),
            ("No\nThe gate is shut.", Some(false)),
            ("yes, or no", None),
            ("Yes, but not always", None),
            ("true because", None),
            ("not true", None),
            ("nobody", None),
        ] {
            assert_eq!(boolean(text), value.map(Value::Bool), "{text}");
        }
    }

    #[test]
    fn lists_have_a_mark_on_every_line() {
        for (text, items) in [
            ("1. a\n2. b, c", Some(vec!["a", "b, c"])),
            ("- a\n\n* b", Some(vec!["a", "b"])),
            ("1. a\n3. b", None),
            ("- a\nb", None),
            ("a", None),
            ("", None),
        ] {
            assert_eq!(bullets(text), items, "{text}");
        }
    }
}
