//! The XML adapter: one element for each field (DSPy's `XMLAdapter`, Imp §11).

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::adapter::chat::is_prose;
use crate::adapter::field_list::field_list;
use crate::adapter::json::Json;
use crate::adapter::messages::Shown;
use crate::adapter::options::{FormatOptions, Missing};
use crate::adapter::read::Syntax;
use crate::adapter::record::{Answer, FieldReader, Record, Section};
use crate::adapter::typed::typed_methods;
use crate::adapter::{Adapter, assembly, complete, messages};
use crate::dialect::Dialect;
use crate::error::{FieldFailure, FormatError, ParseError, ParseErrorKind};
use crate::message::{Message, Text};
use crate::spec::{FieldSpec, SignatureSpec, Slot};
use crate::text::json::push_string;
use crate::text::read::{ReadOptions, Source};
use crate::text::scan::{self, Lines};
use crate::text::write::{FieldWriter, Presence};
use crate::text::xml::{self, Convert, Document, Node};
use crate::types::{Kind, Type, TypeTree};

/// The adapter that writes and reads one XML element for each field.
///
/// It is the one to use with a model that was trained on tags. Lists and objects are elements inside
/// elements. A reply may have 64 levels and 10,000 elements; the five entities of XML are decoded, and
/// declarations, doctypes and entities of a reply's own are refused.
///
/// ```
/// use imp::{Signature, Xml};
///
/// #[derive(Signature)]
/// #[signature(output = Answer)]
/// struct Question<'a> {
///     question: &'a str,
/// }
///
/// #[derive(Debug, Signature)]
/// struct Answer {
///     answer: String,
///     sources: Vec<String>,
/// }
///
/// let xml = Xml::new();
/// let messages = xml.format(&Question { question: "Which fruits are red?" })?;
/// assert!(messages[1].text().starts_with("<question>\nWhich fruits are red?\n</question>\n\n"));
///
/// let reply = "<answer>Three &amp; more</answer>\n<sources><item>a</item><item>b</item></sources>";
/// let answer: Answer = xml.parse(reply)?;
/// assert_eq!(answer.answer, "Three & more");
/// assert_eq!(answer.sources, ["a", "b"]);
///
/// // Tags that nobody asked for are ignored; what is no XML is an error that says what to do.
/// let error = xml.parse::<Answer>("<answer>R&D</answer>").unwrap_err();
/// assert!(error.to_string().ends_with("write `&amp;` (line 1, column 10)"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Xml {
    dialect: Dialect,
}

impl Xml {
    /// The adapter in the plain dialect.
    pub fn new() -> Self {
        Xml::default()
    }

    /// The same in another dialect.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Writes the element of an output.
    fn output(
        &self,
        field: &FieldSpec,
        outputs: &dyn Record,
        index: usize,
        out: &mut String,
    ) -> Result<Presence, FormatError> {
        let tree = &field.tree;
        if is_nested(tree, self.dialect) {
            let mut writer = FieldWriter::xml(out, self.dialect, tree, &field.name);
            outputs
                .write(index, field, &mut writer)
                .map_err(|error| FormatError::Value { field: field.name.clone(), error })?;
            return Ok(writer.presence());
        }
        element(&field.name, out, |out| {
            let start = out.len();
            let presence = assembly::value(self, field, outputs, index, out)?;
            let is_text = is_text(tree);
            let blank = out.get(start..).is_some_and(|text| text.trim().is_empty());
            if self.dialect == Dialect::Plain
                && is_text
                && tree.nullable()
                && blank
                && presence == Presence::Present
            {
                // An empty element is no text at all (law 6).
                out.truncate(start);
                out.push_str("\"\"");
            }
            // DSPy escapes plain texts only, and so some of what it writes is no XML.
            if self.dialect == Dialect::Plain || matches!(tree.root.kind, Kind::String) {
                xml::escape(
                    out,
                    start,
                    if is_text || self.dialect == Dialect::Dspy { xml::push_text } else { xml::push_exact },
                );
            }
            Ok(presence)
        })
    }
}

typed_methods!(Xml);

impl Adapter for Xml {
    fn name(&self) -> &'static str {
        "xml"
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// A marker line means nothing between tags.
    fn escapes_markers(&self) -> bool {
        false
    }

    /// Both dialects strip (Imp since 0.6).
    fn strips_messages(&self) -> bool {
        true
    }

    fn field_description(&self, spec: &SignatureSpec) -> String {
        // Without the answer shapes' sentences (Imp §4).
        format!(
            "Your input fields are:\n{}\nYour output fields are:\n{}",
            field_list(&spec.inputs, self.dialect, false),
            field_list(&spec.outputs, self.dialect, false)
        )
    }

    fn field_structure(&self, spec: &SignatureSpec) -> String {
        let mut out = String::from(
            "All interactions will be structured in the following way, with the appropriate values filled in.",
        );
        // DSPy joins the two groups by blank lines, an empty one too.
        let empty = if self.dialect == Dialect::Dspy { "\n\n" } else { "" };
        for field in &spec.inputs {
            let _ = write!(out, "\n\n<{0}>\n{{{0}}}\n</{0}>", field.name);
        }
        if spec.inputs.is_empty() {
            out.push_str(empty);
        }
        for field in &spec.outputs {
            out.push_str("\n\n");
            if is_nested(&field.tree, self.dialect) {
                skeleton(&mut out, &field.name, &field.tree);
            } else {
                let placeholder = assembly::placeholder(field, self.dialect);
                let _ = write!(out, "<{0}>\n{placeholder}\n</{0}>", field.name);
            }
        }
        if spec.outputs.is_empty() {
            out.push_str(empty);
        }
        out
    }

    fn system(&self, spec: &SignatureSpec) -> Text {
        let slot = match self.dialect {
            Dialect::Plain => Slot::XmlSystemPlain,
            Dialect::Dspy => Slot::XmlSystemDspy,
        };
        let render = || {
            // Not trimmed at the end, in either dialect.
            let (fields, structure) = (self.field_description(spec), self.field_structure(spec));
            format!("{fields}\n{structure}\n{}", self.task_description(spec))
        };
        spec.rendered.get(slot, render).into()
    }

    /// The element of an input, whose value is not escaped (Imp §11), unless it would end its element.
    fn section(
        &self,
        field: &FieldSpec,
        record: &dyn Record,
        index: usize,
        out: &mut String,
    ) -> Result<Presence, FormatError> {
        element(&field.name, out, |out| {
            let start = out.len();
            let presence = assembly::value(self, field, record, index, out)?;
            if self.dialect == Dialect::Plain
                && ends_element(out.get(start..).unwrap_or_default(), &field.name)
            {
                xml::escape(out, start, xml::push_text);
            }
            Ok(presence)
        })
    }

    fn assistant_content(
        &self,
        spec: &SignatureSpec,
        outputs: &dyn Record,
        missing: Missing<'_>,
    ) -> Result<String, FormatError> {
        let outputs = &Answer(outputs);
        let mut out = String::with_capacity(256);
        for (index, field) in spec.outputs.iter().enumerate() {
            let start = out.len();
            if start > 0 {
                out.push_str("\n\n");
            }
            let presence = self.output(field, outputs, index, &mut out)?;
            match (presence, missing) {
                (Presence::Absent, Missing::Say(text)) => {
                    let _ = write!(out, "<{0}>\n{text}\n</{0}>", field.name);
                }
                (Presence::Absent, Missing::LeaveOut) => out.truncate(start),
                _ => {}
            }
        }
        Ok(out)
    }

    fn output_requirements(&self, spec: &SignatureSpec) -> Text {
        let slot = match self.dialect {
            Dialect::Plain => Slot::XmlRequirementsPlain,
            Dialect::Dspy => Slot::XmlRequirementsDspy,
        };
        let render = || {
            // All that is wanted are tool calls, which the provider asks for in its own way.
            if spec.outputs.is_empty() && self.dialect == Dialect::Plain {
                return String::new();
            }
            let names: Vec<String> = spec.outputs.iter().map(|field| format!("`<{}>`", field.name)).collect();
            let mut out = format!(
                "Respond with the corresponding output fields wrapped in XML tags {}.",
                names.join(", then ")
            );
            let nested = spec.outputs.iter().filter(|field| is_nested(&field.tree, self.dialect));
            for (at, field) in nested.enumerate() {
                out.push_str(if at == 0 { " Use this nested XML structure: " } else { " " });
                skeleton(&mut out, &field.name, &field.tree);
            }
            out
        };
        spec.rendered.get(slot, render).into()
    }

    /// The sentence stands at the end of every request: the options that leave it out are the Chat
    /// adapter's (Imp §9.1).
    fn request(
        &self,
        spec: &SignatureSpec,
        inputs: &dyn Record,
        options: &FormatOptions,
    ) -> Result<Option<Message>, FormatError> {
        messages::check_inputs(self, spec, inputs)?;
        let shown = Shown::of(spec, inputs);
        let requirements = self.output_requirements(shown.spec);
        let content =
            assembly::rendered_user_content(self, shown.spec, &shown, ("", &requirements), options)?;
        Ok(Some(messages::asked(content, spec, inputs, options)))
    }

    fn fallback(&self) -> Option<Arc<dyn Adapter>> {
        Some(Arc::new(Json::new().dialect(self.dialect)))
    }

    fn syntax(&self) -> Syntax {
        Syntax::Tags
    }

    fn sections<'r>(&self, spec: &SignatureSpec, reply: &'r str) -> Result<Vec<Section<'r>>, ParseError> {
        if let Some(at) = spec.text_field.filter(|_| is_bare_prose(spec, reply, self.dialect)) {
            let mut sections = vec![Section::default(); spec.outputs.len()];
            let start = reply.len() - reply.trim_start_matches(scan::is_blank).len();
            if let Some(section) = sections.get_mut(at) {
                *section = Section::text(scan::trim(reply), start);
            }
            return Ok(sections);
        }
        let document = Document::parse(reply).map_err(|error| {
            ParseError::new(ParseErrorKind::Malformed, self.name(), reply, error.message(reply))
        })?;
        let mut given: Vec<Vec<Node<'_, '_>>> = vec![Vec::new(); spec.outputs.len()];
        for node in document.roots() {
            let at = spec.outputs.iter().position(|field| field.is_called(node.key()));
            if let Some(nodes) = at.and_then(|at| given.get_mut(at)) {
                nodes.push(node);
            }
        }
        let mut repeated = Vec::new();
        let sections: Vec<Section<'_>> = spec
            .outputs
            .iter()
            .zip(&given)
            .map(|(field, nodes)| {
                section(&field.tree, nodes, self.dialect).unwrap_or_else(|| {
                    repeated.push(twice(field, nodes));
                    Section::default()
                })
            })
            .collect();
        if repeated.is_empty() {
            return Ok(sections);
        }
        let options = ReadOptions { dialect: self.dialect, unescape: self.escapes_markers() };
        let known = FieldReader::new(spec, &sections, options).known();
        let message = self.failure_message(&repeated);
        Err(ParseError::new(ParseErrorKind::InvalidFields, self.name(), reply, message)
            .with_fields(known)
            .with_failures(repeated))
    }

    fn failure_message(&self, failures: &[FieldFailure]) -> String {
        // Imp reports the first scalar that is none, and leaves the rest to the checks that come after.
        let scalar = failures.iter().find_map(|failure| Some((failure, expected(failure)?)));
        match scalar {
            Some((failure, expected)) => {
                let mut message =
                    format!("Failed to parse XML field {}: expected {expected}, got ", failure.path);
                if failure.value.starts_with('"') {
                    message.push_str(&failure.value);
                } else {
                    push_string(&mut message, &failure.value);
                }
                message
            }
            None => complete::failure_message(failures),
        }
    }
}

/// What a scalar's failure says that it should be (Imp §11).
fn expected(failure: &FieldFailure) -> Option<&'static str> {
    Some(match failure.expected.as_str() {
        "integer" => "integer",
        "number" => "number",
        "boolean" => "boolean",
        "datetime" => "ISO 8601 datetime",
        "date" => "ISO 8601 date",
        _ => return None,
    })
}

/// The failure of an output that is given more than once and is no list: nobody can tell which one is meant.
fn twice(field: &FieldSpec, nodes: &[Node<'_, '_>]) -> FieldFailure {
    let bytes = nodes.iter().map(|node| node.bytes());
    FieldFailure {
        field: field.name.clone(),
        path: field.name.clone(),
        message: format!("expected one value, got {}", nodes.len()),
        expected: String::new(),
        value: nodes.last().map(|node| node.text().into_owned()).unwrap_or_default(),
        span: bytes.reduce(|first, last| first.start..last.end).unwrap_or_default(),
    }
}

/// Whether a reply is the text field's text (Imp §8.2).
fn is_bare_prose(spec: &SignatureSpec, reply: &str, dialect: Dialect) -> bool {
    let lines = match dialect {
        Dialect::Plain => Lines::Plain,
        Dialect::Dspy => Lines::Python,
    };
    scan::markers(reply, lines).next().is_none() && is_prose(spec, reply)
}

/// The section of an output of which these are the elements; none if there are several and the type has no
/// place for more than one.
fn section<'r>(tree: &TypeTree, nodes: &[Node<'_, 'r>], dialect: Dialect) -> Option<Section<'r>> {
    let ty = tree.present(&tree.root);
    let converted = || {
        let mut json = String::new();
        Convert { tree, dialect }.value(nodes, &mut json);
        let bytes = nodes.iter().map(|node| node.bytes()).reduce(|first, last| first.start..last.end);
        Section::json(json, 0).made_from(bytes.unwrap_or_default())
    };
    match nodes {
        [] => Some(Section::default()),
        [node] if node.is_leaf() => Some(leaf(tree, *node, dialect)),
        [node] if is_text(tree) => Some(Section::text(node.text(), 0).made_from(node.bytes())),
        [_] => Some(converted()),
        [first, ..] => {
            let many = match &ty.kind {
                Kind::List { .. } | Kind::Any => true,
                Kind::Union { branches, .. } => {
                    branches.iter().any(|branch| matches!(tree.present(branch).kind, Kind::List { .. }))
                }
                // DSPy takes the first object.
                Kind::Object(_) | Kind::Map { .. } => {
                    dialect == Dialect::Dspy && (!first.is_leaf() || first.text().is_empty())
                }
                _ => false,
            };
            many.then(converted)
        }
    }
}

/// The section of an output of which `element` is the element, if that is XML.
pub(crate) fn salvaged(tree: &TypeTree, element: &str, dialect: Dialect) -> Option<Section<'static>> {
    let document = Document::parse(element).ok()?;
    let nodes: Vec<Node<'_, '_>> = document.roots().collect();
    let section = section(tree, &nodes, dialect)?;
    let source = match section.source? {
        Source::Text(text) => Source::Text(text.into_owned().into()),
        Source::Json(json) => Source::Json(json.into_owned().into()),
    };
    Some(Section { source: Some(source), start: 0, made_from: None })
}

/// The section of an element with nothing but text in it: the text as in any other section, but for what
/// only XML says otherwise.
fn leaf<'r>(tree: &TypeTree, node: Node<'_, 'r>, dialect: Dialect) -> Section<'r> {
    let text = node.text();
    let json = match dialect {
        Dialect::Plain => plain_leaf(tree, &text),
        Dialect::Dspy => dspy_leaf(tree, &text),
    };
    let section = match (json, text) {
        (Some(json), _) => Section::json(json, 0),
        // DSPy's null is a value, also where there is a default; Imp's is none (§8.3).
        (None, text) if dialect == Dialect::Dspy && is_dspy_null(tree, &text) => Section::text("null", 0),
        (None, Cow::Borrowed(text)) => return Section::text(text, node.start()),
        (None, Cow::Owned(text)) => Section::text(text, 0),
    };
    section.made_from(node.bytes())
}

/// The JSON of a text alone in its element, if that is not what a section's text would be.
fn plain_leaf(tree: &TypeTree, text: &str) -> Option<String> {
    let is_null = text == "null" && tree.nullable();
    let says_otherwise = match &tree.present(&tree.root).kind {
        Kind::List { .. } if !is_null => text.is_empty() || xml::is_one_item(text, Dialect::Plain),
        Kind::List { .. } | Kind::Tuple(_) | Kind::Map { .. } | Kind::Object(_) => text.is_empty(),
        Kind::String | Kind::Reasoning | Kind::Code { .. } => {
            tree.nullable() && (text.is_empty() || xml::quoted_blank(text))
        }
        Kind::Union { .. } => text.is_empty() || xml::quoted_blank(text),
        _ => text.is_empty() && tree.nullable(),
    };
    says_otherwise.then(|| xml::scalar(tree, Some(&tree.root), text, Dialect::Plain).into_owned())
}

/// An element without text is no value, and so is `None` where it can be no text.
fn is_dspy_null(tree: &TypeTree, text: &str) -> bool {
    let is_reasoning = matches!(tree.present(&tree.root).kind, Kind::Reasoning);
    tree.nullable() && (text.is_empty() || (is_reasoning && text == "None"))
}

/// The same in DSPy's dialect: what `XMLAdapter.parse` makes of the type, or of the first branch of a union that
/// takes it.
fn dspy_leaf(tree: &TypeTree, text: &str) -> Option<String> {
    let nullable = tree.nullable();
    if text.is_empty() && nullable {
        return None;
    }
    let is_text = |ty: &Type| matches!(tree.present(ty).kind, Kind::String | Kind::Any);
    let scalar = |ty: &Type| Some(xml::scalar(tree, Some(ty), text, Dialect::Dspy).into_owned());
    let root = tree.present(&tree.root);
    match &root.kind {
        Kind::List { items, .. } => {
            let none =
                nullable && (text == "null" || (text == "None" && !items.as_deref().is_some_and(is_text)));
            if none { None } else { xml::is_one_item(text, Dialect::Dspy).then(|| scalar(root)).flatten() }
        }
        // A `Reasoning` is an object to pydantic, and one without its content is none.
        Kind::Map { .. } | Kind::Object(_) | Kind::Reasoning if text.is_empty() => Some("{}".to_owned()),
        Kind::Union { branches, .. } => {
            let mut present =
                branches.iter().filter(|branch| !matches!(tree.resolve(branch).kind, Kind::Null));
            if text.is_empty() {
                let any_text = branches.iter().any(is_text);
                let empty = |ty: &&Type| match &tree.present(ty).kind {
                    Kind::List { .. } | Kind::Map { .. } => true,
                    Kind::Object(object) => object.properties.iter().all(|property| !property.required),
                    _ => any_text,
                };
                return present.find(empty).and_then(scalar);
            }
            let is_list = |ty: &&Type| matches!(tree.present(ty).kind, Kind::List { .. });
            let first = present.next().filter(is_list).filter(|_| !(nullable && text == "None"))?;
            xml::is_one_item(text, Dialect::Dspy).then(|| scalar(first)).flatten()
        }
        _ => None,
    }
}

/// Whether a text has the closing tag of the element `name`, in any case.
fn ends_element(text: &str, name: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), b"</").any(|at| {
        let tag = text.get(at + 2..).map(|rest| rest.trim_start_matches(scan::is_blank));
        tag.and_then(|tag| tag.get(..name.len())).is_some_and(|tag| tag.eq_ignore_ascii_case(name))
    })
}

/// Writes `<name>`, a line each for what `write` writes, and `</name>`; nothing for a field without a value.
fn element(
    name: &str,
    out: &mut String,
    write: impl FnOnce(&mut String) -> Result<Presence, FormatError>,
) -> Result<Presence, FormatError> {
    let start = out.len();
    let _ = writeln!(out, "<{name}>");
    let presence = write(out)?;
    if presence == Presence::Absent {
        out.truncate(start);
    } else {
        let _ = write!(out, "\n</{name}>");
    }
    Ok(presence)
}

/// Whether the values are texts as they stand.
fn is_text(tree: &TypeTree) -> bool {
    matches!(tree.present(&tree.root).kind, Kind::String | Kind::Reasoning | Kind::Code { .. })
}

/// Whether a type's values are elements inside their field's element: lists and objects.
pub(crate) fn is_nested(tree: &TypeTree, dialect: Dialect) -> bool {
    let ty = tree.present(&tree.root);
    match dialect {
        // `_uses_nested_xml` of DSPy 3.4.0.
        Dialect::Dspy => match &ty.kind {
            Kind::List { items: Some(items), unique: false } => !matches!(
                tree.resolve(items).kind,
                Kind::Reasoning | Kind::Code { .. } | Kind::History | Kind::ToolCalls
            ),
            Kind::List { items: None, unique: false } | Kind::Map { .. } | Kind::Object(_) => true,
            _ => false,
        },
        Dialect::Plain => {
            let ty = match &ty.kind {
                Kind::Union { branches, tagged: false } => first_present(tree, branches).unwrap_or(ty),
                _ => ty,
            };
            matches!(
                ty.kind,
                Kind::List { unique: false, .. } | Kind::Map { text_keys: true, .. } | Kind::Object(_)
            )
        }
    }
}

/// The first branch of a union that is not null.
fn first_present<'t>(tree: &'t TypeTree, branches: &'t [Type]) -> Option<&'t Type> {
    branches.iter().map(|branch| tree.resolve(branch)).find(|branch| !matches!(branch.kind, Kind::Null))
}

/// Writes the elements that a value of the type consists of, on one line, with `...` for what is inside.
fn skeleton(out: &mut String, tag: &str, tree: &TypeTree) {
    Skeleton { tree, open: vec![false; tree.defs.len()] }.element(out, tag, Some(&tree.root), xml::DEPTH);
}

struct Skeleton<'t> {
    tree: &'t TypeTree,
    /// The named types that are being written: one inside itself is not shown again.
    open: Vec<bool>,
}

impl<'t> Skeleton<'t> {
    fn element(&mut self, out: &mut String, tag: &str, ty: Option<&'t Type>, room: usize) {
        let _ = write!(out, "<{tag}>");
        let start = out.len();
        if let Some(room) = room.checked_sub(1).filter(|_| start < LONGEST_SKELETON) {
            self.content(out, ty, room);
        }
        if out.len() == start {
            out.push_str("...");
        }
        let _ = write!(out, "</{tag}>");
    }

    fn content(&mut self, out: &mut String, ty: Option<&'t Type>, room: usize) {
        let Some(room) = room.checked_sub(1) else { return };
        match ty.map(|ty| &ty.kind) {
            Some(Kind::Ref(at)) => {
                let tree = self.tree;
                let (Some((_, ty)), Some(open)) = (tree.defs.get(*at), self.open.get_mut(*at)) else {
                    return;
                };
                if !std::mem::replace(open, true) {
                    self.content(out, Some(ty), room);
                    if let Some(open) = self.open.get_mut(*at) {
                        *open = false;
                    }
                }
            }
            Some(Kind::Union { branches, .. }) => {
                let branch = branches.iter().find(|branch| !matches!(branch.kind, Kind::Null));
                self.content(out, branch, room);
            }
            Some(Kind::List { items, .. }) => self.element(out, "item", items.as_deref(), room),
            Some(Kind::Tuple(items)) => {
                for item in items {
                    self.element(out, "item", Some(item), room);
                }
            }
            Some(Kind::Object(object)) => {
                for property in &object.properties {
                    self.element(out, &property.name, Some(&property.ty), room);
                }
            }
            _ => {}
        }
    }
}

/// Beyond so many bytes a structure is not shown any further: a type whose parts all have the same parts has
/// a structure of exponential size.
const LONGEST_SKELETON: usize = 64 * 1024;
