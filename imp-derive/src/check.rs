//! Rules that look at two things at once.

use proc_macro2::Span;
use syn::GenericParam;
use syn::ext::IdentExt;

use crate::ast::{Field, Origin, Record};
use crate::attr::{Bound, BoundValue, Constraint};
use crate::errors::Errors;

pub(crate) fn check(record: &Record<'_>, errors: &mut Errors) {
    if record.is_input() {
        check_input_words(record, errors);
        check_own_output(record, errors);
    } else {
        check_output_words(record, errors);
        check_lifetimes(record, errors);
        check_not_empty(record, errors);
        check_text_fields(record, errors);
    }
    check_names(record, errors);
    check_name_is_free(record, errors);
    record.fields.iter().for_each(|field| check_ranges(field, errors));
}

// `text_field` and `answer_shape` say how an answer is read: of an input nothing is read.
fn check_input_words(record: &Record<'_>, errors: &mut Errors) {
    for field in &record.fields {
        if let Some(set) = &field.attrs.text_field {
            errors.at(set.word.span(), "`text_field` is for outputs: remove it from this input");
        }
        if let Some(set) = &field.attrs.answer_shape {
            errors.at(set.word.span(), "`answer_shape` is for outputs: remove it from this input");
        }
    }
}

// The instructions of a signature are those of its input struct.
fn check_output_words(record: &Record<'_>, errors: &mut Errors) {
    if let Some(set) = record.attrs.instructions.as_ref().filter(|set| set.word == "instructions") {
        errors.at(
            set.word.span(),
            "`instructions` are for the input struct: move them there, or add `output = …` if this is it",
        );
    }
}

// Both sides cannot be one struct: every name would be on both.
fn check_own_output(record: &Record<'_>, errors: &mut Errors) {
    if let (Some(output), true) = (&record.attrs.output, record.is_own_output()) {
        errors.on(&output.value, "a struct cannot be its own output: name the struct of the answers");
    }
}

// A reply is gone when its values are used. Whatever else has a lifetime is refused by the trait.
fn check_lifetimes(record: &Record<'_>, errors: &mut Errors) {
    let mut params = record.original.generics.params.iter();
    let lifetime = params.find_map(|param| match param {
        GenericParam::Lifetime(param) => Some(&param.lifetime),
        _ => None,
    });
    if let Some(lifetime) = lifetime {
        errors.on(
            lifetime,
            "an output struct cannot borrow from the reply: use owned types such as `String`, or add \
             `#[signature(output = …)]` if this is the input",
        );
        return;
    }
    for field in record.fields.iter().filter(|field| field.unreadable) {
        errors.on(
            &field.original.ty,
            "an output cannot borrow from the reply: use an owned type such as `String`",
        );
    }
}

fn check_not_empty(record: &Record<'_>, errors: &mut Errors) {
    if record.is_struct && record.fields.is_empty() {
        errors.at(
            record.original.ident.span(),
            "an output struct needs a field: there is nothing to ask for (if this is the input, add \
             `#[signature(output = …)]`)",
        );
    }
}

// A reply without any marker is one field's.
fn check_text_fields(record: &Record<'_>, errors: &mut Errors) {
    let mut marked = record.fields.iter().filter_map(|field| Some((field, field.attrs.text_field.as_ref()?)));
    let Some((first, _)) = marked.next() else { return };
    for (_, set) in marked {
        let first = first.ident.unraw();
        errors.at(
            set.word.span(),
            format_args!("`text_field` is on `{first}` already: only one output can have it"),
        );
    }
}

// A name must be one in every adapter: a marker, a JSON key, a tag.
fn check_names(record: &Record<'_>, errors: &mut Errors) {
    let mut rule_blamed = false;
    for field in &record.fields {
        let name = &field.name;
        if is_name(&name.value) {
            continue;
        }
        let wrong = no_name(&name.value);
        match (&record.attrs.rename_all, name.origin) {
            (Some(rule), Origin::RenameAll) if is_name(&field.ident.unraw().to_string()) => {
                // One mistake, however many fields there are.
                if !rule_blamed {
                    errors.at(rule.value.0.span(), format_args!("{wrong}, so this case cannot be used"));
                }
                rule_blamed = true;
            }
            (_, Origin::Rename) => errors.at(name.span, wrong),
            _ => errors.at(name.span, format_args!("{wrong}; add `#[field(rename = \"…\")]`")),
        }
    }
    for alias in record.fields.iter().flat_map(|field| &field.attrs.aliases) {
        if !is_name(&alias.value()) {
            errors.at(alias.span(), no_name(&alias.value()));
        }
    }
}

fn no_name(name: &str) -> String {
    let name = if name.is_empty() { "an empty text".to_owned() } else { format!("`{name}`") };
    format!("{name} is no name for a field: it is made of ASCII letters, digits and `_`")
}

fn is_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

// Names are markers: each must be the only one, and `completed` is the one that ends a reply.
fn check_name_is_free(record: &Record<'_>, errors: &mut Errors) {
    let mut taken: Vec<(String, usize)> = Vec::new();
    for (place, field) in record.fields.iter().enumerate() {
        let aliases = field.attrs.aliases.iter().map(|alias| (alias.value(), alias.span()));
        let names = std::iter::once((field.name.value.clone(), field.name.span)).chain(aliases);
        for (name, span) in names {
            check_completed(&name, span, errors);
            match taken.iter().find(|(other, _)| *other == name) {
                None => taken.push((name, place)),
                Some((_, other)) if *other == place => {
                    errors.at(span, format_args!("`{name}` is a name of this field already: remove it"));
                }
                Some((_, other)) => match record.fields.get(*other) {
                    // Two fields of one Rust name: the compiler reports them.
                    Some(other) if other.ident == field.ident => {}
                    Some(other) => {
                        let other = other.ident.unraw();
                        errors.at(
                            span,
                            format_args!("`{name}` is a name of the field `{other}` already: choose another"),
                        );
                    }
                    None => {}
                },
            }
        }
    }
}

fn check_completed(name: &str, span: Span, errors: &mut Errors) {
    if name == "completed" {
        errors.at(
            span,
            "a field cannot be called `completed`: the marker of that name ends a reply; choose another name, \
             or add `#[field(rename = \"…\")]`",
        );
    }
}

// A range that holds no number is a mistake.
fn check_ranges(field: &Field<'_>, errors: &mut Errors) {
    use Constraint::{Ge, Gt, Le, Lt, MaxLength, MinLength, MultipleOf};
    let bounds = &field.attrs.bounds;
    for (low, high, strict) in
        [(Ge, Le, false), (Ge, Lt, true), (Gt, Le, true), (Gt, Lt, true), (MinLength, MaxLength, false)]
    {
        let find = |constraint| bounds.iter().find(|bound| bound.constraint == constraint);
        let (Some(low), Some(high)) = (find(low), find(high)) else { continue };
        let (Some(from), Some(to)) = (constant(low), constant(high)) else { continue };
        if from > to || (strict && from >= to) {
            let (low, high) = (&low.word, &high.word);
            errors.at(high.span(), format_args!("nothing satisfies both `{low}` and `{high}`: change one"));
        }
    }
    for bound in bounds.iter().filter(|bound| bound.constraint == MultipleOf) {
        if constant(bound).is_some_and(|value| value <= 0.0) {
            errors.at(bound.word.span(), "`multiple_of` needs a number above 0");
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "bounds that differ beyond 2^53 are not told apart")]
fn constant(bound: &Bound) -> Option<f64> {
    match bound.value {
        BoundValue::Int(value) => Some(value as f64),
        BoundValue::Float(value) => Some(value),
        _ => None,
    }
}
