//! What adapters know of a signature: names, types, descriptions, instructions.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value as Json;

use crate::bounds::check_declared;
use crate::dialect::Dialect;
use crate::docs::clean_docs;
use crate::error::SpecError;
use crate::meta::{Bound, FieldMeta, RecordMeta};
use crate::nearest::remedy;
use crate::types::{AnswerShape, Checks, Kind, Number, Pattern, TypeTree};
use crate::value::Value;

/// The description of a signature, from which every prompt is rendered.
///
/// A derive makes one for its structs, [`SignatureSpec::parse`] makes one from a text and
/// [`SignatureSpec::from_json`] from data; adapters cannot tell them apart.
#[derive(Clone)]
pub struct SignatureSpec {
    pub(crate) name: String,
    /// `None` stands for the default sentence.
    pub(crate) instructions: Option<String>,
    pub(crate) inputs: Vec<Arc<FieldSpec>>,
    pub(crate) outputs: Vec<Arc<FieldSpec>>,
    /// The output that a reply without any marker is, if there is one.
    pub(crate) text_field: Option<usize>,
    /// The dialect that the derive's attribute asks for.
    pub(crate) dialect: Option<Dialect>,
    pub(crate) rendered: Rendered,
}

/// One field of a [`SignatureSpec`].
#[derive(Debug, Clone)]
pub struct FieldSpec {
    pub(crate) name: String,
    /// Other names under which a reply may give the field.
    pub(crate) aliases: Vec<String>,
    pub(crate) description: Option<String>,
    pub(crate) schema: Json,
    pub(crate) tree: TypeTree,
    /// The value of an absent field. A default of null is a default too.
    pub(crate) default: Option<Value>,
    /// The bounds of the field itself, in the order in which they were declared.
    pub(crate) constraints: Vec<(Constraint, Value)>,
    /// The same, ready to be checked.
    pub(crate) checks: Option<Box<Checks>>,
    pub(crate) answer_shape: Option<AnswerShape>,
}

/// The static texts that have been rendered: each is rendered once and shared. A clone starts empty,
/// since it is about to be changed.
#[derive(Default)]
pub(crate) struct Rendered {
    slots: [OnceLock<Arc<str>>; Slot::COUNT],
    /// The signature without its histories, if it has any.
    visible: OnceLock<Option<Box<Visible>>>,
}

/// A signature without its histories: what a prompt describes and shows as sections.
pub(crate) struct Visible {
    pub(crate) spec: SignatureSpec,
    /// The place of each of its inputs among all.
    pub(crate) places: Vec<usize>,
}

/// A static text of an adapter in a dialect.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Slot {
    ChatSystemPlain,
    ChatSystemDspy,
    ChatRequirementsPlain,
    ChatRequirementsDspy,
    JsonSystemPlain,
    JsonSystemDspy,
    JsonRequirementsPlain,
    JsonRequirementsDspy,
    XmlSystemPlain,
    XmlSystemDspy,
    XmlRequirementsPlain,
    XmlRequirementsDspy,
    SingleFieldSystemPlain,
    SingleFieldSystemDspy,
    TwoStepSystemPlain,
    TwoStepSystemDspy,
}

impl Slot {
    const COUNT: usize = Slot::TwoStepSystemDspy as usize + 1;
}

impl Rendered {
    /// The text of a slot, rendered by `render` the first time.
    pub(crate) fn get(&self, slot: Slot, render: impl FnOnce() -> String) -> Arc<str> {
        self.slots[slot as usize].get_or_init(|| render().into()).clone()
    }
}

impl Clone for Rendered {
    fn clone(&self) -> Self {
        Rendered::default()
    }
}

/// A bound of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Constraint {
    /// Greater than.
    Gt,
    /// Greater than or equal to.
    Ge,
    /// Less than.
    Lt,
    /// Less than or equal to.
    Le,
    /// The least length: of a text in characters, of a list in items.
    MinLength,
    /// The greatest length: of a text in characters, of a list in items.
    MaxLength,
    /// A multiple of the given number.
    MultipleOf,
    /// Whether `inf`, `-inf` and `nan` are allowed.
    AllowInfNan,
    /// A regular expression that is found in the text.
    Pattern,
}

impl fmt::Debug for SignatureSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            |fields: &[Arc<FieldSpec>]| fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>();
        f.debug_struct("SignatureSpec")
            .field("name", &self.name)
            .field("instructions", &self.instructions)
            .field("inputs", &names(&self.inputs))
            .field("outputs", &names(&self.outputs))
            .finish_non_exhaustive()
    }
}

impl SignatureSpec {
    /// The signature's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The inputs in declared order.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = &FieldSpec> {
        self.inputs.iter().map(|field| &**field)
    }

    /// The outputs in declared order.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = &FieldSpec> {
        self.outputs.iter().map(|field| &**field)
    }

    /// What the model is asked to do: the given instructions, else the sentence that DSPy and Imp have
    /// for none.
    ///
    /// ```
    /// use imp::SignatureSpec;
    ///
    /// let spec = SignatureSpec::parse("question, context -> answer")?;
    /// assert_eq!(
    ///     spec.instructions(),
    ///     "Given the fields `question`, `context`, produce the fields `answer`.",
    /// );
    /// assert_eq!(spec.with_instructions("Answer in one word.").instructions(), "Answer in one word.");
    /// # Ok::<(), imp::SpecError>(())
    /// ```
    pub fn instructions(&self) -> Cow<'_, str> {
        if let Some(instructions) = &self.instructions {
            return Cow::Borrowed(instructions);
        }
        Cow::Owned(self.default_instructions())
    }

    /// The sentence for no instructions.
    pub(crate) fn default_instructions(&self) -> String {
        let names = |fields: &[Arc<FieldSpec>]| {
            fields.iter().map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ")
        };
        let (inputs, outputs) = (names(&self.inputs), names(&self.outputs));
        format!("Given the fields {inputs}, produce the fields {outputs}.")
    }

    /// The same signature with other instructions: what an optimiser changes.
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self.rendered = Rendered::default();
        self
    }

    /// The same signature with another description of one field.
    ///
    /// The field is named by its handle, `Ticket::FIELDS.plan`, or by its name if the signature was
    /// described at run time.
    ///
    /// ```
    /// use imp::SignatureSpec;
    ///
    /// let spec = SignatureSpec::parse("question -> answer")?;
    /// let spec = spec.with_description("answer", "one word")?;
    /// assert_eq!(spec.outputs().next().and_then(|field| field.description()), Some("one word"));
    /// # Ok::<(), imp::SpecError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The signature has no field of that name.
    pub fn with_description(
        mut self,
        field: impl AsRef<str>,
        description: impl Into<String>,
    ) -> Result<Self, SpecError> {
        let name = field.as_ref();
        let Some(found) = self.inputs.iter_mut().chain(&mut self.outputs).find(|field| field.name == name)
        else {
            let fields = self.inputs.iter().chain(&self.outputs);
            let known: Vec<&str> = fields.map(|field| field.name.as_str()).collect();
            let remedy = remedy(name, &known);
            return Err(SpecError::new(format!("the signature has no field `{name}`: {remedy}")));
        };
        Arc::make_mut(found).description = Some(description.into());
        self.rendered = Rendered::default();
        Ok(self)
    }
}

impl SignatureSpec {
    /// The signature without its histories; `None` if it has none.
    pub(crate) fn visible(&self) -> Option<&Visible> {
        let visible = self.rendered.visible.get_or_init(|| {
            let shown = self.inputs.iter().enumerate().filter(|(_, field)| !field.is_history());
            let (places, inputs): (Vec<usize>, Vec<_>) = shown.map(|(at, field)| (at, field.clone())).unzip();
            (places.len() < self.inputs.len())
                .then(|| Box::new(Visible { spec: SignatureSpec { inputs, ..self.clone() }, places }))
        });
        visible.as_deref()
    }

    /// Whether a field on either side has that name.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.inputs.iter().chain(&self.outputs).any(|field| field.name == name)
    }
}

impl FieldSpec {
    /// Whether the field holds a conversation.
    pub(crate) fn is_history(&self) -> bool {
        matches!(self.tree.present(&self.tree.root).kind, Kind::History)
    }

    /// Whether the field holds tool calls.
    pub(crate) fn is_tool_calls(&self) -> bool {
        self.tree.is_tool_calls()
    }

    /// The name in prompts and replies.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a reply may call the field so: by its name or by an alias.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }

    /// The description, if there is one.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The JSON Schema of the field's type.
    pub fn schema(&self) -> &Json {
        &self.schema
    }

    /// The value of an absent field, if it has one.
    pub fn default(&self) -> Option<&Value> {
        self.default.as_ref()
    }

    /// Whether the field may be absent or null.
    pub fn is_optional(&self) -> bool {
        self.tree.nullable()
    }
}

impl SignatureSpec {
    /// The spec of fields from any source, once the rules that look at several of them hold.
    pub(crate) fn build(
        name: String,
        instructions: Option<String>,
        inputs: Vec<Arc<FieldSpec>>,
        outputs: Vec<Arc<FieldSpec>>,
        text_field: Option<usize>,
        dialect: Option<Dialect>,
    ) -> Result<SignatureSpec, SpecError> {
        check_names(&inputs, &outputs)?;
        for field in &outputs {
            field
                .tree
                .refuse_recursive_unions()
                .map_err(|message| SpecError::of_field(&field.name, message))?;
        }
        Ok(SignatureSpec {
            name,
            instructions,
            inputs,
            outputs,
            text_field,
            dialect,
            rendered: Rendered::default(),
        })
    }

    /// The spec of a derived output struct: a signature without inputs.
    pub(crate) fn outputs_from_meta(meta: &RecordMeta) -> Result<SignatureSpec, SpecError> {
        let outputs = fields_of(meta)?;
        let text_field = meta.fields.iter().position(|field| field.text_field);
        let (name, instructions) = (meta.name.to_owned(), instructions_of(meta));
        SignatureSpec::build(name, instructions, Vec::new(), outputs, text_field, meta.dialect)
    }

    /// The spec of a derived input struct and of its output's.
    pub(crate) fn from_meta(meta: &RecordMeta, outputs: &SignatureSpec) -> Result<SignatureSpec, SpecError> {
        SignatureSpec::build(
            meta.name.to_owned(),
            instructions_of(meta),
            fields_of(meta)?,
            outputs.outputs.clone(),
            outputs.text_field,
            meta.dialect.or(outputs.dialect),
        )
    }
}

fn instructions_of(meta: &RecordMeta) -> Option<String> {
    match meta.instructions {
        Some(instructions) => Some(instructions.to_owned()),
        None => Some(clean_docs(meta.docs)).filter(|docs| !docs.is_empty()),
    }
}

fn fields_of(meta: &RecordMeta) -> Result<Vec<Arc<FieldSpec>>, SpecError> {
    meta.fields.iter().map(|field| field_of(field).map(Arc::new)).collect()
}

fn field_of(meta: &FieldMeta) -> Result<FieldSpec, SpecError> {
    let fault = |message: String| SpecError::of_field(meta.name, message);
    let constraints: Vec<(Constraint, Value)> = meta
        .constraints
        .iter()
        .map(|(constraint, bound)| {
            let value = match *bound {
                Bound::Int(value) => Value::Int(value),
                Bound::Float(value) => Value::Float(value),
                Bound::Text(text) => text.into(),
                Bound::Bool(value) => Value::Bool(value),
            };
            (*constraint, value)
        })
        .collect();
    let mut field = FieldSpec::new(meta.name, (meta.schema)(), constraints, meta.answer_shape)?;
    if let Some(checks) = &field.checks {
        let declared = field.constraints.iter().map(|(constraint, _)| *constraint);
        check_declared(declared, checks, field.tree.present(&field.tree.root)).map_err(fault)?;
    }
    field.aliases = meta.aliases.iter().map(|&alias| alias.to_owned()).collect();
    field.default = meta.default.map(|default| default()).transpose().map_err(fault)?;
    field.description = match meta.desc {
        Some(desc) => Some(desc.to_owned()),
        None => Some(clean_docs(meta.docs)).filter(|docs| !docs.is_empty()),
    };
    if field.description.is_none() {
        field.description = type_description(&field.tree);
    }
    field.add_own_bounds();
    Ok(field)
}

/// What a field without a description of its own inherits from its type: the doc comment of a scalar or
/// an enum. A struct's stands in its schema, which the prompt shows anyway.
fn type_description(tree: &TypeTree) -> Option<String> {
    let ty = tree.present(&tree.root);
    match ty.kind {
        Kind::String
        | Kind::Integer
        | Kind::Number
        | Kind::Boolean
        | Kind::DateTime
        | Kind::Date
        | Kind::Choice(_) => {
            ty.description.as_deref().map(clean_docs).filter(|description| !description.is_empty())
        }
        _ => None,
    }
}

impl FieldSpec {
    /// A field without descriptions, aliases and default.
    pub(crate) fn new(
        name: &str,
        schema: Json,
        constraints: Vec<(Constraint, Value)>,
        answer_shape: Option<AnswerShape>,
    ) -> Result<FieldSpec, SpecError> {
        let fault = |message: String| SpecError::of_field(name, message);
        let tree = TypeTree::compile(&schema).map_err(fault)?;
        let checks = ready(&constraints, answer_shape).map_err(fault)?;
        Ok(FieldSpec {
            name: name.to_owned(),
            aliases: Vec::new(),
            description: None,
            schema,
            tree,
            default: None,
            constraints,
            checks,
            answer_shape,
        })
    }

    /// Lists the bounds that the type itself has (`#[schemars(range(…))]` on a newtype) among the
    /// field's, so that the prompt names them; the type's own checks make sure of them already.
    fn add_own_bounds(&mut self) {
        let number = |bound: Option<Number>| {
            bound.map(|bound| match bound {
                Number::Int(value) => Value::Int(value),
                Number::Float(value) => Value::Float(value),
            })
        };
        let length = |bound: Option<usize>| Some(Value::Int(i128::try_from(bound?).ok()?));
        let ty = self.tree.present(&self.tree.root);
        // `char` is a text of one character: no bound that anyone declared.
        let is_char = ty.checks.as_ref().is_some_and(|checks| {
            matches!(ty.kind, Kind::String) && checks.min_length == Some(1) && checks.max_length == Some(1)
        });
        let Some(checks) = ty.checks.as_deref().filter(|_| !is_char) else { return };
        let own = [
            (Constraint::Gt, number(checks.exclusive_minimum)),
            (Constraint::Ge, number(checks.minimum)),
            (Constraint::Lt, number(checks.exclusive_maximum)),
            (Constraint::Le, number(checks.maximum)),
            (Constraint::MinLength, length(checks.min_length)),
            (Constraint::MaxLength, length(checks.max_length)),
            (Constraint::MultipleOf, number(checks.multiple_of)),
            (Constraint::AllowInfNan, checks.inf_nan.map(Value::Bool)),
            (Constraint::Pattern, checks.pattern.as_ref().map(|pattern| pattern.source.as_str().into())),
        ];
        for (constraint, bound) in own {
            let declared = self.constraints.iter().any(|(known, _)| *known == constraint);
            if let Some(bound) = bound.filter(|_| !declared) {
                self.constraints.push((constraint, bound));
            }
        }
    }
}

/// The bounds of a field, ready to be checked.
pub(crate) fn ready(
    constraints: &[(Constraint, Value)],
    answer_shape: Option<AnswerShape>,
) -> Result<Option<Box<Checks>>, String> {
    let mut checks = Checks { answer_shape, ..Checks::default() };
    for (constraint, value) in constraints {
        let number = || match value {
            Value::Int(value) => Ok(Some(Number::Int(*value))),
            Value::Float(value) if value.is_finite() => Ok(Some(Number::Float(*value))),
            Value::Float(value) => Err(format!("the bound `{constraint}` is a finite number, not {value}")),
            value => Err(format!("the bound `{constraint}` is a number, not {}", value.kind())),
        };
        let length = || match value {
            Value::Int(value) => usize::try_from(*value)
                .map(Some)
                .map_err(|_| format!("the bound `{constraint}` is a length, not {value}")),
            value => Err(format!("the bound `{constraint}` is a whole number, not {}", value.kind())),
        };
        match constraint {
            Constraint::Gt => checks.exclusive_minimum = number()?,
            Constraint::Ge => checks.minimum = number()?,
            Constraint::Lt => checks.exclusive_maximum = number()?,
            Constraint::Le => checks.maximum = number()?,
            Constraint::MultipleOf => checks.multiple_of = number()?,
            Constraint::MinLength => checks.min_length = length()?,
            Constraint::MaxLength => checks.max_length = length()?,
            Constraint::AllowInfNan => match value {
                Value::Bool(allowed) => checks.inf_nan = Some(*allowed),
                value => {
                    return Err(format!("the bound `{constraint}` is true or false, not {}", value.kind()));
                }
            },
            Constraint::Pattern => match value {
                Value::String(source) => checks.pattern = Some(Pattern::new(source)?),
                value => return Err(format!("the bound `{constraint}` is a text, not {}", value.kind())),
            },
        }
    }
    if checks.multiple_of.is_some_and(|of| of.compare(Number::Int(0)) != Some(Ordering::Greater)) {
        return Err(format!("the bound `{}` is not above 0: give a number above 0", Constraint::MultipleOf));
    }
    let pairs = [
        (checks.minimum, Constraint::Ge, checks.maximum, Constraint::Le),
        (checks.minimum, Constraint::Ge, checks.exclusive_maximum, Constraint::Lt),
        (checks.exclusive_minimum, Constraint::Gt, checks.maximum, Constraint::Le),
        (checks.exclusive_minimum, Constraint::Gt, checks.exclusive_maximum, Constraint::Lt),
    ];
    for (low, ge, high, le) in pairs {
        let (Some(low), Some(high)) = (low, high) else { continue };
        if leaves_nothing(low, high, ge == Constraint::Gt || le == Constraint::Lt) {
            return Err(format!("no number is between the bounds `{ge}` and `{le}`: swap or widen them"));
        }
    }
    match (checks.min_length, checks.max_length) {
        (Some(least), Some(most)) if least > most => {
            return Err("the bound `min_length` is greater than `max_length`: swap or widen them".to_owned());
        }
        _ => {}
    }
    Ok((!checks.is_empty()).then(|| Box::new(checks)))
}

impl Constraint {
    /// Every bound with its name in data, DSPy's.
    pub(crate) const NAMES: [(Constraint, &'static str); 9] = [
        (Constraint::Gt, "gt"),
        (Constraint::Ge, "ge"),
        (Constraint::Lt, "lt"),
        (Constraint::Le, "le"),
        (Constraint::MinLength, "min_length"),
        (Constraint::MaxLength, "max_length"),
        (Constraint::MultipleOf, "multiple_of"),
        (Constraint::AllowInfNan, "allow_inf_nan"),
        (Constraint::Pattern, "pattern"),
    ];
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Constraint::NAMES.iter().find(|(known, _)| known == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

/// A name is what a marker can hold, and is there once; the end marker's own name is nobody's.
fn check_names(inputs: &[Arc<FieldSpec>], outputs: &[Arc<FieldSpec>]) -> Result<(), SpecError> {
    let mut seen = BTreeSet::new();
    for (at, field) in inputs.iter().chain(outputs).enumerate() {
        let name = field.name.as_str();
        for name in std::iter::once(name).chain(field.aliases.iter().map(String::as_str)) {
            if !is_name(name) {
                return Err(SpecError::of_field(
                    name,
                    "a name is a letter or `_`, then letters, digits and `_`: rename the field",
                ));
            }
            if name == "completed" {
                return Err(SpecError::of_field(
                    name,
                    "`[[ ## completed ## ]]` is the end marker of a reply: rename the field",
                ));
            }
            if !seen.insert(name) {
                let other_side = at >= inputs.len() && inputs.iter().any(|input| input.name == name);
                return Err(SpecError::of_field(
                    name,
                    if other_side {
                        "the name is both an input's and an output's: rename one of them"
                    } else {
                        "two fields have this name: rename one of them"
                    },
                ));
            }
        }
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_alphabetic())
        && chars.all(|c| c == '_' || c.is_alphanumeric())
}

/// Whether no number is between two bounds; `open` where one of them is itself excluded.
pub(crate) fn leaves_nothing(low: Number, high: Number, open: bool) -> bool {
    match low.compare(high) {
        Some(Ordering::Greater) | None => true,
        Some(Ordering::Equal) => open,
        Some(Ordering::Less) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::field_list::field_list;
    use serde_json::json;

    fn meta(fields: &'static [FieldMeta]) -> RecordMeta {
        RecordMeta { name: "Route", docs: " Route it.\n", instructions: None, dialect: None, fields }
    }

    const FIELD: FieldMeta = FieldMeta {
        name: "team",
        aliases: &[],
        docs: " Who\n owns it.\n\n",
        desc: None,
        constraints: &[],
        answer_shape: None,
        text_field: false,
        schema: || json!({"type": "string", "description": "of the type"}),
        default: None,
    };

    #[test]
    fn a_derived_field_describes_itself() {
        static FIELDS: [FieldMeta; 4] = [
            FIELD,
            FieldMeta { name: "typed", docs: "", ..FIELD },
            FieldMeta { name: "desc", desc: Some("given"), ..FIELD },
            FieldMeta {
                name: "priority",
                docs: "",
                constraints: &[(Constraint::Le, Bound::Int(4))],
                schema: || json!({"type": "integer", "format": "uint8", "minimum": 1, "maximum": 255}),
                ..FIELD
            },
        ];
        let spec = SignatureSpec::outputs_from_meta(&meta(&FIELDS)).unwrap();
        assert_eq!(spec.instructions(), "Route it.");
        assert_eq!(
            field_list(&spec.outputs, Dialect::Plain, true),
            "1. `team` (string): Who\nowns it.\n2. `typed` (string): of the type\n3. `desc` (string): given\n\
             4. `priority` (integer): \nConstraints: greater than or equal to: 1, less than or equal to: 4"
        );
    }

    #[test]
    fn what_only_the_schemas_show_is_an_error() {
        static ONE: [FieldMeta; 1] = [FIELD];
        static TWICE: [FieldMeta; 2] = [FIELD, FIELD];
        static END: [FieldMeta; 1] = [FieldMeta { name: "completed", ..FIELD }];
        static SPACED: [FieldMeta; 1] = [FieldMeta { name: "a b", ..FIELD }];
        static PATTERN: [FieldMeta; 1] =
            [FieldMeta { constraints: &[(Constraint::Pattern, Bound::Text("("))], ..FIELD }];
        static REPLAYED: [FieldMeta; 1] = [FieldMeta {
            schema: || {
                json!({"$ref": "#/$defs/Expr", "$defs": {"Expr": {"anyOf": [
                    {"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/Expr"}}
                ]}}})
            },
            ..FIELD
        }];
        for (fields, name, part) in [
            (&TWICE[..], "team", "two fields"),
            (&END, "completed", "end marker"),
            (&SPACED, "a b", "a letter or `_`"),
            (&PATTERN, "team", "the pattern `(` cannot be used"),
            (&REPLAYED, "team", "`Expr` is an untagged enum that contains itself"),
        ] {
            let error = SignatureSpec::outputs_from_meta(&meta(fields)).unwrap_err();
            assert_eq!(error.field(), Some(name), "{error}");
            assert!(error.to_string().contains(part), "{error}");
        }
        let outputs = SignatureSpec::outputs_from_meta(&meta(&ONE)).unwrap();
        let error = SignatureSpec::from_meta(&meta(&ONE), &outputs).unwrap_err();
        assert_eq!(
            error.to_string(),
            "field `team`: the name is both an input's and an output's: rename one of them"
        );
    }

    #[test]
    fn a_recursion_without_replay_is_fine() {
        static LINKED: [FieldMeta; 1] = [FieldMeta {
            schema: || {
                json!({"$ref": "#/$defs/Node", "$defs": {"Node": {"type": "object", "properties": {
                    "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}
                }}}})
            },
            ..FIELD
        }];
        let spec = SignatureSpec::outputs_from_meta(&meta(&LINKED)).unwrap();
        assert_eq!(
            Dialect::Plain.note(&spec.outputs[0]).unwrap(),
            "must adhere to the JSON schema: {\"$ref\": \"#/$defs/Node\", \"$defs\": {\"Node\": {\"type\": \
             \"object\", \"properties\": {\"next\": {\"anyOf\": [{\"$ref\": \"#/$defs/Node\"}, {\"type\": \
             \"null\"}]}}}}}"
        );
    }
}
