//! The XML adapter: one element for each field (DSPy's XMLAdapter, Imp §11).

use std::fmt::Write as _;
use std::sync::Arc;

use crate::adapter::field_list::field_list;
use crate::adapter::json::Json;
use crate::adapter::options::{FormatOptions, Missing};
use crate::adapter::record::{Record, Section};
use crate::adapter::typed::typed_methods;
use crate::adapter::{Adapter, assembly};
use crate::dialect::Dialect;
use crate::error::{FormatError, ParseError, ParseErrorKind};
use crate::message::{Message, Text};
use crate::spec::{FieldSpec, SignatureSpec, Slot};
use crate::text::json::push_string;
use crate::text::write::{FieldWriter, Presence};
use crate::text::xml;
use crate::types::{Kind, Type, TypeTree};

/// The adapter that writes and reads one XML element for each field.
///
/// It is the one to use with a model that was trained on tags. Lists and objects are elements inside
/// elements.
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
            if is_empty_text(tree, self.dialect, presence, out.get(start..).unwrap_or_default()) {
                // An empty element would be read as no text at all.
                let text = out.split_off(start);
                push_string(out, &text);
            }
            // DSPy escapes plain texts only, and so some of what it writes is no XML.
            if self.dialect == Dialect::Plain || matches!(tree.root.kind, Kind::String) {
                xml::escape(out, start);
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

    /// The element of an input, whose value is not escaped (Imp §11).
    fn section(
        &self,
        field: &FieldSpec,
        record: &dyn Record,
        index: usize,
        out: &mut String,
    ) -> Result<Presence, FormatError> {
        element(&field.name, out, |out| assembly::value(self, field, record, index, out))
    }

    fn assistant_content(
        &self,
        spec: &SignatureSpec,
        outputs: &dyn Record,
        missing: Missing<'_>,
    ) -> Result<String, FormatError> {
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
        _: &FormatOptions,
    ) -> Result<Option<Message>, FormatError> {
        assembly::check_inputs(self, spec, inputs)?;
        let requirements = self.output_requirements(spec);
        Ok(Some(Message::user(self.user_content(spec, inputs, "", &requirements)?)))
    }

    fn fallback(&self) -> Option<Arc<dyn Adapter>> {
        Some(Arc::new(Json::new().dialect(self.dialect)))
    }

    fn sections<'r>(&self, spec: &SignatureSpec, reply: &'r str) -> Result<Vec<Section<'r>>, ParseError> {
        let _ = spec;
        Err(ParseError::new(ParseErrorKind::Other, self.name(), reply, "XML replies cannot be read yet"))
    }
}

/// Writes `<name>`, a line each for what `write` writes, and `</name>`; nothing for a field without a value.
fn element(
    name: &str,
    out: &mut String,
    write: impl FnOnce(&mut String) -> Result<Presence, FormatError>,
) -> Result<Presence, FormatError> {
    let start = out.len();
    let _ = write!(out, "<{name}>\n");
    let presence = write(out)?;
    if presence == Presence::Absent {
        out.truncate(start);
    } else {
        let _ = write!(out, "\n</{name}>");
    }
    Ok(presence)
}

/// Whether the bare text of an optional text would be an empty element.
fn is_empty_text(tree: &TypeTree, dialect: Dialect, presence: Presence, text: &str) -> bool {
    dialect == Dialect::Plain
        && presence == Presence::Present
        && tree.nullable()
        && matches!(tree.present(&tree.root).kind, Kind::String | Kind::Reasoning | Kind::Code { .. })
        && text.trim().is_empty()
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
                items.iter().for_each(|item| self.element(out, "item", Some(item), room));
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
