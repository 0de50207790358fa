//! Rules that look at two things at once.

use std::cmp::Ordering;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use regex_lite::Regex;
use syn::ext::IdentExt;
use syn::{Expr, GenericParam, Lit, LitStr};

use crate::ast::{Field, Origin, Record};
use crate::attr::{Bound, BoundValue, Constraint, Default, Set};
use crate::errors::Errors;
use crate::number::number;
use crate::words;

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
    for field in &record.fields {
        check_ranges(field, errors);
        check_pattern(field, errors);
        check_default(field, errors);
    }
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
    let bounds = &field.attrs.bounds;
    if let Some((low, high)) = unsatisfied(bounds) {
        let (low, high) = (low.word.unraw(), &high.word);
        errors.at(
            high.span(),
            format_args!("nothing satisfies both `{low}` and `{}`: change one", high.unraw()),
        );
    }
    for bound in bounds.iter().filter(|bound| divides_nothing(bound)) {
        errors.at(bound.word.span(), format_args!("`{}` needs a number above 0", bound.word.unraw()));
    }
}

/// Whether it is a `multiple_of` that is written as zero or less.
pub(crate) fn divides_nothing(bound: &Bound) -> bool {
    bound.constraint == Constraint::MultipleOf
        && compare(&bound.value, &BoundValue::Int(0)).is_some_and(Ordering::is_le)
}

/// The first two bounds, written as numbers, that nothing satisfies both.
pub(crate) fn unsatisfied(bounds: &[Bound]) -> Option<(&Bound, &Bound)> {
    use Constraint::{Ge, Gt, Le, Lt, MaxLength, MinLength};
    let find = |constraint| bounds.iter().find(|bound| bound.constraint == constraint);
    [(Ge, Le, false), (Ge, Lt, true), (Gt, Le, true), (Gt, Lt, true), (MinLength, MaxLength, false)]
        .into_iter()
        .filter_map(|(low, high, strict)| Some((find(low)?, find(high)?, strict)))
        .find(|(low, high, strict)| match compare(&low.value, &high.value) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) => *strict,
            _ => false,
        })
        .map(|(low, high, _)| (low, high))
}

#[allow(clippy::cast_precision_loss, reason = "an integer and a float beyond 2^53 are not told apart")]
fn compare(left: &BoundValue, right: &BoundValue) -> Option<Ordering> {
    match (left, right) {
        (BoundValue::Int(left), BoundValue::Int(right)) => Some(left.cmp(right)),
        (BoundValue::Int(left), BoundValue::Float(right)) => (*left as f64).partial_cmp(right),
        (BoundValue::Float(left), BoundValue::Int(right)) => left.partial_cmp(&(*right as f64)),
        (BoundValue::Float(left), BoundValue::Float(right)) => left.partial_cmp(right),
        _ => None,
    }
}

/// The pattern that is written in the attribute, and no constant.
fn written_pattern(bound: &Bound) -> Option<LitStr> {
    match (&bound.value, bound.constraint) {
        (BoundValue::Text(text), Constraint::Pattern) => match words::literal(text)? {
            Lit::Str(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

// A pattern that is a constant is looked at when the spec is made.
fn check_pattern(field: &Field<'_>, errors: &mut Errors) {
    for pattern in field.attrs.bounds.iter().filter_map(written_pattern) {
        if let Err(error) = Regex::new(&pattern.value()) {
            errors.at(pattern.span(), format_args!("this pattern is no regular expression: {error}"));
        }
    }
}

// A default that no answer could be. One that is no literal is looked at when the spec is made.
fn check_default(field: &Field<'_>, errors: &mut Errors) {
    let Some(Set { value: Default::Expr(default), .. }) = &field.attrs.default else { return };
    let default = some(default).unwrap_or_else(|| default.clone());
    let broken = match words::literal(&default) {
        Some(Lit::Str(text)) => field.attrs.bounds.iter().find(|bound| is_broken_by(bound, &text.value())),
        _ => number(default.clone(), "")
            .ok()
            .and_then(|value| field.attrs.bounds.iter().find(|bound| is_outside(bound, &value))),
    };
    if let Some(bound) = broken {
        let word = bound.word.unraw();
        errors.on(&default, format_args!("the default is outside of the field's own `{word}`: change one"));
    }
}

/// What is inside `Some(…)`.
fn some(default: &TokenStream) -> Option<TokenStream> {
    match syn::parse2(default.clone()).ok()? {
        Expr::Call(call) => match (&*call.func, call.args.first()) {
            (Expr::Path(path), Some(value)) if path.path.is_ident("Some") => Some(value.to_token_stream()),
            _ => None,
        },
        _ => None,
    }
}

fn is_outside(bound: &Bound, value: &BoundValue) -> bool {
    let order = compare(value, &bound.value);
    match bound.constraint {
        Constraint::Gt => order.is_some_and(Ordering::is_le),
        Constraint::Ge => order.is_some_and(Ordering::is_lt),
        Constraint::Lt => order.is_some_and(Ordering::is_ge),
        Constraint::Le => order.is_some_and(Ordering::is_gt),
        Constraint::MultipleOf => match (value, &bound.value) {
            (BoundValue::Int(value), BoundValue::Int(of)) => {
                value.checked_rem(*of).is_some_and(|rest| rest != 0)
            }
            _ => false,
        },
        _ => false,
    }
}

fn is_broken_by(bound: &Bound, text: &str) -> bool {
    let length = || i128::try_from(text.chars().count()).unwrap_or(i128::MAX);
    match (bound.constraint, &bound.value) {
        (Constraint::MinLength, BoundValue::Int(least)) => length() < *least,
        (Constraint::MaxLength, BoundValue::Int(most)) => length() > *most,
        (Constraint::Pattern, _) => {
            let regex = written_pattern(bound).and_then(|pattern| Regex::new(&pattern.value()).ok());
            regex.is_some_and(|regex| !regex.is_match(text))
        }
        _ => false,
    }
}
