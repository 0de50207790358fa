//! The struct that derives `Signature`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Fields, Type};

use crate::attr::{FieldAttrs, RecordAttrs};
use crate::doc::Docs;
use crate::errors::Errors;
use crate::types::{Params, without_self};

/// A struct, or what was taken for one.
pub(crate) struct Record<'a> {
    pub(crate) original: &'a DeriveInput,
    /// Whether it is a struct with named fields; if not, that is reported already.
    pub(crate) is_struct: bool,
    pub(crate) attrs: RecordAttrs,
    pub(crate) docs: Docs<'a>,
    pub(crate) params: Params,
    pub(crate) fields: Vec<Field<'a>>,
}

/// A named field.
pub(crate) struct Field<'a> {
    pub(crate) original: &'a syn::Field,
    pub(crate) ident: &'a Ident,
    /// The type as it is written outside of the struct.
    pub(crate) ty: TokenStream,
    /// Whether it is an output that borrows: that is reported already.
    pub(crate) unreadable: bool,
    pub(crate) attrs: FieldAttrs,
    pub(crate) docs: Docs<'a>,
    pub(crate) name: Name,
}

/// A field's name in prompts and replies.
pub(crate) struct Name {
    pub(crate) value: String,
    pub(crate) span: Span,
    pub(crate) origin: Origin,
}

/// Where a name comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Ident,
    Rename,
    RenameAll,
}

impl<'a> Record<'a> {
    pub(crate) fn from_syn(original: &'a DeriveInput, errors: &mut Errors) -> Self {
        let attrs = RecordAttrs::from_syn(&original.attrs, errors);
        let (_, ty_generics, _) = original.generics.split_for_impl();
        let ident = &original.ident;
        let itself = quote!(#ident #ty_generics);
        let params = Params::from_syn(&original.generics);
        let named = named_fields(original, errors);
        let fields = named.iter().flat_map(|fields| &fields.named);
        let mut fields: Vec<_> =
            fields.filter_map(|field| Field::from_syn(field, &attrs, &itself, errors)).collect();
        if attrs.output.is_none() {
            for field in &mut fields {
                field.unreadable = is_reference(&field.original.ty) || params.borrowed(&field.ty);
            }
        }
        Record {
            original,
            is_struct: named.is_some(),
            attrs,
            docs: Docs::from_syn(&original.attrs),
            params,
            fields,
        }
    }

    /// Whether the struct is the input of a signature.
    pub(crate) fn is_input(&self) -> bool {
        self.attrs.output.is_some()
    }

    /// Whether the struct names itself as its output, which is an error.
    pub(crate) fn is_own_output(&self) -> bool {
        let output = self.attrs.output.as_ref().map(|set| set.value.to_token_stream().to_string());
        output.is_some_and(|output| self.original.ident == output)
    }
}

fn is_reference(mut ty: &Type) -> bool {
    while let Type::Group(group) = ty {
        ty = &group.elem;
    }
    matches!(ty, Type::Reference(_))
}

/// The named fields of a struct; anything else has none and is reported.
fn named_fields<'a>(input: &'a DeriveInput, errors: &mut Errors) -> Option<&'a syn::FieldsNamed> {
    const NAMES: &str = "the names of a signature's fields are in its prompt";
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => return Some(fields),
            Fields::Unnamed(fields) => {
                errors.on(fields, format_args!("{NAMES}: give the fields names, `{{ name: Type }}`"));
            }
            Fields::Unit => {
                errors.on(&input.ident, format_args!("{NAMES}: give the struct fields, `{{ name: Type }}`"));
            }
        },
        Data::Enum(data) => errors.on(
            data.enum_token,
            "only a struct can be a signature: make the enum the type of a field, with \
             `#[derive(Serialize, Deserialize, JsonSchema)]`",
        ),
        Data::Union(data) => {
            errors.on(data.union_token, "only a struct can be a signature: a union has no value to write");
        }
    }
    None
}

impl<'a> Field<'a> {
    fn from_syn(
        original: &'a syn::Field,
        record: &RecordAttrs,
        itself: &TokenStream,
        errors: &mut Errors,
    ) -> Option<Self> {
        let ident = original.ident.as_ref()?;
        let attrs = FieldAttrs::from_syn(&original.attrs, errors);
        let name = Name::of(ident, &attrs, record);
        let ty = without_self(original.ty.to_token_stream(), itself);
        Some(Field {
            original,
            ident,
            ty,
            unreadable: false,
            attrs,
            docs: Docs::from_syn(&original.attrs),
            name,
        })
    }
}

impl Name {
    fn of(ident: &Ident, attrs: &FieldAttrs, record: &RecordAttrs) -> Name {
        if let Some(rename) = &attrs.rename {
            return Name { value: rename.value.value(), span: rename.value.span(), origin: Origin::Rename };
        }
        let plain = ident.unraw().to_string();
        match &record.rename_all {
            Some(rule) => {
                Name { value: rule.value.1.apply(&plain), span: ident.span(), origin: Origin::RenameAll }
            }
            None => Name { value: plain, span: ident.span(), origin: Origin::Ident },
        }
    }
}
