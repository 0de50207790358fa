//! Replies that are still being written: what is certain of each output so far.

use crate::adapter::Adapter;
use crate::adapter::chat::Chat;
use crate::adapter::json::Json;
use crate::adapter::record::{FieldReader, OutputSignature, Outputs, Section};
use crate::dialect::Dialect;
use crate::error::SpecError;
use crate::fields::Fields;
use crate::spec::{FieldSpec, SignatureSpec};
use crate::text::read::partial::{self, Part, Shape};
use crate::text::read::{self, ReadOptions, Source};
use crate::text::scan;
use crate::text::write::json_text;
use crate::value::Value;

/// The parts of a reply, one place for each output.
type Parts<'r> = Vec<Option<Part<'r>>>;

impl Chat {
    /// What is certain of a reply that is still being written, as the companion struct of the output, in which
    /// every field is optional: for showing an answer while it comes.
    ///
    /// Each call reads `front`, the reply so far, from its start. A section behind which another one begins is
    /// read in full. The last one is read as far as it is certain: a text grows, without white space at its end
    /// and without a line that may become a marker; a list grows by its items; a number, a choice or a struct
    /// comes when its section is closed, and inside a list when something follows it. Code comes as a whole.
    ///
    /// Nothing is taken back by a longer front of the same reply, and nothing is made up: if [`parse`](Self::parse)
    /// can read the reply, its answer begins with everything that came before. (A type with code of its own
    /// that reads itself from a text is given the text so far.) Bounds that a growing value may yet meet are not
    /// checked. When the reply is whole, read it with [`parse`](Self::parse): only then is what is missing an error.
    ///
    /// ```
    /// use imp::{Chat, Signature};
    ///
    /// #[derive(Debug, Signature)]
    /// struct Route {
    ///     priority: u8,
    ///     reply: String,
    /// }
    ///
    /// let chat = Chat::new();
    /// let route = chat.partial::<Route>("[[ ## priority ## ]]\n1")?;
    /// assert_eq!(route.priority, None); // it may be 12
    /// let route = chat.partial::<Route>("[[ ## priority ## ]]\n12\n[[ ## reply ## ]]\nWe are on it\n[[ ##")?;
    /// assert_eq!(route.priority, Some(12));
    /// assert_eq!(route.reply.as_deref(), Some("We are on it"));
    /// # Ok::<(), imp::SpecError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The output cannot be described, as for [`OutputSignature::output_spec`].
    pub fn partial<O: OutputSignature>(&self, front: &str) -> Result<O::Partial, SpecError> {
        let spec = O::output_spec().map_err(Clone::clone)?;
        Ok(typed::<O>(self, spec, sections(self, spec, front, Shape::Typed)))
    }

    /// The same for a described signature. Here objects grow too, key by key.
    ///
    /// ```
    /// use imp::{Chat, SignatureSpec};
    ///
    /// let spec = SignatureSpec::parse("ticket -> tags: array, reply")?;
    /// let fields = Chat::new().partial_fields(&spec, "[[ ## tags ## ]]\n[\"money\", \"refu");
    /// assert_eq!(serde_json::to_string(&fields)?, r#"{"tags":["money","refu"]}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn partial_fields(&self, spec: &SignatureSpec, front: &str) -> Fields {
        fields(self, spec, sections(self, spec, front, Shape::Data))
    }
}

impl Json {
    /// What is certain of a reply that is still being written, as the companion struct of the output, in which
    /// every field is optional: for showing an answer while it comes.
    ///
    /// Each call reads `front`, the reply so far, from its start. A field is there once something of its value
    /// is certain: a text grows, never by half an escape; a list grows by its items; a number, a word, a choice
    /// or a struct comes when something follows it.
    ///
    /// Nothing is taken back by a longer front of the same reply, and nothing is made up: if [`parse`](Self::parse)
    /// can read the reply, its answer begins with everything that came before. There is one exception, because
    /// of two equal keys the last one counts: from the second on nothing is new until the object is closed, and
    /// then it may differ. Where the meaning of a backslash hangs on what else there is to forgive in the reply,
    /// that text waits, as white space at the end of a text does.
    /// When the reply is whole, read it with [`parse`](Self::parse): only then is what is missing an error.
    ///
    /// ```
    /// use imp::{Json, Signature};
    ///
    /// #[derive(Debug, Signature)]
    /// struct Route {
    ///     priority: u8,
    ///     reply: String,
    /// }
    ///
    /// let json = Json::new();
    /// assert_eq!(json.partial::<Route>("Here it is: {\"priority\": 1")?.priority, None);
    /// let route = json.partial::<Route>(r#"Here it is: {"priority": 12, "reply": "We\u2019re on\u20"#)?;
    /// assert_eq!(route.priority, Some(12));
    /// assert_eq!(route.reply.as_deref(), Some("We’re on"));
    /// # Ok::<(), imp::SpecError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The output cannot be described, as for [`OutputSignature::output_spec`].
    pub fn partial<O: OutputSignature>(&self, front: &str) -> Result<O::Partial, SpecError> {
        let spec = O::output_spec().map_err(Clone::clone)?;
        Ok(typed::<O>(self, spec, entries(self, spec, front, Shape::Typed)))
    }

    /// The same for a described signature. Here objects grow too, key by key.
    ///
    /// ```
    /// use imp::{Json, SignatureSpec};
    ///
    /// let spec = SignatureSpec::parse("ticket -> owner: object, reply")?;
    /// let front = r#"{"owner": {"team": "atlas", "on_call": tru"#;
    /// let fields = Json::new().partial_fields(&spec, front);
    /// assert_eq!(serde_json::to_string(&fields)?, r#"{"owner":{"team":"atlas"}}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn partial_fields(&self, spec: &SignatureSpec, front: &str) -> Fields {
        fields(self, spec, entries(self, spec, front, Shape::Data))
    }
}

fn options(adapter: &impl Adapter) -> ReadOptions {
    ReadOptions { dialect: adapter.dialect(), unescape: adapter.escapes_markers() }
}

/// The sections of the front of a reply.
fn sections<'r>(chat: &Chat, spec: &SignatureSpec, front: &'r str, shape: Shape) -> Parts<'r> {
    let lines = chat.lines();
    let mut parts: Parts<'r> = spec.outputs.iter().map(|_| None).collect();
    let mut markers = scan::markers(front, lines).peekable();
    while let Some(marker) = markers.next() {
        let at = spec.outputs.iter().position(|field| field.is_called(marker.name));
        let place = at.and_then(|at| Some((spec.outputs.get(at)?, parts.get_mut(at)?)));
        // The first section of a name wins, even an empty one.
        let Some((field, part @ None)) = place else { continue };
        *part = if let Some(next) = markers.peek() {
            let (text, _) = scan::section(front, marker.end, next.line, lines);
            Some(Part::Whole(Source::Text(text)))
        } else {
            let to = scan::certain_end(front, marker.end, lines);
            let (text, _) = scan::section(front, marker.end, to, lines);
            partial::section(&text, &field.tree, options(chat), shape).map(Part::Front)
        };
    }
    parts
}

/// The entries of the front of a JSON object.
fn entries<'r>(json: &Json, spec: &SignatureSpec, front: &'r str, shape: Shape) -> Parts<'r> {
    let trees: Vec<_> = spec.outputs.iter().map(|field| &field.tree).collect();
    let place = |key: &str| spec.outputs.iter().position(|field| field.is_called(key));
    partial::entries(front, &trees, place, options(json), shape)
}

fn fields(adapter: &impl Adapter, spec: &SignatureSpec, parts: Parts<'_>) -> Fields {
    let options = options(adapter);
    let value = |field: &FieldSpec, part| match part {
        Part::Front(value) => Some(value),
        // A JSON null counts as absent in the plain dialect (§8.3).
        Part::Whole(Source::Json(text)) if options.dialect == Dialect::Plain && text.trim() == "null" => {
            field.default.clone().or(field.is_optional().then_some(Value::Null))
        }
        Part::Whole(source) => read::read_value(&source, &field.tree, field.checks.as_deref(), options).ok(),
    };
    let values = spec.outputs.iter().zip(parts);
    values.filter_map(|(field, part)| Some((field.name.clone(), value(field, part?)?))).collect()
}

fn typed<O: Outputs>(adapter: &impl Adapter, spec: &SignatureSpec, parts: Parts<'_>) -> O::Partial {
    let section = |part| match part {
        None => Section::default(),
        Some(Part::Whole(source)) => Section { source: Some(source), ..Section::default() },
        Some(Part::Front(value)) => Section::json(json_text(&value), 0),
    };
    let sections: Vec<_> = parts.into_iter().map(section).collect();
    O::read_partial(&mut FieldReader::new(spec, &sections, options(adapter)))
}
