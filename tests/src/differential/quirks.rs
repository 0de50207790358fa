//! The quirks of DSPy by what shows them: a type, the text of a section, and what each made of it.

use imp::Value;
use serde_json::Value as Json;

use crate::generate::Ty;

/// What was made of an output.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Read {
    /// It has no section.
    Absent,
    /// Its section was refused.
    Error,
    /// A value.
    Value(Value),
}

/// An output that `imp` and DSPy read differently.
#[derive(Debug)]
pub(super) struct Field<'t> {
    pub(super) reply: &'t str,
    pub(super) name: &'t str,
    pub(super) ty: &'t Ty,
    /// Its section, as DSPy cuts it.
    pub(super) text: Option<&'t str>,
    /// Whether Python reads the section as a literal.
    pub(super) python: bool,
    pub(super) ours: &'t Read,
    pub(super) theirs: &'t Read,
}

impl Field<'_> {
    fn text(&self) -> &str {
        self.text.unwrap_or_default()
    }

    /// Whether `imp` refuses what DSPy has a value for.
    fn only_theirs(&self) -> bool {
        matches!((self.ours, self.theirs), (Read::Error, Read::Value(_)))
    }

    /// What `imp` has where DSPy refuses.
    fn only_ours(&self) -> Option<&Value> {
        match (self.ours, self.theirs) {
            (Read::Value(ours), Read::Error) => Some(ours),
            _ => None,
        }
    }

    /// Whether `imp` has the section as the text that it is, and a text is welcome.
    fn is_its_text(&self) -> bool {
        welcomes_text(self.ty) && *self.ours == Read::Value(self.text().into())
    }

    fn strict(&self) -> Option<Json> {
        serde_json::from_str(self.text()).ok()
    }

    /// The JSON that a section begins with where something follows it.
    fn first_of_several(&self) -> Option<Value> {
        let mut values = serde_json::Deserializer::from_str(self.text()).into_iter::<Json>();
        let first = values.next()?.ok()?;
        let rest = self.text().get(values.byte_offset()..)?;
        (!rest.trim().is_empty() && (first.is_array() || first.is_object())).then(|| first.into())
    }
}

/// A quirk's name and what shows it.
type Quirk = (&'static str, fn(&Field<'_>) -> bool);

/// The quirks by name, each with what shows it; the first that fits is named.
const QUIRKS: [Quirk; 10] = [
    ("marker-slice-unstripped", piece_of_marker),
    ("optional-str-keeps-null-text", null_of_text),
    ("optional-union-str-raw", null_of_union),
    ("int-enum-value-unmatchable", number_of_enum),
    ("enum-quoted-fails", quoted_member),
    ("union-str-no-text-fallback", text_of_union),
    ("json-repair-truncated", breaks_off),
    ("python-literal-coercion", only_python),
    ("json-repair-last-value", first_value),
    ("json-repair-guess", guess),
];

/// The first quirk that explains the difference.
pub(super) fn of(field: &Field<'_>) -> Option<&'static str> {
    QUIRKS.iter().find(|(_, shows)| shows(field)).map(|(name, _)| *name)
}

fn welcomes_text(ty: &Ty) -> bool {
    match ty {
        Ty::Any | Ty::Text(_) => true,
        Ty::Optional(inner) => welcomes_text(inner),
        Ty::Union(branches) => branches.iter().any(welcomes_text),
        _ => false,
    }
}

/// DSPy has the end of an indented marker before the value: the section begins with what the marker ends with, and some
/// marker of this output stands behind blanks. What `imp` has for a text is the section without that.
fn piece_of_marker(field: &Field<'_>) -> bool {
    let marker = format!("[[ ## {} ## ]]", field.name);
    let lines = field.reply.split(LINE_ENDS);
    let mut indents = lines
        .filter(|line| line.trim_start().starts_with(&marker))
        .map(|line| line.chars().count() - line.trim_start().chars().count());
    indents.any(|indent| {
        let Some(cut) = marker.len().checked_sub(indent).filter(|_| indent > 0) else { return false };
        let Some(value) = field.text().strip_prefix(marker[cut..].trim()) else { return false };
        match field.ours {
            Read::Value(Value::String(ours)) if welcomes_text(field.ty) => ours == value.trim(),
            _ => !matches!(field.ty, Ty::Text(_)),
        }
    })
}

/// Where Python's `splitlines` ends a line.
const LINE_ENDS: [char; 10] =
    ['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];

/// `null`, exactly, is no text where there may be none.
fn null_of_text(field: &Field<'_>) -> bool {
    matches!(field.ty, Ty::Optional(inner) if matches!(**inner, Ty::Text(_)))
        && field.text() == "null"
        && *field.ours == Read::Value(Value::Null)
        && *field.theirs == Read::Value("null".into())
}

/// The same for a union that has a text among its branches.
fn null_of_union(field: &Field<'_>) -> bool {
    matches!(field.ty, Ty::Optional(inner) if matches!(**inner, Ty::Union(_)) && welcomes_text(inner))
        && field.text() == "null"
        && *field.ours == Read::Value(Value::Null)
        && *field.theirs == Read::Value("null".into())
}

fn unquoted(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

/// A number is the member that has it, as the prompt asks for.
fn number_of_enum(field: &Field<'_>) -> bool {
    let Ty::Enum(_, members) = field.ty else { return false };
    let text = unquoted(field.text());
    let meant = members
        .iter()
        .map(|(_, value)| value)
        .find(|value| value.is_i64() && text.parse().ok() == value.as_i64());
    meant.is_some_and(|meant| field.only_ours() == Some(&meant.clone().into()))
}

/// Quotes around a member are none of its own.
fn quoted_member(field: &Field<'_>) -> bool {
    let Ty::Enum(_, members) = field.ty else { return false };
    let text = unquoted(field.text());
    let meant = members.iter().find(|(name, value)| value == text || name == text);
    text != field.text() && meant.is_some_and(|(_, meant)| field.only_ours() == Some(&meant.clone().into()))
}

/// Where nothing else fits and a text is welcome, the section is a text.
fn text_of_union(field: &Field<'_>) -> bool {
    field.is_its_text() && *field.theirs == Read::Error
}

/// The section ends inside a string or brackets: it is refused, or the text that it is.
fn breaks_off(field: &Field<'_>) -> bool {
    let refused = field.only_theirs() || field.is_its_text();
    let (mut open, mut inside, mut escaped) = (0_usize, false, false);
    for c in field.text().chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if inside => escaped = true,
            '"' => inside = !inside,
            '{' | '[' if !inside => open += 1,
            '}' | ']' if !inside => open = open.saturating_sub(1),
            _ => {}
        }
    }
    refused && field.text().trim_start().starts_with(['{', '[', '"']) && (inside || open > 0)
}

/// What Python alone reads: it is refused, or the text that it is.
fn only_python(field: &Field<'_>) -> bool {
    let refused = field.only_theirs() || field.is_its_text();
    refused && field.python && field.strict().is_none()
}

/// Of a value with something behind it, `imp` has the value or refuses, and DSPy has what comes last.
fn first_value(field: &Field<'_>) -> bool {
    let Some(first) = field.first_of_several() else { return false };
    match field.ours {
        Read::Error => field.only_theirs(),
        Read::Value(ours) => *ours == first || field.is_its_text(),
        Read::Absent => false,
    }
}

/// What is no JSON is refused, or the text that it is; DSPy has what `json_repair` made of it.
fn guess(field: &Field<'_>) -> bool {
    (field.only_theirs() || field.is_its_text()) && field.strict().is_none()
}
