//! The adapter for a single field: one output, and nothing around it (Imp §12.1).

use std::fmt::Write as _;
use std::sync::Arc;

use crate::adapter::assembly::Sections;
use crate::adapter::field_list::given_description;
use crate::adapter::json::Json;
use crate::adapter::messages::Shown;
use crate::adapter::options::{FormatOptions, Missing, OutputForm};
use crate::adapter::record::{FieldReader, Record, Section};
use crate::adapter::typed::typed_methods;
use crate::adapter::{Adapter, assembly, messages};
use crate::dialect::Dialect;
use crate::error::{FormatError, ParseError, ParseErrorKind};
use crate::message::{Content, Message, Text};
use crate::spec::{FieldSpec, SignatureSpec, Slot};
use crate::text::read::{self, Entry, ReadOptions};
use crate::text::scan::{is_blank, trim};
use crate::text::write::Presence;
use crate::types::{Kind, TypeTree};

/// The adapter that asks for one value and takes the whole reply for it.
///
/// It is the one for a classifier or any other signature with exactly one output: its prompts are the
/// shortest, and a model that is held to a schema is held to one here too. There is no second request through
/// JSON. A signature with another number of outputs is an error before anything is sent.
///
/// An input's lines stand as they are behind its name, so an input can look like the next one: do not use
/// it where a text from outside must not.
///
/// ```
/// use imp::{Signature, SingleField};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// /// Route the ticket.
/// #[derive(Signature)]
/// #[signature(output = Route)]
/// struct Ticket<'a> {
///     ticket: &'a str,
/// }
///
/// #[derive(Debug, Signature)]
/// struct Route {
///     team: Team,
/// }
///
/// #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
/// #[serde(rename_all = "snake_case")]
/// enum Team {
///     Atlas,
///     Harbor,
/// }
///
/// let single = SingleField::new();
/// let messages = single.format(&Ticket { ticket: "I was charged twice" })?;
/// assert_eq!(
///     messages[0].text(),
///     "You are solving a task with exactly one output value.\n\
///      Objective: Route the ticket.\n\
///      Input fields:\n\
///      - ticket (string)\n\
///      Output value: team (one of: atlas, harbor)\n\
///      Return only the value for team. Do not include a field label, quotes, brackets, a code fence, or an \
///      explanation.",
/// );
/// assert_eq!(messages[1].text(), "ticket: I was charged twice");
///
/// assert_eq!(single.parse::<Route>("atlas\n")?.team, Team::Atlas);
/// assert_eq!(single.parse::<Route>(r#"{"team": "atlas"}"#)?.team, Team::Atlas);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SingleField {
    dialect: Dialect,
}

impl SingleField {
    /// The adapter in the plain dialect.
    pub fn new() -> Self {
        SingleField::default()
    }

    /// The same with the types' words of another dialect.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }
}

typed_methods!(SingleField);

impl Adapter for SingleField {
    fn name(&self) -> &'static str {
        "single_field"
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// There are no markers.
    fn escapes_markers(&self) -> bool {
        false
    }

    fn strips_messages(&self) -> bool {
        true
    }

    fn field_description(&self, spec: &SignatureSpec) -> String {
        let mut out = String::from("Input fields:");
        for field in &spec.inputs {
            out.push_str("\n- ");
            described(&mut out, field, self.dialect);
        }
        for field in &spec.outputs {
            out.push_str("\nOutput value: ");
            described(&mut out, field, self.dialect);
        }
        out
    }

    fn field_structure(&self, spec: &SignatureSpec) -> String {
        let names: Vec<_> = spec.outputs.iter().map(|field| field.name.as_str()).collect();
        format!(
            "Return only the value for {}. Do not include a field label, quotes, brackets, a code fence, or an \
             explanation.",
            names.join(", ")
        )
    }

    fn task_description(&self, spec: &SignatureSpec) -> String {
        // Only trimmed: the other adapters indent the lines.
        format!("Objective: {}", trim(&spec.instructions()))
    }

    fn system(&self, spec: &SignatureSpec) -> Text {
        let slot = match self.dialect {
            Dialect::Plain => Slot::SingleFieldSystemPlain,
            Dialect::Dspy => Slot::SingleFieldSystemDspy,
        };
        let render = || {
            let text = format!(
                "You are solving a task with exactly one output value.\n{}\n{}\n{}",
                self.task_description(spec),
                self.field_description(spec),
                self.field_structure(spec)
            );
            trim(&text).to_owned()
        };
        spec.rendered.get(slot, render).into()
    }

    /// A line `name: value`.
    fn section(
        &self,
        field: &FieldSpec,
        record: &dyn Record,
        index: usize,
        out: &mut String,
    ) -> Result<Presence, FormatError> {
        assembly::labelled(self, field, record, index, out)
    }

    fn user_content(
        &self,
        spec: &SignatureSpec,
        inputs: &dyn Record,
        prefix: &str,
        suffix: &str,
    ) -> Result<Content, FormatError> {
        assembly::sections(self, spec, inputs, Sections::labelled("\n"), prefix, suffix)
    }

    /// The bare value. What would not be read back as it is (no text at all, the text of an object) is
    /// written as the object with the one key that is read too.
    fn assistant_content(
        &self,
        spec: &SignatureSpec,
        outputs: &dyn Record,
        _: Missing<'_>,
    ) -> Result<String, FormatError> {
        let field = only(spec)?;
        let mut out = String::new();
        if self.value(field, outputs, 0, &mut out)? == Presence::Absent {
            return Ok(out);
        }
        let text = trim(&out);
        let is_object = object(text, self.options()).is_some();
        let reads_back = match &field.tree.present(&field.tree.root).kind {
            _ if text.is_empty() || is_decorated_choice(field, text) => false,
            _ if !is_object => true,
            _ if takes_objects(&field.tree) => wrapped(field, text, self.options()).is_none(),
            _ => false,
        };
        if !reads_back {
            out = Json::new().dialect(self.dialect).assistant_content(spec, outputs, Missing::LeaveOut)?;
        }
        Ok(out)
    }

    /// Nothing: the system message has said it.
    fn output_requirements(&self, _: &SignatureSpec) -> Text {
        "".into()
    }

    fn prefix(&self, spec: &SignatureSpec, options: &FormatOptions) -> Result<Vec<Message>, FormatError> {
        only(spec)?;
        for (at, demo) in options.demos.iter().enumerate() {
            let shown = Shown::of(spec, &*demo.inputs);
            let mut missing = assembly::without_value(self, &shown.spec.inputs, &shown)?;
            missing.extend(assembly::without_value(self, &spec.outputs, &*demo.outputs)?);
            if !missing.is_empty() {
                return Err(FormatError::Other(format!(
                    "demo {} must be complete for the SingleField adapter, and these fields have no value: {}",
                    at + 1,
                    missing.join(", ")
                )));
            }
        }
        let mut messages = Vec::with_capacity(2 + 2 * options.demos.len());
        messages.push(Message::system(messages::rendered_system(self, spec, options)));
        for demo in &options.demos {
            let shown = Shown::of(spec, &*demo.inputs);
            let asked = assembly::rendered_user_content(self, shown.spec, &shown, ("", ""), options)?;
            messages.push(Message::user(asked));
            let missing = Missing::LeaveOut;
            let answer = messages::rendered_outputs(self, spec, &*demo.outputs, missing, options)?;
            messages.push(Message::assistant(answer));
        }
        Ok(messages)
    }

    fn request(
        &self,
        spec: &SignatureSpec,
        inputs: &dyn Record,
        options: &FormatOptions,
    ) -> Result<Option<Message>, FormatError> {
        only(spec)?;
        messages::check_inputs(self, spec, inputs)?;
        let shown = Shown::of(spec, inputs);
        let content = assembly::rendered_user_content(self, shown.spec, &shown, ("", ""), options)?;
        Ok(Some(messages::asked(content, spec, inputs, options)))
    }

    /// The JSON adapter's schema. A client that knows no schemas is asked for text: the prompt asks for no
    /// object.
    fn output_form(&self, spec: &SignatureSpec) -> OutputForm {
        match Json::new().dialect(self.dialect).output_form(spec) {
            OutputForm::Schema(schema) => OutputForm::SchemaOrText(schema),
            _ => OutputForm::Text,
        }
    }

    fn sections<'r>(&self, spec: &SignatureSpec, reply: &'r str) -> Result<Vec<Section<'r>>, ParseError> {
        let field =
            only(spec).map_err(|error| self.error(ParseErrorKind::Other, reply, &error.to_string()))?;
        let text = trim(reply);
        let start = reply.len() - reply.trim_start_matches(is_blank).len();
        if text.is_empty() {
            return Ok(vec![Section::default()]);
        }
        if let Some(entry) = wrapped(field, text, self.options()) {
            let start = start + entry.span.start;
            return Ok(vec![Section { source: Some(entry.value), start, made_from: None }]);
        }
        if object(text, self.options()).is_some() && !takes_objects(&field.tree) {
            let message = "expected an exact one-field JSON object";
            return Err(self.error(ParseErrorKind::Malformed, reply, message));
        }
        let sections = vec![Section::text(text, start)];
        if is_decorated_choice(field, text)
            && FieldReader::new(spec, &sections, self.options()).known().get(&field.name).is_some()
        {
            return Err(self.error(ParseErrorKind::Malformed, reply, "expected an exact enum value"));
        }
        Ok(sections)
    }
}

impl SingleField {
    fn options(&self) -> ReadOptions {
        ReadOptions { dialect: self.dialect, unescape: false }
    }

    fn error(&self, kind: ParseErrorKind, reply: &str, message: &str) -> ParseError {
        ParseError::new(kind, self.name(), reply, message)
    }
}

/// The one output.
fn only(spec: &SignatureSpec) -> Result<&Arc<FieldSpec>, FormatError> {
    match spec.outputs.as_slice() {
        [field] => Ok(field),
        fields => {
            let names: Vec<_> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
            Err(FormatError::Other(format!(
                "the SingleField adapter needs a signature with exactly one output, and this one has {}{}: use \
                 another adapter, such as Chat",
                fields.len(),
                if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
            )))
        }
    }
}

fn described(out: &mut String, field: &FieldSpec, dialect: Dialect) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{} ({})", field.name, dialect.label(&field.tree));
    let description = given_description(field);
    if !description.is_empty() {
        let _ = write!(out, ": {description}");
    }
}

/// The entries of the object that the whole text is, if it is one.
fn object(text: &str, options: ReadOptions) -> Option<Vec<Entry<'_>>> {
    let inside = text.strip_prefix('{')?.strip_suffix('}')?;
    let entries = read::entries(text, options).ok()?;
    let after = match entries.last() {
        Some(last) => text.get(last.span.end..text.len() - 1)?,
        None => inside,
    };
    // Else the text only begins with an object.
    after.chars().all(|c| c == ',' || c.is_whitespace()).then_some(entries)
}

/// The value in an object whose one key is the output.
fn wrapped<'t>(field: &FieldSpec, text: &'t str, options: ReadOptions) -> Option<Entry<'t>> {
    let mut entries = object(text, options)?;
    let entry = entries.pop()?;
    (entries.is_empty() && field.is_called(&entry.key)).then_some(entry)
}

/// Whether a bare object can be a value of the type.
fn takes_objects(tree: &TypeTree) -> bool {
    match &tree.present(&tree.root).kind {
        Kind::Any
        | Kind::Map { .. }
        | Kind::Object(_)
        | Kind::Ref(_)
        | Kind::ToolCalls
        | Kind::History
        | Kind::Opaque => true,
        Kind::Union { branches, .. } => branches.iter().any(|branch| {
            let kind = &tree.resolve(branch).kind;
            matches!(
                kind,
                Kind::Any
                    | Kind::Map { .. }
                    | Kind::Object(_)
                    | Kind::Union { .. }
                    | Kind::Ref(_)
                    | Kind::Opaque
            )
        }),
        _ => false,
    }
}

/// Whether a choice stands in quotes or in one of Python's wrappers, which the instructions forbid.
fn is_decorated_choice(field: &FieldSpec, text: &str) -> bool {
    let Kind::Choice(choice) = &field.tree.present(&field.tree.root).kind else { return false };
    let is_member = choice.members.iter().any(|member| member.value.as_str() == Some(text));
    !is_member && (text.starts_with(['"', '\'']) || (text.ends_with(']') && text.contains('[')))
}
