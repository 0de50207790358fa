//! The value of a text that is still being written, as far as it is certain.
//!
//! [`Parser`] reads here too, and takes the end of what there is for the end of the text. Whatever it decides
//! by looking ahead might be decided otherwise with more text behind it, so nothing counts before the comma
//! or the bracket behind it was read: a word or a number not at all, a string as one that may go on. A failure
//! means that nothing further is certain, whether more text can mend it or not.
//!
//! What a backslash means is certain last: a slip anywhere in the text changes it (§10). Where that
//! matters the text is read both ways, and what the two have in common is certain.

use std::ops::Range;

use super::conform::Conform;
use super::forgive::Slips;
use super::parser::{Parser, Peek, Piece, number_value};
use super::{ReadOptions, Source};
use crate::dialect::Dialect;
use crate::text::scan;
use crate::text::write::{certain_unescaped, unescape_markers};
use crate::types::{Kind, Type, TypeTree};
use crate::value::{Map, Value};

/// Who gets the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Someone who takes it as data.
    Data,
    /// A Rust type: its structs must be whole, and so must a text that is more than a text to it.
    Typed,
}

/// What there is of a JSON value.
#[derive(Debug)]
enum Node {
    /// All of it.
    Whole(Value),
    /// The front of a text.
    Text(String),
    /// The items that are whole, and the last one if something of it is certain.
    List(Vec<Value>, Option<Box<Node>>),
    Map(Map, Option<(String, Box<Node>)>),
}

impl Node {
    /// White space at the end waits for what follows: the end of the string may cut it off (§10).
    fn text(mut text: String) -> Node {
        text.truncate(text.trim_end().len());
        Node::Text(text)
    }

    fn into_value(self) -> Value {
        match self {
            Node::Whole(value) => value,
            Node::Text(text) => Value::String(text),
            Node::List(mut items, last) => {
                items.extend(last.map(|last| last.into_value()));
                Value::List(items)
            }
            Node::Map(mut map, last) => {
                if let Some((key, last)) = last {
                    map.insert(key, last.into_value());
                }
                Value::Map(map)
            }
        }
    }
}

/// What there is of an object.
#[derive(Debug)]
struct Object<'a> {
    /// The entries whose values are whole.
    entries: Vec<(Piece<'a>, Range<usize>, Value)>,
    open: Option<(Piece<'a>, Node)>,
    closed: bool,
}

/// A text of which only the front is there.
#[derive(Debug)]
struct Front<'a> {
    parser: Parser<'a>,
    loose: bool,
    /// Whether something was forgiven for certain.
    slipped: bool,
    /// Whether the last scalar was in quotes.
    quoted: bool,
}

/// In which way the backslashes of a text are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escapes {
    Strict,
    Loose,
    /// That is not certain.
    Either,
}

impl<'a> Front<'a> {
    fn new(text: &'a str, dialect: Dialect, loose: bool) -> Self {
        let parser = Parser::new(text, Slips::of(dialect), dialect).with_loose_escapes(loose);
        Front { parser, loose, slipped: false, quoted: false }
    }

    /// In which way the text is to be read that was read strictly here; `whole` says that nothing behind it
    /// matters.
    fn escapes(&self, whole: bool) -> Escapes {
        match (self.parser.diverged(), self.slipped) {
            (true, true) => Escapes::Loose,
            (true, false) if !whole => Escapes::Either,
            _ => Escapes::Strict,
        }
    }

    /// Goes to the front of the next item, behind the one that ends at `end`. Says whether that one is read as
    /// it would be with any text behind what there is, and whether there is another; `None` if that is not
    /// certain.
    fn more(&mut self, close: u8, first: bool, end: usize) -> (bool, Option<bool>) {
        let mut more = self.parser.more(close, first);
        if more.is_err() && self.parser.rest().starts_with("/*") {
            // A comment that does not end yet is not there yet.
            self.parser.text = self.parser.text.get(..self.parser.pos).unwrap_or_default();
            self.parser.pos = end;
            more = self.parser.more(close, first);
        }
        let behind = self.parser.text.get(end..).unwrap_or_default().trim_start();
        let comma = behind.starts_with([',', ';']);
        // Without a comma, the next word decides whether a text without quotes goes on: `1 null`, `1 nullable`.
        let longest = "false".len();
        let sure = first
            || comma
            || match more {
                Ok(true) => self.parser.rest().len() > longest,
                Ok(false) => true,
                Err(_) => false,
            };
        self.slipped |= sure && !first && more.is_ok() && self.parser.receipts.slips.in_syntax();
        (sure, more.ok().filter(|_| sure))
    }

    /// What is certain of a value that was read, and behind which nothing was.
    fn unconfirmed(&self, value: Value) -> Option<Node> {
        match value {
            Value::String(text) if self.quoted => Some(Node::text(text)),
            Value::List(_) | Value::Map(_) => Some(Node::Whole(value)),
            _ => None,
        }
    }

    /// Reads a value. One that is whole must be confirmed; behind any other nothing can be read.
    fn value(&mut self) -> Option<Node> {
        let peek = self.parser.peek().ok()?;
        self.quoted = peek == Peek::String;
        let whole = match peek {
            Peek::Null => {
                self.parser.word();
                Value::Null
            }
            Peek::True | Peek::False => {
                self.parser.word();
                Value::Bool(peek == Peek::True)
            }
            Peek::Number => match self.parser.number().ok()? {
                Ok(number) => number_value(number),
                Err(text) => Value::String(text.into_owned()),
            },
            Peek::Bare => self.parser.bare_value().ok()?,
            Peek::String => {
                let start = self.parser.pos;
                self.slipped |= self.parser.byte() != Some(b'"');
                match self.parser.string() {
                    Ok(text) => Value::String(text.into_owned()),
                    Err(_) => return Some(Node::text(self.open_string(start))),
                }
            }
            Peek::List => return self.list(),
            Peek::Object => return self.object().map(map_of),
        };
        Some(Node::Whole(whole))
    }

    fn list(&mut self) -> Option<Node> {
        self.parser.open().ok()?;
        let mut items = Vec::new();
        let mut last = None;
        let mut first = true;
        loop {
            let end = self.parser.pos;
            let (sure, more) = self.more(b']', first, end);
            if sure {
                items.extend(last.take());
            }
            let Some(more) = more else { break };
            if !more {
                return match self.parser.close(b']') {
                    Ok(()) => Some(Node::Whole(Value::List(items))),
                    Err(_) => Some(Node::List(items, None)),
                };
            }
            first = false;
            match self.value() {
                Some(Node::Whole(value)) => last = Some(value),
                open => return Some(Node::List(items, open.map(Box::new))),
            }
        }
        Some(Node::List(items, last.and_then(|last| self.unconfirmed(last)).map(Box::new)))
    }

    fn object(&mut self) -> Option<Object<'a>> {
        self.parser.open().ok()?;
        let mut object = Object { entries: Vec::new(), open: None, closed: false };
        let mut last = None;
        let mut first = true;
        loop {
            let end = self.parser.pos;
            let (sure, more) = self.more(b'}', first, end);
            if sure {
                object.entries.extend(last.take());
            }
            let Some(more) = more else { break };
            if !more {
                object.closed = self.parser.close(b'}').is_ok();
                return Some(object);
            }
            first = false;
            let Ok(key) = self.parser.key() else { return Some(object) };
            if self.parser.colon().is_err() || self.parser.blank().is_err() {
                return Some(object);
            }
            let start = self.parser.pos;
            match self.value() {
                Some(Node::Whole(value)) => last = Some((key, start..self.parser.pos, value)),
                open => {
                    object.open = open.map(|node| (key, node));
                    return Some(object);
                }
            }
        }
        object.open = last.and_then(|(key, _, value)| Some((key, self.unconfirmed(value)?)));
        Some(object)
    }

    /// The text of the string at `start`, which does not end, without a last escape that is not whole.
    fn open_string(&self, start: usize) -> String {
        let raw = self.parser.text.get(start..).unwrap_or_default();
        let quote = match raw.chars().next() {
            Some('\'') => "'",
            Some('“' | '”') => "”",
            _ => "\"",
        };
        let mut end = certain_escapes(raw);
        // What cannot be read at all ends the text, and what is in front of it may end in half an escape.
        for _ in 0..3 {
            let Some(front) = raw.get(..end).filter(|front| !front.is_empty()) else { break };
            let closed = format!("{front}{quote}");
            let mut parser = Front::new(&closed, self.parser.dialect, self.loose).parser;
            match parser.string() {
                Ok(text) => return text.into_owned(),
                Err(failure) => {
                    let at = failure.position().unwrap_or(0).min(end.saturating_sub(1));
                    end = certain_escapes(raw.get(..at).unwrap_or_default());
                }
            }
        }
        String::new()
    }
}

/// The object as a value. Of two equal keys the last counts, so that in an object which is not whole the
/// first such pair ends what is certain.
fn map_of(object: Object<'_>) -> Node {
    let mut map = Map::new();
    for (key, _, value) in object.entries {
        if !object.closed && map.contains_key(&key) {
            return Node::Map(map, None);
        }
        map.insert(key, value);
    }
    if object.closed {
        return Node::Whole(Value::Map(map));
    }
    let open = object.open.filter(|(key, _)| !map.contains_key(key));
    Node::Map(map, open.map(|(key, node)| (key.into_owned(), Box::new(node))))
}

/// The length of the front of an open string, its quote included, in which every escape is whole.
fn certain_escapes(raw: &str) -> usize {
    let mut end = raw.len();
    loop {
        let front = raw.get(..end).unwrap_or_default();
        let Some(at) = front.rfind('\\') else { return end };
        let run = front.get(..at).unwrap_or_default().trim_end_matches('\\').len();
        let escape = front.get(at + 1..).unwrap_or_default();
        let digits = escape.get(1..).unwrap_or_default();
        let half = match escape.as_bytes().first() {
            None => true,
            Some(b'x') => digits.len() < 2 && u8::from_str_radix(&format!("0{digits}"), 16).is_ok(),
            Some(b'u') if digits.len() < 4 => u16::from_str_radix(&format!("0{digits}"), 16).is_ok(),
            // The first half of a pair waits for the second.
            Some(b'u') if digits.len() == 4 => {
                u16::from_str_radix(digits, 16).is_ok_and(|code| (0xd800..0xdc00).contains(&code))
            }
            _ => false,
        };
        if !half {
            return end;
        }
        end = run;
    }
}

/// What is there of a value, made to fit a type.
#[derive(Debug, Clone, Copy)]
struct Fit<'t> {
    conform: Conform<'t>,
    shape: Shape,
}

impl<'t> Fit<'t> {
    fn new(tree: &'t TypeTree, dialect: Dialect, shape: Shape) -> Self {
        Fit { conform: Conform { tree, dialect, typed: false, inf_nan: false }, shape }
    }

    fn node(self, node: Node, ty: &'t Type) -> Option<Value> {
        let typed = self.shape == Shape::Typed;
        let node = match node {
            // The Rust type will read it, and knows more of itself than its schema does.
            Node::Whole(value) if typed => return Some(value),
            Node::Whole(value) => match (self.conform.value(&value, ty), value) {
                (Ok(fit), _) => return Some(fit.value),
                // Not of the type as a whole, but what was certain of it before stays so.
                (Err(_), Value::String(text)) => Node::Text(text),
                (Err(_), Value::List(items)) => Node::List(items, None),
                (Err(_), Value::Map(map)) => Node::Map(map, None),
                (Err(_), _) => return None,
            },
            node => node,
        };
        let ty = self.conform.tree.present(ty);
        match (node, &ty.kind) {
            (Node::Text(text), Kind::String | Kind::Reasoning) => {
                (!typed || is_plain_text(ty)).then_some(Value::String(text))
            }
            (node, Kind::Any)
            | (node @ Node::List(..), Kind::List { items: None, .. })
            | (node @ Node::Map(..), Kind::Map { values: None, .. }) => Some(node.into_value()),
            (node, Kind::Opaque | Kind::History) if !typed => Some(node.into_value()),
            (Node::List(items, last), Kind::List { items: Some(each), .. }) => {
                Some(self.list(items, last, std::iter::repeat(&**each)))
            }
            (Node::List(items, last), Kind::Tuple(each)) if !typed => {
                Some(self.list(items, last, each.iter()))
            }
            (Node::Map(map, last), Kind::Map { values: Some(ty), .. }) => {
                Some(self.map(map, last, |_| Some(&**ty)))
            }
            (Node::Map(map, last), Kind::Object(object)) if !typed => Some(self.map(map, last, |key| {
                object.properties.iter().find(|property| property.name == key).map(|property| &property.ty)
            })),
            _ => None,
        }
    }

    fn list(
        self,
        items: Vec<Value>,
        last: Option<Box<Node>>,
        types: impl Iterator<Item = &'t Type>,
    ) -> Value {
        let nodes = items.into_iter().map(Node::Whole).chain(last.map(|last| *last));
        // One that does not fit makes the whole a failure.
        Value::List(nodes.zip(types).map_while(|(node, ty)| self.node(node, ty)).collect())
    }

    /// The entries whose keys have a type; the others are dropped.
    fn map(
        self,
        map: Map,
        last: Option<(String, Box<Node>)>,
        ty: impl Fn(&str) -> Option<&'t Type>,
    ) -> Value {
        let entries = map.into_iter().map(|(key, value)| (key, Node::Whole(value)));
        let last = last.map(|(key, node)| (key, *node));
        let mut fit = Map::new();
        for (key, node) in entries.chain(last) {
            let Some(ty) = ty(&key) else { continue };
            let Some(value) = self.node(node, ty) else { break };
            fit.insert(key, value);
        }
        Value::Map(fit)
    }
}

/// Whether a text of the type is nothing but a text: any front of it is one too.
fn is_plain_text(ty: &Type) -> bool {
    ty.checks.is_none() && ty.schema.get("format").is_none()
}

/// A part of a reply that is still being written.
#[derive(Debug)]
pub(crate) enum Part<'a> {
    /// All of it is there.
    Whole(Source<'a>),
    /// The certain front of its value.
    Front(Value),
}

/// The entries of the JSON object in the front of a text, one place for each of `trees`; `place` gives that of
/// a key.
///
/// As for [`super::entries`], the first `{` begins the object.
pub(crate) fn entries<'a>(
    text: &'a str,
    trees: &[&TypeTree],
    place: impl Fn(&str) -> Option<usize>,
    options: ReadOptions,
    shape: Shape,
) -> Vec<Option<Part<'a>>> {
    let none = || trees.iter().map(|_| None).collect::<Vec<_>>();
    let dialect = options.dialect;
    let trimmed = text.trim_start();
    // The whole text may be a string with the object inside it.
    let in_string = dialect == Dialect::Dspy && trimmed.starts_with('"') && !is_more_than_string(trimmed);
    let Some(start) = text.find('{').filter(|_| !in_string) else { return none() };
    let read = |loose| {
        let mut front = Front::new(text, dialect, loose);
        front.parser.pos = start;
        let object = front.object();
        (front, object)
    };
    // What is whole is left as its source and its value.
    let parts = |object: Option<Object<'a>>, loose| {
        let mut parts: Vec<Option<(Part<'a>, Value)>> = trees.iter().map(|_| None).collect();
        let Some(object) = object else { return parts };
        for (key, span, value) in object.entries {
            let Some(part) = place(&key).and_then(|at| parts.get_mut(at)) else { continue };
            // Of two equal keys the last counts, and which one that is cannot be known yet.
            if part.is_some() && !object.closed {
                return parts;
            }
            let source = super::entry_source(text.get(span).unwrap_or_default(), loose, dialect);
            *part = Some((Part::Whole(source), value));
        }
        if let Some((key, node)) = object.open {
            let at = place(&key);
            let part = at.and_then(|at| parts.get_mut(at)).filter(|part| part.is_none());
            if let (Some(part), Some(tree)) = (part, at.and_then(|at| trees.get(at))) {
                *part = json_value(node, tree, dialect, shape).map(|value| (Part::Front(value), Value::Null));
            }
        }
        parts
    };
    let (front, object) = read(false);
    // Behind the object of a list, or in the plain dialect, nothing matters.
    let rest_matters = dialect == Dialect::Dspy && !trimmed.starts_with('[');
    let whole = !rest_matters && object.as_ref().is_some_and(|object| object.closed);
    let first = |part: Option<(Part<'a>, Value)>| part.map(|(part, _)| part);
    match front.escapes(whole) {
        Escapes::Strict => parts(object, false).into_iter().map(first).collect(),
        Escapes::Loose => parts(read(true).1, true).into_iter().map(first).collect(),
        Escapes::Either => {
            let both = parts(object, false).into_iter().zip(parts(read(true).1, true));
            let both = both.zip(trees).map(|((a, b), tree)| common_part(a?, b?, tree, options, shape));
            both.collect()
        }
    }
}

/// Whether something follows the string that a text begins with.
fn is_more_than_string(text: &str) -> bool {
    let mut parser = Parser::new(text, Slips::NONE, Dialect::Plain);
    parser.string().is_ok() && !parser.rest().trim_start().is_empty()
}

fn common_part<'a>(
    (a, a_value): (Part<'a>, Value),
    (b, b_value): (Part<'a>, Value),
    tree: &TypeTree,
    options: ReadOptions,
    shape: Shape,
) -> Option<Part<'a>> {
    let is_whole = matches!((&a, &b), (Part::Whole(_), Part::Whole(_)));
    if is_whole && a_value == b_value {
        return Some(a);
    }
    // A part of a text is one only to a type that is nothing else.
    if shape == Shape::Typed && !is_plain_text(tree.present(&tree.root)) {
        return None;
    }
    let value = |part: Part<'_>| match part {
        Part::Whole(source) => super::read_value(&source, tree, None, options).ok(),
        Part::Front(value) => Some(value),
    };
    match (value(a), value(b)) {
        (Some(a), Some(b)) => common(a, b).map(Part::Front),
        // Read so, the reply is a failure.
        (Some(value), None) | (None, Some(value)) if is_whole => Some(Part::Front(value)),
        _ => None,
    }
}

/// What is certain of a value that is an entry of a JSON object.
fn json_value(node: Node, tree: &TypeTree, dialect: Dialect, shape: Shape) -> Option<Value> {
    // A text that may be looked into for something else.
    let looked_into = match tree.present(&tree.root).kind {
        Kind::Opaque | Kind::History => true,
        Kind::Any => dialect == Dialect::Dspy,
        _ => false,
    };
    if looked_into && matches!(node, Node::Text(_)) {
        return None;
    }
    Fit::new(tree, dialect, shape).node(node, &tree.root)
}

/// The certain front of the value that the front of a section's text says.
///
/// `text` must end in front of whatever may yet become a marker.
pub(crate) fn section(text: &str, tree: &TypeTree, options: ReadOptions, shape: Shape) -> Option<Value> {
    let ty = tree.present(&tree.root);
    match ty.kind {
        Kind::String | Kind::Reasoning if shape == Shape::Data || is_plain_text(ty) => {
            let text = scan::trim(text);
            let may_be_other = tree.nullable()
                && (text.starts_with('"') || "null".starts_with(text) || "None".starts_with(text));
            if text.is_empty() || may_be_other {
                return None;
            }
            if !options.unescape {
                return Some(Value::from(text));
            }
            let certain = text.get(..certain_unescaped(text)).unwrap_or_default();
            let text = unescape_markers(certain);
            Some(Value::from(text.trim_end_matches(scan::is_blank))).filter(|_| !text.is_empty())
        }
        Kind::List { .. } | Kind::Tuple(_) | Kind::Map { .. } | Kind::Object(_) => {
            container(text, tree, options.dialect, shape)
        }
        // Where the text may be a value of several types, and for one that is short, the whole of it decides.
        _ => None,
    }
}

fn container(text: &str, tree: &TypeTree, dialect: Dialect, shape: Shape) -> Option<Value> {
    // In DSPy's dialect a string is looked into.
    if text.trim_start().starts_with(['"', '\'']) {
        return None;
    }
    let read = |loose| {
        let mut front = Front::new(text, dialect, loose);
        front.parser.find_container();
        let begins = matches!(front.parser.byte(), Some(b'{' | b'['));
        let node = if begins { front.value() } else { None };
        let whole = matches!(node, Some(Node::Whole(_)));
        let value = node.and_then(|node| Fit::new(tree, dialect, shape).node(node, &tree.root));
        (front, whole, value)
    };
    let (front, whole, strict) = read(false);
    match front.escapes(whole && dialect == Dialect::Plain) {
        Escapes::Strict => strict,
        Escapes::Loose => read(true).2,
        Escapes::Either if shape == Shape::Typed && strict != read(true).2 => None,
        Escapes::Either => common(strict?, read(true).2?),
    }
}

/// What two readings have in common.
fn common(a: Value, b: Value) -> Option<Value> {
    common_front(a, b, &mut true)
}

/// The same; behind a value in which one of them goes on where the other does not, which makes `going` false,
/// they have nothing in common any more. A text is none: both go on behind it.
fn common_front(a: Value, b: Value, going: &mut bool) -> Option<Value> {
    Some(match (a, b) {
        (Value::String(mut a), Value::String(b)) => {
            let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8());
            a.truncate(same.sum());
            Value::String(a)
        }
        (Value::List(a), Value::List(b)) => {
            let (len, other) = (a.len(), b.len());
            let mut list = Vec::with_capacity(len);
            for (a, b) in a.into_iter().zip(b) {
                list.extend(common_front(a, b, going));
                if !*going {
                    break;
                }
            }
            *going &= len == other;
            Value::List(list)
        }
        (Value::Map(a), Value::Map(b)) => {
            let (len, other) = (a.len(), b.len());
            let mut map = Map::new();
            for ((key, a), (same, b)) in a.into_iter().zip(b) {
                *going &= key == same;
                let value = if *going { common_front(a, b, going) } else { None };
                if let Some(value) = value {
                    map.insert(key, value);
                }
                if !*going {
                    break;
                }
            }
            *going &= len == other;
            Value::Map(map)
        }
        (a, b) if a == b => a,
        _ => {
            *going = false;
            return None;
        }
    })
}
