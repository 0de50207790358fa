//! The JSON value that elements are, as their type asks.
//!
//! Elements alone do not tell a list of one from a text, or the text `42` from the number, so every step is
//! directed by the type. What does not fit it is written as the text or the object that it is, for the reader
//! of the JSON to refuse with its place. DSPy's dialect follows `XMLAdapter._elements_to_value` of DSPy 3.4.0,
//! which leaves every text a text for pydantic to take; the plain one writes numbers and booleans itself.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Node;
use crate::dialect::Dialect;
use crate::text::json::push_string;
use crate::text::read::scalar::{self, Number};
use crate::text::read::{container, is_value, quoted};
use crate::types::{Kind, Type, TypeTree};
use crate::value::Value;

/// How many steps into a type and its elements may be taken; elements are nested less deeply than that, so
/// only a type that is a branch of itself comes so far.
const ROOM: usize = 512;

/// Makes JSON of elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Convert<'t> {
    pub(crate) tree: &'t TypeTree,
    pub(crate) dialect: Dialect,
}

impl<'t> Convert<'t> {
    /// Writes the value of the field's type that the elements of one name are.
    pub(crate) fn value(self, nodes: &[Node<'_, '_>], out: &mut String) {
        self.node(nodes, Some(&self.tree.root), out, ROOM);
    }

    fn node(self, nodes: &[Node<'_, '_>], place: Option<&'t Type>, out: &mut String, room: usize) {
        let ([first, ..], Some(room)) = (nodes, room.checked_sub(1)) else {
            out.push_str("null");
            return;
        };
        let Some(ty) = place.map(|ty| self.tree.present(ty)) else { return self.untyped(nodes, out, room) };
        if self.dialect == Dialect::Dspy && first.is_leaf() && self.is_null(place, &first.text()) {
            out.push_str("null");
            return;
        }
        match &ty.kind {
            Kind::Union { branches, .. } => match self.branch(nodes, branches) {
                Some(branch) => self.node(nodes, Some(branch), out, room),
                None => self.leaf_or_untyped(nodes, place, out, room),
            },
            Kind::List { items, .. } => self.list(nodes, place, |_| items.as_deref(), out, room),
            Kind::Tuple(items) => self.list(nodes, place, |at| items.get(at), out, room),
            Kind::Any | Kind::Opaque => self.untyped(nodes, out, room),
            Kind::String | Kind::Reasoning | Kind::Code { .. } => match nodes {
                [node] if node.is_leaf() => {
                    out.push_str(&scalar(self.tree, place, &node.text(), self.dialect));
                }
                [node] => push_string(out, &node.text()),
                _ => self.untyped(nodes, out, room),
            },
            Kind::Object(object) if self.is_map(nodes) => {
                let ty = |key: &str| {
                    object
                        .properties
                        .iter()
                        .find(|property| property.name == key)
                        .map(|property| &property.ty)
                };
                self.map(*first, ty, out, room);
            }
            Kind::Map { values, .. } if self.is_map(nodes) => {
                self.map(*first, |_| values.as_deref(), out, room);
            }
            Kind::Object(_) | Kind::Map { .. }
                if self.dialect == Dialect::Dspy && first.is_leaf() && first.text().is_empty() =>
            {
                out.push_str("{}");
            }
            _ => self.leaf_or_untyped(nodes, place, out, room),
        }
    }

    /// Whether the elements are one object with entries; of several, DSPy takes the first.
    fn is_map(self, nodes: &[Node<'_, '_>]) -> bool {
        match nodes {
            [node] => !node.is_leaf(),
            [first, ..] => self.dialect == Dialect::Dspy && !first.is_leaf(),
            [] => false,
        }
    }

    fn is_null(self, place: Option<&Type>, text: &str) -> bool {
        text.is_empty() && place.is_some_and(|ty| self.tree.is_nullable(ty))
    }

    fn leaf_or_untyped(self, nodes: &[Node<'_, '_>], place: Option<&'t Type>, out: &mut String, room: usize) {
        match nodes {
            [node] if node.is_leaf() => out.push_str(&scalar(self.tree, place, &node.text(), self.dialect)),
            _ => self.untyped(nodes, out, room),
        }
    }

    /// A list: the `<item>`s of one element, or repeated elements, or a text.
    fn list(
        self,
        nodes: &[Node<'_, '_>],
        place: Option<&'t Type>,
        ty: impl Fn(usize) -> Option<&'t Type>,
        out: &mut String,
        room: usize,
    ) {
        let items: Vec<Node<'_, '_>> = match nodes {
            [node] if node.is_leaf() => {
                return out.push_str(&scalar(self.tree, place, &node.text(), self.dialect));
            }
            [node] => {
                let items: Vec<_> = node.children().filter(|child| child.key() == "item").collect();
                match self.dialect {
                    // Children with other names are one item that has parts, and beside items they are nothing.
                    Dialect::Dspy if items.is_empty() => vec![*node],
                    Dialect::Dspy => items,
                    Dialect::Plain if items.len() == node.children().len() && !node.has_text() => items,
                    Dialect::Plain if items.is_empty() && self.takes_parts(ty(0)) => vec![*node],
                    Dialect::Plain => return self.untyped(nodes, out, room),
                }
            }
            nodes => nodes.to_vec(),
        };
        out.push('[');
        for (at, item) in items.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { ", " });
            self.node(std::slice::from_ref(item), ty(at), out, room);
        }
        out.push(']');
    }

    fn takes_parts(self, ty: Option<&Type>) -> bool {
        ty.is_some_and(|ty| matches!(self.tree.present(ty).kind, Kind::Object(_) | Kind::Map { .. }))
    }

    /// An object: its entries by name, those of one name together.
    fn map(self, node: Node<'_, '_>, ty: impl Fn(&str) -> Option<&'t Type>, out: &mut String, room: usize) {
        out.push('{');
        for (at, (key, nodes)) in groups(node.children()).into_iter().enumerate() {
            out.push_str(if at == 0 { "" } else { ", " });
            push_string(out, key);
            out.push_str(": ");
            self.node(&nodes, ty(key), out, room);
        }
        out.push('}');
    }

    /// Elements of no type: an object if there are elements inside, a list if a name is repeated.
    fn untyped(self, nodes: &[Node<'_, '_>], out: &mut String, room: usize) {
        match (nodes, self.dialect) {
            ([node], _) if node.is_leaf() => {
                out.push_str(&scalar(self.tree, None, &node.text(), self.dialect));
            }
            ([node], Dialect::Plain) if node.has_text() => push_string(out, &node.text()),
            ([node], Dialect::Plain) if node.children().all(Node::is_item) => {
                self.list_of(node.children(), out, room);
            }
            ([node], _) => self.map(*node, |_| None, out, room),
            // Of several with elements inside DSPy takes the first.
            ([first, ..], Dialect::Dspy) if !first.is_leaf() => self.map(*first, |_| None, out, room),
            (nodes, _) => self.list_of(nodes.iter().copied(), out, room),
        }
    }

    fn list_of<'d, 'x: 'd>(self, nodes: impl Iterator<Item = Node<'d, 'x>>, out: &mut String, room: usize) {
        out.push('[');
        for (at, node) in nodes.enumerate() {
            out.push_str(if at == 0 { "" } else { ", " });
            self.node(&[node], None, out, room);
        }
        out.push(']');
    }

    /// The branch of a union that elements are of, by what is in them; none for a text, which says itself what
    /// it is.
    fn branch(self, nodes: &[Node<'_, '_>], branches: &'t [Type]) -> Option<&'t Type> {
        let mut present =
            branches.iter().filter(|branch| !matches!(self.tree.resolve(branch).kind, Kind::Null));
        let kind = |ty: &'t Type| &self.tree.present(ty).kind;
        let [node] = nodes else { return present.find(|ty| matches!(kind(ty), Kind::List { .. })) };
        if node.is_leaf() {
            return match self.dialect {
                // DSPy makes a text of the first branch's type.
                Dialect::Dspy => present.next().filter(|ty| matches!(kind(ty), Kind::List { .. })),
                Dialect::Plain => None,
            };
        }
        let several: Vec<&Type> = present.collect();
        let fits = |ty: &&&'t Type| match kind(ty) {
            Kind::Object(object) => {
                let children = groups(node.children());
                children.iter().all(|(key, _)| object.properties.iter().any(|known| known.name == *key))
                    && object.properties.iter().all(|property| {
                        let given = children.iter().find(|(key, _)| *key == property.name);
                        match (given, &self.tree.present(&property.ty).kind) {
                            (Some((_, nodes)), Kind::Choice(choice)) => nodes.iter().all(|node| {
                                scalar::member(choice, &node.text(), self.dialect, true).is_some()
                            }),
                            (Some(_), _) => true,
                            (None, _) => !property.required,
                        }
                    })
            }
            Kind::List { .. } | Kind::Tuple(_) => node.children().all(Node::is_item),
            Kind::Map { .. } => true,
            _ => false,
        };
        let text = |ty: &&&'t Type| matches!(kind(ty), Kind::String | Kind::Reasoning | Kind::Code { .. });
        several.iter().find(fits).or_else(|| several.iter().find(text)).copied()
    }
}

/// Elements by their keys, in the order of the first of each.
pub(crate) fn groups<'d, 't>(nodes: impl Iterator<Item = Node<'d, 't>>) -> Vec<(&'d str, Vec<Node<'d, 't>>)> {
    let mut groups: Vec<(&str, Vec<Node<'_, '_>>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for node in nodes {
        let at = *places.entry(node.key()).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, group)) => group.push(node),
            None => groups.push((node.key(), vec![node])),
        }
    }
    groups
}

/// The JSON of a text that stands alone in an element, trimmed, for a place of the type `place`.
pub(crate) fn scalar<'x>(
    tree: &TypeTree,
    place: Option<&Type>,
    text: &'x str,
    dialect: Dialect,
) -> Cow<'x, str> {
    scalar_inside(tree, place, text, dialect, LIST_ROOM)
}

fn scalar_inside<'x>(
    tree: &TypeTree,
    place: Option<&Type>,
    text: &'x str,
    dialect: Dialect,
    room: usize,
) -> Cow<'x, str> {
    let quote = |text: &str| {
        let mut out = String::with_capacity(text.len() + 2);
        push_string(&mut out, text);
        Cow::Owned(out)
    };
    let Some(place) = place else {
        return match dialect {
            Dialect::Plain => anything(text, |_| true),
            Dialect::Dspy => quote(text),
        };
    };
    let ty = tree.present(place);
    let nullable = tree.is_nullable(place);
    if nullable && (text.is_empty() || (dialect == Dialect::Plain && text == "null")) {
        return "null".into();
    }
    match &ty.kind {
        Kind::List { .. } | Kind::Tuple(_) if text.is_empty() => "[]".into(),
        Kind::Object(_) | Kind::Map { .. } if text.is_empty() => "{}".into(),
        Kind::List { items, .. } if room > 0 && is_one_item(text, dialect) => {
            format!("[{}]", scalar_inside(tree, items.as_deref(), text, dialect, room - 1)).into()
        }
        Kind::Choice(choice) => match scalar::member(choice, text, dialect, true) {
            Some(member) if dialect == Dialect::Plain || !matches!(member.value, Value::String(_)) => {
                crate::text::write::json_text(&member.value).into()
            }
            _ => quote(text),
        },
        // An object to pydantic, whose content is missing.
        Kind::Reasoning if dialect == Dialect::Dspy && text.is_empty() => "{}".into(),
        Kind::Union { branches, .. } if dialect == Dialect::Dspy && text.is_empty() => {
            let first =
                branches.iter().map(|branch| tree.present(branch)).find(|ty| !matches!(ty.kind, Kind::Null));
            match first.map(|ty| &ty.kind) {
                Some(Kind::List { .. }) => "[]".into(),
                Some(Kind::Map { .. } | Kind::Object(_)) => "{}".into(),
                _ => quote(text),
            }
        }
        _ if dialect == Dialect::Dspy => quote(text),
        Kind::String | Kind::Reasoning | Kind::Code { .. } if nullable => match optional_text(text) {
            Some(content) => quote(&content),
            None => quote(text),
        },
        Kind::Null if text == "null" => "null".into(),
        Kind::Integer => match scalar::integer(text, dialect) {
            Some(Number::Int(number)) => number.to_string().into(),
            Some(Number::Big(number)) => number.to_string().into(),
            _ => quote(text),
        },
        Kind::Number => match scalar::number(text, dialect) {
            Some(Number::Int(number)) => number.to_string().into(),
            Some(Number::Big(number)) => number.to_string().into(),
            Some(Number::Float(number)) => crate::text::write::json_text(&Value::Float(number)).into(),
            None => quote(text),
        },
        Kind::Boolean => match scalar::boolean(text, dialect) {
            Some(true) => "true".into(),
            Some(false) => "false".into(),
            None => quote(text),
        },
        Kind::List { .. }
        | Kind::Tuple(_)
        | Kind::Object(_)
        | Kind::Map { .. }
        | Kind::ToolCalls
        | Kind::History => container(text, dialect).unwrap_or_else(|| quote(text)),
        Kind::Any | Kind::Opaque => anything(text, |_| true),
        Kind::Union { branches, .. } => union(tree, branches, text),
        _ => quote(text),
    }
}

/// A text where a union is wanted. As at the top of a section, quotes are taken off only where the bare text
/// would be read as something else.
fn union<'x>(tree: &TypeTree, branches: &[Type], text: &'x str) -> Cow<'x, str> {
    let takes = |first| branches.iter().any(|branch| takes(tree, branch, first, UNION_ROOM));
    if text.is_empty() {
        let kinds = [(b'"', "\"\""), (b'[', "[]"), (b'{', "{}")];
        return kinds.into_iter().find(|(first, _)| takes(*first)).map_or("null", |(_, empty)| empty).into();
    }
    let json = |text: &str| {
        let mut out = String::with_capacity(text.len() + 2);
        push_string(&mut out, text);
        out
    };
    match quoted(text) {
        Some(content) => {
            let trimmed = content.trim();
            let bare = json(&content);
            let must_quote = trimmed.is_empty()
                || trimmed.len() != content.len()
                || quoted(&content).is_some()
                || anything(&content, takes) != bare;
            if must_quote { bare.into() } else { json(text).into() }
        }
        None => anything(text, takes),
    }
}

/// How many lists a text may be the only item of, one inside the other: a list of itself would be endless.
const LIST_ROOM: usize = 128;

/// How many unions may be one inside the other, without anything between.
const UNION_ROOM: usize = 4;

/// Whether a text in the place of a list is its only item (row 82), and not a list of another kind. DSPy takes
/// anything for one that is no JSON list.
pub(crate) fn is_one_item(text: &str, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Plain => !text.contains(['[', ',', ';', '\n']),
        Dialect::Dspy => !text.starts_with('['),
    }
}

/// What a text says where anything is welcome, if `takes` says that values which begin so are.
fn anything(text: &str, takes: impl Fn(u8) -> bool) -> Cow<'_, str> {
    let json = match text.bytes().next() {
        None => return "null".into(),
        Some(first @ (b'[' | b'{')) if takes(first) => container(text, Dialect::Plain),
        Some(first) if is_value(text) && takes(first) => {
            serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok().then_some(Cow::Borrowed(text))
        }
        _ => None,
    };
    json.unwrap_or_else(|| {
        let mut out = String::with_capacity(text.len() + 2);
        push_string(&mut out, text);
        out.into()
    })
}

/// Whether a type has values whose JSON begins with `first`.
fn takes(tree: &TypeTree, ty: &Type, first: u8, room: usize) -> bool {
    match &tree.resolve(ty).kind {
        Kind::Any | Kind::Opaque => true,
        Kind::Integer | Kind::Number => first == b'-' || first.is_ascii_digit(),
        Kind::Boolean => matches!(first, b't' | b'f'),
        Kind::Null => first == b'n',
        Kind::List { .. } | Kind::Tuple(_) => first == b'[',
        Kind::Object(_) | Kind::Map { .. } => first == b'{',
        Kind::Choice(choice) => {
            first == b'"' || choice.members.iter().any(|member| !matches!(member.value, Value::String(_)))
        }
        Kind::Union { branches, .. } => {
            room > 0 && branches.iter().any(|branch| takes(tree, branch, first, room - 1))
        }
        _ => first == b'"',
    }
}

/// The content of a text that is in quotes because its bare form would not be read as that text: an empty one,
/// `null`, or one that is in quotes itself.
fn optional_text(text: &str) -> Option<String> {
    quoted(text).filter(|content| {
        let trimmed = content.trim();
        trimmed.is_empty() || trimmed == "null" || quoted(content).is_some()
    })
}

/// Whether a text is a blank one in quotes.
pub(crate) fn quoted_blank(text: &str) -> bool {
    quoted(text).is_some_and(|content| content.trim().is_empty())
}
