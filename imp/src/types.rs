//! A field's type, compiled from its JSON Schema.
//!
//! The schema is the one description of a type (law 2): schemars makes it for a Rust type,
//! `described` for a signature written as data. Everything that asks "what is this type?" (the
//! words of a prompt, the reader, the provider's schema, the check of a reply) asks the [`Type`]
//! compiled from it here, once, when the spec is built.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::value::Value;

/// The `x-imp-…` schema keys by which `imp`'s own types say what they are.
pub(crate) mod key {
    /// `reasoning`, `citations`, `code`, `history`, `tool`, `tool_calls`, `image`, `audio`, `file`.
    pub(crate) const KIND: &str = "x-imp-kind";
    /// The programming language of a code field.
    pub(crate) const LANGUAGE: &str = "x-imp-language";
    /// The names of an enum's members, beside the values in `enum`; they make it a named enum,
    /// which the DSPy dialect calls by its name instead of `Literal[…]`.
    pub(crate) const NAMES: &str = "x-imp-names";
    /// Whether `inf` and `nan` are allowed.
    pub(crate) const INF_NAN: &str = "x-imp-allow-inf-nan";
}

/// How deep a schema may be nested as JSON: a type inside another takes two levels, `properties` and its name.
const JSON_DEPTH: usize = 2 * DEPTH + 8;

/// Refuses JSON that is nested deeper than the schema of any type, so that it can be cloned and walked.
///
/// # Errors
///
/// A text that says so of `what`.
pub(crate) fn check_depth(json: &Json, what: &str) -> Result<(), String> {
    let mut open = vec![(json, 0)];
    while let Some((json, depth)) = open.pop() {
        if depth > JSON_DEPTH {
            return Err(format!("{what} is nested more than {JSON_DEPTH} levels deep"));
        }
        match json {
            Json::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Json::Object(map) => open.extend(map.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    Ok(())
}

/// A type with the named types that it refers to.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each says of one thing whether it occurs")]
pub(crate) struct TypeTree {
    /// The type itself.
    pub(crate) root: Type,
    /// What [`Kind::Ref`] points into: the named objects and enums, and whatever is recursive.
    pub(crate) defs: Arc<[(String, Type)]>,
    /// Whether any node has checks of its own (bounds, patterns) that serde does not make.
    pub(crate) checked: bool,
    /// Whether a date or time occurs anywhere.
    pub(crate) dated: bool,
    /// Whether an image, an audio or a file occurs anywhere.
    pub(crate) parts: bool,
    /// Whether a history, a tool or tool calls occur anywhere.
    pub(crate) own: bool,
}

/// One node of a type.
#[derive(Debug, Clone)]
pub(crate) struct Type {
    pub(crate) kind: Kind,
    /// The description written at this place of the schema.
    pub(crate) description: Option<String>,
    /// The default written at this place of the schema.
    pub(crate) default: Option<Value>,
    /// Bounds, boxed because most nodes have none.
    pub(crate) checks: Option<Box<Checks>>,
    /// The schema node as it was given, for notes of shapes that have no words of their own.
    pub(crate) schema: Arc<Json>,
}

/// What a node is.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Any value.
    Any,
    /// Only null.
    Null,
    String,
    Integer,
    Number,
    Boolean,
    /// A date and time; `offset` says whether it must, may or must not have one.
    DateTime,
    Date,
    /// One of some values: an enum of unit variants, a literal, a named enum.
    Choice(Choice),
    /// A list; without `items` of anything; `unique` for sets.
    List {
        items: Option<Box<Type>>,
        unique: bool,
    },
    /// A list of fixed length.
    Tuple(Vec<Type>),
    /// An object with arbitrary keys; without `values` of anything; `text_keys` is false where a
    /// pattern restricts the keys (integer keys).
    Map {
        values: Option<Box<Type>>,
        text_keys: bool,
        /// What the keys must match.
        keys: Option<Box<Pattern>>,
    },
    Object(Object),
    /// Any of the branches (null is a branch). `tagged` where exactly one can match (`oneOf`).
    Union {
        branches: Vec<Type>,
        tagged: bool,
    },
    /// A place in [`TypeTree::defs`].
    Ref(usize),
    /// Text that is the model's reasoning.
    Reasoning,
    /// Source code in a language.
    Code {
        language: String,
    },
    /// A conversation history.
    History,
    /// Tool calls asked for by the model.
    ToolCalls,
    /// An image, a recording or a document.
    Part(PartKind),
    /// A shape that is not understood: kept as its schema, read by serde alone.
    Opaque,
}

/// What a part of a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartKind {
    Image,
    Audio,
    File,
}

/// The members of a [`Kind::Choice`], in declared order.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    /// The enum's name, if it is one that prompts call by its name.
    pub(crate) name: Option<String>,
    pub(crate) members: Vec<Member>,
}

#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) value: Value,
    /// The member's name beside its value (named enums only).
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Object {
    pub(crate) name: String,
    pub(crate) properties: Vec<Property>,
    /// Whether other keys are refused.
    pub(crate) closed: bool,
    /// What the values of other keys are.
    pub(crate) additional: Option<Box<Type>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) required: bool,
}

/// A number of a bound, as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    #[allow(
        clippy::cast_precision_loss,
        reason = "a bound beyond 2^53 is compared as a float only with floats"
    )]
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    /// Compares exactly: an integer beyond 2^53 is not rounded to a float.
    pub(crate) fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Int(one), Number::Int(other)) => Some(one.cmp(&other)),
            (Number::Float(one), Number::Float(other)) => one.partial_cmp(&other),
            (Number::Int(one), Number::Float(other)) => compare_to_float(one, other),
            (Number::Float(one), Number::Int(other)) => compare_to_float(other, one).map(Ordering::reverse),
        }
    }

    pub(crate) fn from_json(value: &Json) -> Option<Number> {
        let number = value.as_number()?;
        match number.as_i128() {
            Some(value) => Some(Number::Int(value)),
            None => number.as_f64().map(Number::Float),
        }
    }
}

/// Compares without rounding the integer.
#[allow(clippy::cast_possible_truncation, reason = "a whole number within the integer's range")]
fn compare_to_float(int: i128, float: f64) -> Option<Ordering> {
    // 2^127, the first float above every integer.
    const END: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    if float.is_nan() {
        None
    } else if float >= END {
        Some(Ordering::Less)
    } else if float < -END {
        Some(Ordering::Greater)
    } else {
        let whole = float.trunc();
        let rest = 0.0_f64.partial_cmp(&(float - whole));
        Some(int.cmp(&(whole as i128))).map(|order| order.then(rest.unwrap_or(Ordering::Equal)))
    }
}

/// What a value must satisfy beyond its type.
#[derive(Debug, Clone, Default)]
pub(crate) struct Checks {
    pub(crate) minimum: Option<Number>,
    pub(crate) maximum: Option<Number>,
    pub(crate) exclusive_minimum: Option<Number>,
    pub(crate) exclusive_maximum: Option<Number>,
    pub(crate) multiple_of: Option<Number>,
    /// Of a text in characters, of a list in items, of a map in entries.
    pub(crate) min_length: Option<usize>,
    pub(crate) max_length: Option<usize>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) inf_nan: Option<bool>,
    pub(crate) answer_shape: Option<AnswerShape>,
}

impl Checks {
    pub(crate) fn is_empty(&self) -> bool {
        self.minimum.is_none()
            && self.maximum.is_none()
            && self.exclusive_minimum.is_none()
            && self.exclusive_maximum.is_none()
            && self.multiple_of.is_none()
            && self.min_length.is_none()
            && self.max_length.is_none()
            && self.pattern.is_none()
            && self.inf_nan.is_none()
            && self.answer_shape.is_none()
    }
}

/// The form that a text answer must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerShape {
    /// Exactly yes or no.
    YesNo,
    /// A concise exact span.
    ShortSpan,
    /// Only a number.
    NumericSpan,
}

/// A regular expression with its source.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    pub(crate) source: String,
    pub(crate) regex: regex_lite::Regex,
}

impl Pattern {
    pub(crate) fn new(source: &str) -> Result<Self, String> {
        match regex_lite::Regex::new(source) {
            Ok(regex) => Ok(Pattern { source: source.to_owned(), regex }),
            Err(error) => Err(format!("the pattern `{source}` cannot be used: {error}")),
        }
    }
}

impl Type {
    /// Whether this is a tool, which a prompt shows by its listing.
    pub(crate) fn is_tool(&self) -> bool {
        is_tool(&self.schema)
    }
}

impl TypeTree {
    /// Whether the type is a list of tools, or none.
    pub(crate) fn is_tools(&self) -> bool {
        match &self.present(&self.root).kind {
            Kind::List { items: Some(items), .. } => self.present(items).is_tool(),
            _ => false,
        }
    }

    /// Whether the type is tool calls, or none.
    pub(crate) fn is_tool_calls(&self) -> bool {
        matches!(self.present(&self.root).kind, Kind::ToolCalls)
    }

    /// Compiles a root schema, as schemars and `described` make them.
    ///
    /// # Errors
    ///
    /// A text that names the place and the remedy: a pattern that is no regular expression, a
    /// `$ref` to nothing, a type that is nested too deeply or is a branch of itself.
    pub(crate) fn compile(schema: &Json) -> Result<TypeTree, String> {
        check_depth(schema, "the schema")?;
        let tree = Compiler::new(schema).run(schema)?;
        tree.check_progress()?;
        Ok(tree)
    }

    /// A type that is a branch of itself, with no list or object in between, has no end: every walk over it
    /// would be endless.
    fn check_progress(&self) -> Result<(), String> {
        for (start, (name, ty)) in self.defs.iter().enumerate() {
            let mut seen = BTreeSet::new();
            let mut open = vec![ty];
            while let Some(ty) = open.pop() {
                match &ty.kind {
                    Kind::Ref(at) if *at == start => {
                        return Err(format!(
                            "the type `{name}` is a branch of itself: put a list or an object in between"
                        ));
                    }
                    Kind::Ref(at) if seen.insert(*at) => open.extend(self.defs.get(*at).map(|(_, ty)| ty)),
                    Kind::Union { branches, .. } => open.extend(branches),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The node that `ty` is, through any reference.
    pub(crate) fn resolve<'t>(&'t self, mut ty: &'t Type) -> &'t Type {
        // Each reference is followed once; a chain that comes back to itself leads nowhere.
        for _ in 0..=self.defs.len() {
            match ty.kind {
                Kind::Ref(at) => ty = &self.defs[at].1,
                _ => break,
            }
        }
        ty
    }

    /// Whether null is a value of the type.
    pub(crate) fn nullable(&self) -> bool {
        self.is_nullable(&self.root)
    }

    /// Whether null is a value of a node of this type.
    pub(crate) fn is_nullable(&self, ty: &Type) -> bool {
        self.allows_null(ty, self.defs.len() + 1)
    }

    /// A newtype around an `Option` of itself is a union that is its own branch: `depth` ends that.
    fn allows_null(&self, ty: &Type, depth: usize) -> bool {
        match &self.resolve(ty).kind {
            Kind::Null => true,
            Kind::Union { branches, .. } => {
                branches.iter().any(|branch| matches!(branch.kind, Kind::Null))
                    || (depth > 0 && branches.iter().any(|branch| self.allows_null(branch, depth - 1)))
            }
            _ => false,
        }
    }

    /// `T` if `ty` is exactly "T or null".
    pub(crate) fn optional<'t>(&'t self, ty: &'t Type) -> Option<&'t Type> {
        match &self.resolve(ty).kind {
            Kind::Union { branches, .. } => match branches.as_slice() {
                [some, null] | [null, some] if matches!(null.kind, Kind::Null) => Some(some),
                _ => None,
            },
            _ => None,
        }
    }

    /// `ty` through references and "or null": what a value that is not null is.
    pub(crate) fn present<'t>(&'t self, ty: &'t Type) -> &'t Type {
        match self.optional(ty) {
            Some(some) => self.resolve(some),
            None => self.resolve(ty),
        }
    }

    /// Whether the type is read and written as bare text: a string without choices.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.present(&self.root).kind, Kind::String | Kind::Reasoning)
    }
}

impl Type {
    /// Calls `visit` with every reference in the type, without following them, and with whether serde
    /// reads it by trying the branches of an untagged union; `replayed` says that of the type itself.
    pub(crate) fn each_ref(&self, replayed: bool, visit: &mut impl FnMut(usize, bool)) {
        match &self.kind {
            Kind::Ref(at) => visit(*at, replayed),
            Kind::List { items: Some(inner), .. } | Kind::Map { values: Some(inner), .. } => {
                inner.each_ref(replayed, visit);
            }
            Kind::Tuple(types) => {
                for inner in types {
                    inner.each_ref(replayed, visit);
                }
            }
            Kind::Union { branches, tagged } => {
                let present = branches.iter().filter(|branch| !matches!(branch.kind, Kind::Null)).count();
                let replayed = replayed || (!tagged && present > 1);
                for branch in branches {
                    branch.each_ref(replayed, visit);
                }
            }
            Kind::Object(object) => {
                for property in &object.properties {
                    property.ty.each_ref(replayed, visit);
                }
                if let Some(ty) = &object.additional {
                    ty.each_ref(replayed, visit);
                }
            }
            _ => {}
        }
    }
}

impl TypeTree {
    /// serde reads an untagged enum by trying one variant after the other, and in each of them all variants of
    /// what is inside: where such a type contains itself, that is exponential in the depth of a reply.
    pub(crate) fn refuse_recursive_unions(&self) -> Result<(), String> {
        for (place, (name, ty)) in self.defs.iter().enumerate() {
            if self.has_union_to(ty, place, false, &mut vec![[false; 2]; self.defs.len()]) {
                return Err(format!(
                    "the type `{name}` is an untagged enum that contains itself, which cannot be read in \
                     bounded time: give the enum a tag (`#[serde(tag = \"type\")]`)"
                ));
            }
        }
        Ok(())
    }

    /// Whether `ty` leads to the place `target` through an untagged union of several types.
    fn has_union_to(&self, ty: &Type, target: usize, through: bool, seen: &mut Vec<[bool; 2]>) -> bool {
        match &ty.kind {
            Kind::Ref(place) if *place == target => through,
            Kind::Ref(place) => {
                !std::mem::replace(&mut seen[*place][usize::from(through)], true)
                    && self.has_union_to(&self.defs[*place].1, target, through, seen)
            }
            Kind::Union { branches, tagged } => {
                let several = branches.iter().filter(|branch| !matches!(branch.kind, Kind::Null)).count() > 1;
                let through = through || (several && !tagged);
                branches.iter().any(|branch| self.has_union_to(branch, target, through, seen))
            }
            Kind::List { items: Some(ty), .. } | Kind::Map { values: Some(ty), .. } => {
                self.has_union_to(ty, target, through, seen)
            }
            Kind::Tuple(types) => types.iter().any(|ty| self.has_union_to(ty, target, through, seen)),
            Kind::Object(object) => object
                .properties
                .iter()
                .map(|property| &property.ty)
                .chain(object.additional.as_deref())
                .any(|ty| self.has_union_to(ty, target, through, seen)),
            _ => false,
        }
    }

    /// Whether a section of this type is text as it stands, in which marker lines are escaped.
    pub(crate) fn is_bare_text(&self) -> bool {
        self.is_text() || matches!(self.present(&self.root).kind, Kind::Code { .. })
    }
}

/// Types nested deeper than this are refused, so that no walk over one can run out of stack. Values end at
/// the same depth.
const DEPTH: usize = 128;

#[allow(clippy::struct_excessive_bools, reason = "each says of one thing whether it occurs")]
struct Compiler<'s> {
    sources: Vec<(&'s str, &'s Json)>,
    defs: Vec<Option<(String, Type)>>,
    /// Places in `sources` that are being compiled: a reference to one of them is recursive.
    open: Vec<usize>,
    /// Places in `sources` that a recursion has pointed at: they stay references.
    recursive: Vec<bool>,
    /// How many levels are open.
    depth: usize,
    /// The most levels that there have been, and those below each of `defs`.
    deepest: usize,
    heights: Vec<usize>,
    checked: bool,
    dated: bool,
    parts: bool,
    own: bool,
}

impl<'s> Compiler<'s> {
    fn new(root: &'s Json) -> Self {
        let sources: Vec<_> = ["$defs", "definitions"]
            .iter()
            .filter_map(|key| root.get(key)?.as_object())
            .flatten()
            .map(|(name, schema)| (name.as_str(), schema))
            .collect();
        let count = sources.len();
        Compiler {
            sources,
            defs: vec![None; count],
            open: Vec::new(),
            recursive: vec![false; count],
            depth: 0,
            deepest: 0,
            heights: vec![0; count],
            checked: false,
            dated: false,
            parts: false,
            own: false,
        }
    }

    fn run(mut self, root: &'s Json) -> Result<TypeTree, String> {
        let name = root.get("title").and_then(Json::as_str).unwrap_or("Object").to_owned();
        // `#` refers to the root itself: it gets a place behind the named ones.
        let root_place = self.sources.len();
        self.sources.push(("#", root));
        self.defs.push(None);
        self.recursive.push(false);
        self.heights.push(0);
        self.open.push(root_place);
        let mut ty = self.node(root, &name)?;
        if self.recursive[root_place] {
            self.defs[root_place] = Some((name, ty));
            ty = node_of(Kind::Ref(root_place), root);
        }
        // Unused places keep their index, so that references stay right.
        let defs = self
            .defs
            .into_iter()
            .map(|def| def.unwrap_or_else(|| (String::new(), node_of(Kind::Any, &Json::Bool(true)))))
            .collect();
        let (checked, dated, own, parts) = (self.checked, self.dated, self.own, self.parts);
        Ok(TypeTree { root: ty, defs, checked, dated, own, parts })
    }

    fn reference(&mut self, target: &str) -> Result<Type, String> {
        let name = target
            .strip_prefix("#/$defs/")
            .or_else(|| target.strip_prefix("#/definitions/"))
            .map(|name| name.replace("~1", "/").replace("~0", "~"));
        let name = name.as_deref().unwrap_or(target);
        let Some(place) = self.sources.iter().position(|(known, _)| *known == name) else {
            return Err(format!("the schema refers to `{target}`, which it does not define"));
        };
        let source = self.sources[place].1;
        if self.open.contains(&place) {
            self.recursive[place] = true;
            return Ok(node_of(Kind::Ref(place), source));
        }
        if self.defs[place].is_some() {
            self.reach(self.depth + self.heights[place])?;
            return Ok(node_of(Kind::Ref(place), source));
        }
        self.open.push(place);
        let before = std::mem::replace(&mut self.deepest, self.depth);
        let ty = self.node(source, name)?;
        self.heights[place] = self.deepest - self.depth;
        self.deepest = self.deepest.max(before);
        self.open.pop();
        // Only what a prompt calls by its name, or what contains itself, is worth a reference:
        // anything else reads the same inlined, and `list[Literal['a']]` needs it inlined.
        let named = match &ty.kind {
            Kind::Object(_) | Kind::Union { tagged: true, .. } => true,
            Kind::Choice(choice) => choice.name.is_some(),
            _ => false,
        };
        if named || self.recursive[place] {
            self.defs[place] = Some((name.to_owned(), ty));
            Ok(node_of(Kind::Ref(place), source))
        } else {
            Ok(ty)
        }
    }

    fn reach(&mut self, depth: usize) -> Result<(), String> {
        self.deepest = self.deepest.max(depth);
        if depth > DEPTH {
            return Err(format!("the type is nested more than {DEPTH} deep"));
        }
        Ok(())
    }

    fn node(&mut self, schema: &'s Json, name: &str) -> Result<Type, String> {
        self.depth += 1;
        self.reach(self.depth)?;
        let ty = self.level(schema, name)?;
        self.depth -= 1;
        Ok(ty)
    }

    fn level(&mut self, schema: &'s Json, name: &str) -> Result<Type, String> {
        let Json::Object(map) = schema else {
            return Ok(node_of(if schema == &Json::Bool(false) { Kind::Opaque } else { Kind::Any }, schema));
        };
        if let Some(target) = map.get("$ref").and_then(Json::as_str) {
            let mut ty = self.reference(target)?;
            // What stands beside a reference is about this place, not about the named type.
            ty.description = text(map, "description").or(match ty.kind {
                Kind::Ref(_) => None,
                _ => ty.description,
            });
            ty.default = map.get("default").map(|value| value.clone().into()).or(match ty.kind {
                Kind::Ref(_) => None,
                _ => ty.default,
            });
            return Ok(ty);
        }
        if let Some([only]) = map.get("allOf").and_then(Json::as_array).map(Vec::as_slice) {
            if map.keys().all(|word| word == "allOf" || is_annotation(word)) {
                let mut ty = self.node(only, name)?;
                ty.description = text(map, "description").or(ty.description);
                ty.default = map.get("default").map(|value| value.clone().into()).or(ty.default);
                return Ok(ty);
            }
        }
        let kind = self.kind(schema, map, name)?;
        let checks = self.checks(map, &kind)?;
        self.dated |= matches!(kind, Kind::Date | Kind::DateTime);
        Ok(Type {
            description: text(map, "description"),
            default: map.get("default").map(|value| value.clone().into()),
            checks,
            schema: Arc::new(schema.clone()),
            kind,
        })
    }

    fn kind(
        &mut self,
        schema: &'s Json,
        map: &'s serde_json::Map<String, Json>,
        name: &str,
    ) -> Result<Kind, String> {
        // A text to every reader; only its writer knows.
        self.own |= is_tool(schema);
        if let Some(own) = own_kind(map) {
            self.parts |= matches!(own, Kind::Part(_));
            self.own |= matches!(own, Kind::History | Kind::ToolCalls);
            // schemars writes `Option` of it as `"type": ["string", "null"]`, beside the rest.
            let words = map.get("type").and_then(Json::as_array);
            if !words.is_some_and(|words| words.iter().any(|word| word == "null")) {
                return Ok(own);
            }
            let mut present = map.clone();
            let first = words.and_then(|words| words.iter().find(|word| *word != "null"));
            present.insert("type".to_owned(), first.cloned().unwrap_or(Json::Null));
            let null = serde_json::json!({ "type": "null" });
            let branches = vec![node_of(own, &Json::Object(present)), node_of(Kind::Null, &null)];
            return Ok(Kind::Union { branches, tagged: false });
        }
        if let Some(members) = map.get("enum").and_then(Json::as_array) {
            return Ok(choice_of(members, map, name));
        }
        if let Some(only) = map.get("const") {
            return Ok(choice_of(std::slice::from_ref(only), map, name));
        }
        for (word, tagged) in [("anyOf", false), ("oneOf", true)] {
            if let Some(branches) = map.get(word).and_then(Json::as_array) {
                return Ok(match self.union(branches, tagged, name)? {
                    Kind::Choice(choice) => Kind::Choice(named(choice, map, name)),
                    kind => kind,
                });
            }
        }
        if let Some([only]) = map.get("allOf").and_then(Json::as_array).map(Vec::as_slice) {
            return Ok(self.node(only, name)?.kind);
        }
        match map.get("type") {
            Some(Json::String(word)) => self.typed(word, schema, map, name),
            // schemars writes `Option` of a simple type as `"type": ["integer", "null"]`.
            Some(Json::Array(words)) => {
                let mut branches = Vec::new();
                for word in words {
                    let Some(word) = word.as_str() else { return Ok(Kind::Opaque) };
                    let kind = self.typed(word, schema, map, name)?;
                    let checks = self.checks(map, &kind)?;
                    let mut branch = node_of(kind, &single(map, word));
                    branch.checks = checks;
                    branches.push(branch);
                }
                Ok(flat_union(branches, false))
            }
            None if map.contains_key("properties") => self.object(map, name),
            None if map.keys().all(|word| is_annotation(word)) => Ok(Kind::Any),
            _ => Ok(Kind::Opaque),
        }
    }

    fn typed(
        &mut self,
        word: &str,
        schema: &'s Json,
        map: &'s serde_json::Map<String, Json>,
        name: &str,
    ) -> Result<Kind, String> {
        Ok(match word {
            "null" => Kind::Null,
            "boolean" => Kind::Boolean,
            "integer" => Kind::Integer,
            "number" => Kind::Number,
            "string" => match map.get("format").and_then(Json::as_str) {
                Some("date-time" | "partial-date-time") => Kind::DateTime,
                Some("date") => Kind::Date,
                _ => Kind::String,
            },
            "array" => match map.get("prefixItems").and_then(Json::as_array) {
                Some(items) => {
                    let items = items.iter().map(|item| self.node(item, name));
                    Kind::Tuple(items.collect::<Result<_, _>>()?)
                }
                None => Kind::List {
                    items: match map.get("items") {
                        None | Some(Json::Bool(true)) => None,
                        Some(items) => Some(Box::new(self.node(items, name)?)),
                    },
                    unique: map.get("uniqueItems") == Some(&Json::Bool(true)),
                },
            },
            "object" if map.contains_key("properties") => self.object(map, name)?,
            "object" => self.map(map, name)?,
            _ => {
                let _ = schema;
                Kind::Opaque
            }
        })
    }

    fn map(&mut self, map: &'s serde_json::Map<String, Json>, name: &str) -> Result<Kind, String> {
        if let Some(patterns) = map.get("patternProperties").and_then(Json::as_object) {
            let Some((keys, values)) = patterns.iter().next().filter(|_| patterns.len() == 1) else {
                return Ok(Kind::Opaque);
            };
            let keys = Some(Box::new(Pattern::new(keys)?));
            return Ok(Kind::Map {
                values: Some(Box::new(self.node(values, name)?)),
                text_keys: false,
                keys,
            });
        }
        let text_keys = !map.contains_key("propertyNames");
        match map.get("additionalProperties") {
            // An object that may hold nothing: a struct without fields.
            Some(Json::Bool(false)) => self.object(map, name),
            None | Some(Json::Bool(true)) => Ok(Kind::Map { values: None, text_keys, keys: None }),
            Some(values) => {
                Ok(Kind::Map { values: Some(Box::new(self.node(values, name)?)), text_keys, keys: None })
            }
        }
    }

    fn object(&mut self, map: &'s serde_json::Map<String, Json>, name: &str) -> Result<Kind, String> {
        let required: Vec<&str> = map
            .get("required")
            .and_then(Json::as_array)
            .map(|names| names.iter().filter_map(Json::as_str).collect())
            .unwrap_or_default();
        let mut properties = Vec::new();
        if let Some(entries) = map.get("properties").and_then(Json::as_object) {
            for (property, schema) in entries {
                properties.push(Property {
                    name: property.clone(),
                    ty: self.node(schema, property)?,
                    required: required.contains(&property.as_str()),
                });
            }
        }
        let name = map.get("title").and_then(Json::as_str).unwrap_or(name).to_owned();
        let additional = match map.get("additionalProperties") {
            Some(values @ Json::Object(_)) => Some(Box::new(self.node(values, &name)?)),
            _ => None,
        };
        Ok(Kind::Object(Object {
            name,
            properties,
            additional,
            closed: map.get("additionalProperties") == Some(&Json::Bool(false)),
        }))
    }

    fn union(&mut self, branches: &'s [Json], tagged: bool, name: &str) -> Result<Kind, String> {
        let types = branches.iter().map(|branch| self.node(branch, name)).collect::<Result<Vec<_>, _>>()?;
        // An enum whose unit variants are documented comes as `oneOf` of constants, one a variant.
        if tagged
            && !types.is_empty()
            && types.iter().all(|ty| matches!(ty.kind, Kind::Choice(Choice { name: None, .. })))
        {
            let mut members = Vec::new();
            for ty in types {
                let Kind::Choice(choice) = ty.kind else { continue };
                for mut member in choice.members {
                    member.description = member.description.or_else(|| ty.description.clone());
                    members.push(member);
                }
            }
            return Ok(Kind::Choice(Choice { name: None, members }));
        }
        Ok(flat_union(types, tagged))
    }

    fn checks(
        &mut self,
        map: &serde_json::Map<String, Json>,
        kind: &Kind,
    ) -> Result<Option<Box<Checks>>, String> {
        let number = |word: &str| map.get(word).and_then(Number::from_json);
        let length = |word: &str| map.get(word).and_then(Json::as_u64).and_then(|n| usize::try_from(n).ok());
        let mut checks =
            Checks { inf_nan: map.get(key::INF_NAN).and_then(Json::as_bool), ..Checks::default() };
        match kind {
            Kind::Integer | Kind::Number => {
                checks.minimum = number("minimum");
                checks.maximum = number("maximum");
                checks.exclusive_minimum = number("exclusiveMinimum");
                checks.exclusive_maximum = number("exclusiveMaximum");
                checks.multiple_of = number("multipleOf");
                drop_implied(map, &mut checks);
            }
            Kind::String => {
                checks.min_length = length("minLength");
                checks.max_length = length("maxLength");
                if let Some(source) = map.get("pattern").and_then(Json::as_str) {
                    checks.pattern = Some(Pattern::new(source)?);
                }
            }
            Kind::Map { .. } | Kind::Object(_) => {
                checks.min_length = length("minProperties");
                checks.max_length = length("maxProperties");
            }
            Kind::List { .. } => {
                checks.min_length = length("minItems");
                checks.max_length = length("maxItems");
            }
            _ => {}
        }
        if checks.is_empty() {
            return Ok(None);
        }
        self.checked = true;
        Ok(Some(Box::new(checks)))
    }
}

/// A Rust integer's own bounds (`u8`) are serde's to check and nobody's to print.
fn drop_implied(map: &serde_json::Map<String, Json>, checks: &mut Checks) {
    let Some((low, high)) = implied(map) else { return };
    if checks.minimum == Some(Number::Int(low)) {
        checks.minimum = None;
    }
    if checks.maximum == Some(Number::Int(high)) {
        checks.maximum = None;
    }
}

/// The least and the greatest value of the Rust integer that a schema's `format` names.
pub(crate) fn implied(map: &serde_json::Map<String, Json>) -> Option<(i128, i128)> {
    let format = map.get("format").and_then(Json::as_str)?;
    let (signed, bits) = format
        .strip_prefix("uint")
        .map(|bits| (false, bits))
        .or_else(|| format.strip_prefix("int").map(|bits| (true, bits)))?;
    let bits: u32 = if bits.is_empty() { 64 } else { bits.parse().unwrap_or(0) };
    match (signed, bits) {
        (true, 8..=64) => Some((-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)),
        (false, 8..=64) => Some((0, (1i128 << bits) - 1)),
        (false, _) => Some((0, i128::MAX)),
        (true, _) => None,
    }
}

fn node_of(kind: Kind, schema: &Json) -> Type {
    Type { kind, description: None, default: None, checks: None, schema: Arc::new(schema.clone()) }
}

/// The kind of one of `imp`'s own types, which says so itself.
fn own_kind(map: &serde_json::Map<String, Json>) -> Option<Kind> {
    Some(match map.get(key::KIND).and_then(Json::as_str)? {
        "reasoning" => Kind::Reasoning,
        "history" => Kind::History,
        "tool_calls" => Kind::ToolCalls,
        "image" => Kind::Part(PartKind::Image),
        "audio" => Kind::Part(PartKind::Audio),
        "file" => Kind::Part(PartKind::File),
        "code" => {
            let language = map.get(key::LANGUAGE).and_then(Json::as_str).unwrap_or("python");
            Kind::Code { language: language.to_owned() }
        }
        _ => return None,
    })
}

fn is_tool(schema: &Json) -> bool {
    schema.get(key::KIND).and_then(Json::as_str) == Some("tool")
}

/// The schema with one of its several types.
fn single(map: &serde_json::Map<String, Json>, word: &str) -> Json {
    if word == "null" {
        return serde_json::json!({ "type": "null" });
    }
    let mut map = map.clone();
    map.insert("type".to_owned(), Json::String(word.to_owned()));
    map.remove("default");
    map.remove("description");
    Json::Object(map)
}

fn text(map: &serde_json::Map<String, Json>, word: &str) -> Option<String> {
    map.get(word).and_then(Json::as_str).map(str::to_owned)
}

fn is_annotation(word: &str) -> bool {
    matches!(word, "title" | "description" | "default" | "$schema" | "$defs" | "examples" | "deprecated")
}

fn choice_of(members: &[Json], map: &serde_json::Map<String, Json>, name: &str) -> Kind {
    let members = members
        .iter()
        .map(|value| Member { value: value.clone().into(), name: None, description: None })
        .collect();
    Kind::Choice(named(Choice { name: None, members }, map, name))
}

/// The choice with its own name and those of its members, if the schema has them.
fn named(mut choice: Choice, map: &serde_json::Map<String, Json>, name: &str) -> Choice {
    if let Some(names) = map.get(key::NAMES).and_then(Json::as_array) {
        choice.name = Some(text(map, "title").unwrap_or_else(|| name.to_owned()));
        for (member, name) in choice.members.iter_mut().zip(names) {
            member.name = name.as_str().map(str::to_owned);
        }
    }
    choice
}

/// A union whose branches are no unions without a tag: `Option` of an untagged enum is one union.
fn flat_union(types: Vec<Type>, tagged: bool) -> Kind {
    let mut branches = Vec::with_capacity(types.len());
    for ty in types {
        match ty.kind {
            Kind::Union { branches: inner, tagged: false } => branches.extend(inner),
            _ => branches.push(ty),
        }
    }
    Kind::Union { branches, tagged }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet, HashMap};

    use schemars::JsonSchema;

    use super::*;
    use crate::meta::{Side, schema_for};

    /// A type in a few words, to compare with.
    fn words(tree: &TypeTree, ty: &Type) -> String {
        let list = |types: &[Type]| types.iter().map(|ty| words(tree, ty)).collect::<Vec<_>>().join(" ");
        let inner = |ty: &Option<Box<Type>>| ty.as_ref().map_or("?".to_owned(), |ty| words(tree, ty));
        match &ty.kind {
            Kind::Any => "any".to_owned(),
            Kind::Null => "null".to_owned(),
            Kind::String => "string".to_owned(),
            Kind::Integer => "integer".to_owned(),
            Kind::Number => "number".to_owned(),
            Kind::Boolean => "boolean".to_owned(),
            Kind::DateTime => "datetime".to_owned(),
            Kind::Date => "date".to_owned(),
            Kind::Choice(choice) => {
                let values = choice.members.iter().map(|member| member.value.as_str().unwrap_or("?"));
                format!("choice({})", values.collect::<Vec<_>>().join(" "))
            }
            Kind::List { items, unique } => {
                format!("{}({})", if *unique { "set" } else { "list" }, inner(items))
            }
            Kind::Tuple(types) => format!("tuple({})", list(types)),
            Kind::Map { values, text_keys, .. } => {
                format!("{}({})", if *text_keys { "map" } else { "keyed" }, inner(values))
            }
            Kind::Object(object) => {
                let properties = object.properties.iter().map(|property| {
                    let mark = if property.required { "" } else { "?" };
                    format!("{}{mark}:{}", property.name, words(tree, &property.ty))
                });
                format!("{}({})", object.name, properties.collect::<Vec<_>>().join(" "))
            }
            Kind::Union { branches, tagged } => {
                format!("{}({})", if *tagged { "tagged" } else { "union" }, list(branches))
            }
            Kind::Ref(at) => format!("@{}", tree.defs[*at].0),
            Kind::Opaque => "opaque".to_owned(),
            Kind::Reasoning | Kind::Code { .. } | Kind::History | Kind::ToolCalls | Kind::Part(_) => {
                "own".to_owned()
            }
        }
    }

    fn of<T: JsonSchema>() -> String {
        let tree = TypeTree::compile(&schema_for::<T>(Side::Output)).unwrap();
        words(&tree, tree.resolve(&tree.root))
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code, reason = "only the schemas are looked at")]
    enum Plain {
        Atlas,
        HarborMaster,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only the schemas are looked at")]
    enum Documented {
        /// About money.
        A,
        /// About the rest.
        B,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only the schemas are looked at")]
    enum External {
        Unit,
        New(u8),
    }

    #[derive(JsonSchema)]
    #[serde(tag = "kind", rename_all = "lowercase")]
    #[allow(dead_code, reason = "only the schemas are looked at")]
    enum Tagged {
        Circle { radius: f64 },
        Dot,
    }

    #[derive(JsonSchema)]
    #[serde(untagged)]
    #[allow(dead_code, reason = "only the schemas are looked at")]
    enum Untagged {
        N(f64),
        S(String),
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only the schemas are looked at")]
    struct Node {
        z: u8,
        #[serde(default)]
        a: Vec<Node>,
        next: Option<Box<Node>>,
        #[serde(flatten)]
        more: Point,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only the schemas are looked at")]
    struct Point {
        x: f32,
    }

    #[test]
    fn schemas_of_rust_types_are_compiled() {
        for (got, want) in [
            (of::<String>(), "string"),
            (of::<char>(), "string"),
            (of::<u8>(), "integer"),
            (of::<i128>(), "integer"),
            (of::<f64>(), "number"),
            (of::<bool>(), "boolean"),
            (of::<()>(), "null"),
            (of::<Option<u8>>(), "union(integer null)"),
            (of::<Option<Plain>>(), "union(choice(atlas harbor_master) null)"),
            (of::<Vec<Option<String>>>(), "list(union(string null))"),
            (of::<BTreeSet<u8>>(), "set(integer)"),
            (of::<(u8, String)>(), "tuple(integer string)"),
            (of::<HashMap<String, bool>>(), "map(boolean)"),
            (of::<BTreeMap<u8, bool>>(), "keyed(boolean)"),
            (of::<serde_json::Value>(), "any"),
            (of::<Vec<serde_json::Value>>(), "list(?)"),
            (of::<Plain>(), "choice(atlas harbor_master)"),
            (of::<Documented>(), "choice(A B)"),
            (of::<External>(), "tagged(choice(Unit) External(New:integer))"),
            (of::<Tagged>(), "tagged(Tagged(kind:choice(circle) radius:number) Tagged(kind:choice(dot)))"),
            (of::<Untagged>(), "union(number string)"),
            (of::<Option<Untagged>>(), "union(number string null)"),
            (of::<Vec<Point>>(), "list(@Point)"),
            (of::<Node>(), "Node(z:integer a?:list(@Node) next?:union(@Node null) x:number)"),
        ] {
            assert_eq!(got, want);
        }
    }

    #[test]
    fn a_members_documentation_is_kept() {
        let tree = TypeTree::compile(&schema_for::<Documented>(Side::Output)).unwrap();
        let Kind::Choice(choice) = &tree.root.kind else { panic!("{:?}", tree.root.kind) };
        let texts: Vec<_> = choice.members.iter().map(|member| member.description.as_deref()).collect();
        assert_eq!(texts, [Some("About money."), Some("About the rest.")]);
    }

    #[test]
    fn declared_bounds_are_checks_and_those_of_an_integers_width_are_not() {
        #[derive(JsonSchema)]
        #[allow(dead_code, reason = "only the schemas are looked at")]
        struct Bounded {
            #[schemars(range(min = 1, max = 4))]
            a: u8,
            #[schemars(length(min = 2))]
            b: String,
            #[schemars(length(max = 3))]
            c: Vec<u8>,
            d: i64,
        }
        let tree = TypeTree::compile(&schema_for::<Bounded>(Side::Output)).unwrap();
        assert!(tree.checked);
        let Kind::Object(object) = &tree.resolve(&tree.root).kind else { panic!("{:?}", tree.root.kind) };
        let checks: Vec<_> = object.properties.iter().map(|property| property.ty.checks.as_deref()).collect();
        let [Some(a), Some(b), Some(c), None] = checks.as_slice() else { panic!("{checks:?}") };
        assert_eq!((a.minimum, a.maximum), (Some(Number::Int(1)), Some(Number::Int(4))));
        assert_eq!((b.min_length, c.max_length), (Some(2), Some(3)));
        assert!(!TypeTree::compile(&schema_for::<u8>(Side::Output)).unwrap().checked);
    }

    #[test]
    fn references_that_lead_nowhere_end() {
        #[derive(JsonSchema)]
        #[allow(dead_code, reason = "only the schemas are looked at")]
        struct Chain(Option<Box<Chain>>);
        let endless = serde_json::json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}});
        for schema in [endless, schema_for::<Chain>(Side::Output)] {
            assert!(TypeTree::compile(&schema).unwrap_err().contains("is a branch of itself"));
        }
        let missing = serde_json::json!({"$ref": "#/$defs/B"});
        assert!(TypeTree::compile(&missing).unwrap_err().contains("`#/$defs/B`"));
        let pattern = serde_json::json!({"type": "string", "pattern": "("});
        assert!(TypeTree::compile(&pattern).unwrap_err().contains("the pattern `(`"));
    }
}
