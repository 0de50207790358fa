//! The code for a struct. Above each part is what it makes of
//!
//! ```text
//! #[derive(Signature)]
//! #[signature(output = Route)]
//! struct Ticket<'a> {
//!     ticket: &'a str,
//!     #[field(default = "free")]
//!     plan: String,
//! }
//! ```
//!
//! Every path is absolute. Locals are called `__…`: with any hygiene, a user's `const index` would make the
//! pattern `index` that constant. The items of the runtime are named through one alias in the `const _`.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Generics, Lit, Type};

use crate::ast::{Field, Record};
use crate::attr::{Bound, BoundValue, Constraint, Default};
use crate::check::{divides_nothing, unsatisfied};
use crate::imp_path::ImpPath;
use crate::types::respan;
use crate::words;

/// What every part needs.
pub(crate) struct Expansion<'a> {
    pub(crate) record: &'a Record<'a>,
    pub(crate) imp: ImpPath<'a>,
    pub(crate) handles: Ident,
    pub(crate) partial: Ident,
    /// The parameters as they are declared, with their defaults.
    pub(crate) declared: Generics,
}

pub(crate) fn expand(record: &Record<'_>) -> TokenStream {
    let all = Expansion::new(record);
    let structs = all.structs();
    let parts = [
        all.handles(),
        all.companion(),
        all.defaults(),
        all.describe(),
        all.records(),
        if record.is_input() { all.inputs() } else { all.outputs() },
        all.field_checks(),
        all.bound_checks(),
        all.name_checks(),
    ];
    all.wrap(&structs, &parts)
}

impl<'a> Expansion<'a> {
    pub(crate) fn new(record: &'a Record<'a>) -> Self {
        let named = |given: Option<&Ident>, suffix| match given {
            Some(name) => name.clone(),
            None => format_ident!("{}{suffix}", record.original.ident.unraw()),
        };
        let mut declared = record.original.generics.clone();
        for param in &mut declared.params {
            match param {
                syn::GenericParam::Lifetime(param) => param.attrs.clear(),
                syn::GenericParam::Type(param) => param.attrs.clear(),
                syn::GenericParam::Const(param) => param.attrs.clear(),
            }
        }
        Expansion {
            record,
            imp: ImpPath(record.attrs.krate.as_ref().map(|set| &set.value)),
            handles: named(record.attrs.fields.as_ref().map(|set| &set.value), "Fields"),
            partial: named(record.attrs.partial.as_ref().map(|set| &set.value), "Partial"),
            declared,
        }
    }

    /// ```text
    /// /* the structs */
    /// const _: () = {
    ///     use ::imp::__private as __imp;
    ///     use __imp::{Hidden as _, …};
    ///     /* the impls */
    /// };
    /// ```
    pub(crate) fn wrap(&self, structs: &TokenStream, parts: &[TokenStream]) -> TokenStream {
        let imp = &self.imp;
        quote! {
            #structs
            #[allow(dead_code, deprecated, unused_imports, unused_qualifications)]
            const _: () = {
                use #imp::__private as __imp;
                use __imp::{
                    Hidden as _, Literal as _, NoNumber as _, Required as _, Undescribed as _, Unlimited as _,
                    Unusable as _,
                };
                #(#parts)*
            };
        }
    }

    /// `impl<'a> TRAIT for TY<'a> where …`
    ///
    /// The where clause has the struct's own bounds, `extra`, and for every field type that mentions a
    /// parameter that it is usable. All other types are looked at in one place, [`Self::field_checks`].
    fn head(&self, of: &TokenStream, ty: &Ident, extra: &TokenStream) -> TokenStream {
        let (impl_generics, ty_generics, where_clause) = self.record.original.generics.split_for_impl();
        let own = where_clause.iter().flat_map(|clause| &clause.predicates);
        let usable = self.usable();
        quote!(impl #impl_generics #of #ty #ty_generics where #(#own,)* #(#usable,)* #extra)
    }

    /// The same without the fields' types, which the part does not use.
    pub(crate) fn bare_head(&self, of: &TokenStream, ty: &Ident) -> TokenStream {
        let (impl_generics, ty_generics, where_clause) = self.record.original.generics.split_for_impl();
        quote!(impl #impl_generics #of #ty #ty_generics #where_clause)
    }

    /// The trait of the fields' types.
    fn role(&self) -> TokenStream {
        if self.record.is_input() { quote!(: __imp::InputType) } else { quote!(: __imp::OutputType) }
    }

    /// `for<'a> &'a T: InputType` for the fields' types that mention a parameter.
    fn usable(&self) -> Vec<TokenStream> {
        let params = &self.record.params;
        let role = self.role();
        let mut seen = Vec::new();
        let generic =
            self.record.fields.iter().filter(|field| params.mentioned(&field.ty) && !field.unreadable);
        let predicates = generic.filter_map(|field| {
            let ty = &field.ty;
            // Twice the same bound for every lifetime, `&'a T` and `&'b T`, would be ambiguous.
            let shape = params.shape(ty);
            if seen.contains(&shape) {
                return None;
            }
            seen.push(shape);
            let ty = params.for_every_lifetime(ty.clone());
            Some(quote!(#ty #role))
        });
        predicates.collect()
    }

    /// ```text
    /// /// The fields of `Ticket`.
    /// #[derive(Debug)]
    /// struct TicketFields<'a> {
    ///     /// The field `ticket`.
    ///     ticket: Field<Ticket<'a>, &'a str>,
    ///     …
    /// }
    ///
    /// /// A `Ticket` in which every field is optional.
    /// struct TicketPartial<'a> {
    ///     /// The field `ticket`.
    ///     ticket: Option<&'a str>,
    ///     …
    /// }
    /// ```
    fn structs(&self) -> TokenStream {
        let imp = &self.imp;
        let ident = &self.record.original.ident;
        let (_, ty_generics, _) = self.record.original.generics.split_for_impl();
        let mut handles = TokenStream::new();
        let mut options = TokenStream::new();
        for field in &self.record.fields {
            let Field { ident: name, ty, original, docs, .. } = field;
            let vis = &original.vis;
            let docs = docs.or(&format!("The field `{}`.", name.unraw()));
            handles.extend(quote!(#docs #vis #name: #imp::__private::Field<#ident #ty_generics, #ty>,));
            options.extend(quote!(#docs #vis #name: ::core::option::Option<#ty>,));
        }
        self.shells(&handles, &options)
    }

    /// The two structs with these fields.
    pub(crate) fn shells(&self, handles: &TokenStream, options: &TokenStream) -> TokenStream {
        let Expansion { handles: handles_name, partial, declared, .. } = self;
        let vis = &self.record.original.vis;
        let where_clause = &declared.where_clause;
        let name = self.record.original.ident.unraw();
        let handles_doc = format!("The fields of `{name}`, which are named by them: see `{name}::FIELDS`.");
        let partial_doc = format!("A `{name}` in which every field is optional.");
        quote! {
            #[doc = #handles_doc]
            #[allow(dead_code, non_camel_case_types, non_snake_case)]
            #[derive(::core::fmt::Debug)]
            #vis struct #handles_name #declared #where_clause { #handles }

            #[doc = #partial_doc]
            #[allow(dead_code, non_camel_case_types, non_snake_case)]
            #vis struct #partial #declared #where_clause { #options }
        }
    }

    /// ```text
    /// impl<'a> Ticket<'a> {
    ///     /// The struct's fields, …
    ///     const FIELDS: TicketFields<'a> =
    ///         TicketFields { ticket: Field::__new(0, "ticket"), plan: Field::__new(1, "plan") };
    /// }
    /// ```
    fn handles(&self) -> TokenStream {
        let fields = self.record.fields.iter().enumerate().map(|(index, field)| {
            let Field { ident, name, .. } = field;
            let name = &name.value;
            quote!(#ident: __imp::Field::__new(#index, #name))
        });
        self.fields_const(&quote!(#(#fields),*))
    }

    pub(crate) fn fields_const(&self, fields: &TokenStream) -> TokenStream {
        let handles = &self.handles;
        let (_, ty_generics, _) = self.record.original.generics.split_for_impl();
        let vis = &self.record.original.vis;
        let head = self.bare_head(&TokenStream::new(), &self.record.original.ident);
        quote! {
            #head {
                /// The struct's fields, by which they are named.
                #vis const FIELDS: #handles #ty_generics = #handles { #fields };
            }
        }
    }

    /// ```text
    /// impl<'a> TicketPartial<'a> {
    ///     /// The struct, …
    ///     fn complete(self) -> Result<Ticket<'a>, MissingFields> {
    ///         let all = TicketPartial {
    ///             ticket: __imp::or_absent(self.ticket, |__absent| __absent.__value()),
    ///             plan: __imp::or_default::<Ticket<'a>, 1, _>(self.plan),
    ///         };
    ///         let missing = __imp::missing(&[("ticket", all.ticket.is_none()), ("plan", all.plan.is_none())]);
    ///         let whole = move || Some(Ticket { ticket: all.ticket?, plan: all.plan? });
    ///         whole().ok_or(missing)
    ///     }
    /// }
    ///
    /// impl<'a> Default for TicketPartial<'a> {
    ///     fn default() -> Self {
    ///         TicketPartial { ticket: None, plan: None }
    ///     }
    /// }
    ///
    /// impl<'a> Debug for TicketPartial<'a> {
    ///     fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
    ///         __imp::debug(f, "TicketPartial", &[("ticket", __imp::Shown(&self.ticket).__shown()), …])
    ///     }
    /// }
    /// ```
    fn companion(&self) -> TokenStream {
        let itself = self.itself();
        let filled = self.each(|index, field| {
            let ident = field.ident;
            if self.has_default(field) {
                quote!(#ident: __imp::or_default::<#itself, #index, _>(self.#ident))
            } else {
                quote!(#ident: __imp::or_absent(self.#ident, |__absent| __absent.__value()))
            }
        });
        let missing = self.each(|_, field| {
            let (ident, name) = (field.ident, &field.name.value);
            quote!((#name, __all.#ident.is_none()))
        });
        let none = self.each(|_, field| {
            let ident = field.ident;
            quote!(#ident: ::core::option::Option::None)
        });
        let shown = self.each(|_, field| {
            let (ident, name) = (field.ident, field.ident.unraw().to_string());
            quote!((#name, __imp::Shown(&self.#ident).__shown()))
        });
        let whole = self.whole();
        let (partial, turbofish) = (&self.partial, self.turbofish());
        let body = quote! {
            let __all = #partial #turbofish { #(#filled),* };
            let __missing = __imp::missing(&[#(#missing),*]);
            let __whole = move || #whole;
            __whole().ok_or(__missing)
        };
        self.companion_impls(&body, &none, &shown)
    }

    pub(crate) fn companion_impls(
        &self,
        complete: &TokenStream,
        none: &[TokenStream],
        shown: &[TokenStream],
    ) -> TokenStream {
        let itself = self.itself();
        let partial = &self.partial;
        let vis = &self.record.original.vis;
        let inherent = self.bare_head(&TokenStream::new(), partial);
        let default = self.bare_head(&quote!(::core::default::Default for), partial);
        let debug = self.bare_head(&quote!(::core::fmt::Debug for), partial);
        let name = partial.unraw().to_string();
        quote! {
            #inherent {
                /// The whole struct: a field without a value gets its default, an `Option` gets `None`.
                ///
                /// # Errors
                ///
                /// The names of the other fields without a value.
                #vis fn complete(self) -> ::core::result::Result<#itself, __imp::MissingFields> {
                    #complete
                }
            }

            #[automatically_derived]
            #default {
                fn default() -> Self {
                    Self { #(#none),* }
                }
            }

            #[automatically_derived]
            #debug {
                fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    __imp::debug(__f, #name, &[#(#shown),*])
                }
            }
        }
    }

    /// A default is written once, so that a wrong type is one error, at the expression.
    ///
    /// ```text
    /// impl<'a> FieldDefault<1, String> for Ticket<'a> {
    ///     fn get() -> String {
    ///         Text::<String>::__text("free")
    ///     }
    /// }
    /// ```
    fn defaults(&self) -> TokenStream {
        let impls = self.record.fields.iter().enumerate().filter_map(|(index, field)| {
            let ty = &field.ty;
            let value = self.default_value(field)?;
            let head =
                self.bare_head(&quote!(__imp::FieldDefault<#index, #ty> for), &self.record.original.ident);
            Some(quote! {
                #[automatically_derived]
                #head {
                    fn get() -> #ty {
                        #value
                    }
                }
            })
        });
        impls.collect()
    }

    fn has_default(&self, field: &Field<'_>) -> bool {
        field.attrs.default.is_some() || self.record.attrs.default.is_some()
    }

    fn default_value(&self, field: &Field<'_>) -> Option<TokenStream> {
        let ty = &field.ty;
        match (&field.attrs.default, &self.record.attrs.default) {
            (Some(set), _) => Some(match &set.value {
                Default::OfType => respan(quote!(__imp::default_of_type()), set.word.span()),
                Default::Expr(expr) => match words::literal(expr) {
                    Some(Lit::Str(text)) => respan(quote!(__imp::Text::<#ty>::__text(#text)), text.span()),
                    _ => expr.clone(),
                },
            }),
            (None, Some(all)) => {
                let ident = field.ident;
                Some(quote!(#all.#ident))
            }
            (None, None) => None,
        }
    }

    /// ```text
    /// impl<'a> Describe for Ticket<'a> {
    ///     const META: RecordMeta = RecordMeta {
    ///         name: "Ticket",
    ///         docs: "",
    ///         instructions: None,
    ///         dialect: None,
    ///         fields: &[
    ///             FieldMeta::new("ticket", "", In::<&'a str>::schema),
    ///             FieldMeta::new("plan", "", In::<String>::schema).default(In::<String>::default_of::<Self, 1>),
    ///         ],
    ///     };
    /// }
    /// ```
    fn describe(&self) -> TokenStream {
        let fields = self.each(|index, field| self.field_meta(index, field));
        let head = self.head(&quote!(__imp::Describe for), &self.record.original.ident, &TokenStream::new());
        let meta = self.record_meta(&fields);
        quote! {
            #[automatically_derived]
            #head {
                const META: __imp::RecordMeta = #meta;
            }
        }
    }

    pub(crate) fn record_meta(&self, fields: &[TokenStream]) -> TokenStream {
        let name = self.record.original.ident.unraw().to_string();
        let docs = self.record.docs.text();
        let instructions = option(self.record.attrs.instructions.as_ref().map(|set| set.value.clone()));
        let dialect = option(self.record.attrs.dialect.as_ref().map(|set| {
            let variant = &set.value;
            quote!(__imp::Dialect::#variant)
        }));
        quote! {
            __imp::RecordMeta {
                name: #name,
                docs: #docs,
                instructions: #instructions,
                dialect: #dialect,
                fields: &[#(#fields),*],
            }
        }
    }

    fn field_meta(&self, index: usize, field: &Field<'_>) -> TokenStream {
        let Field { name, docs, attrs, .. } = field;
        let (name, docs, operations) = (&name.value, docs.text(), self.operations(field));
        let mut meta = quote!(__imp::FieldMeta::new(#name, #docs, #operations::schema));
        if !attrs.aliases.is_empty() && !self.record.is_input() {
            let aliases = &attrs.aliases;
            meta.extend(quote!(.aliases(&[#(#aliases),*])));
        }
        if let Some(set) = &attrs.desc {
            let desc = &set.value;
            meta.extend(quote!(.desc(#desc)));
        }
        if let Some(set) = &attrs.answer_shape {
            let shape = &set.value;
            meta.extend(quote!(.answer_shape(__imp::AnswerShape::#shape)));
        }
        if attrs.text_field.is_some() {
            meta.extend(quote!(.text_field()));
        }
        if self.has_default(field) {
            meta.extend(quote!(.default(#operations::default_of::<Self, #index>)));
        }
        if attrs.bounds.is_empty() {
            return meta;
        }
        let bounds = attrs.bounds.iter().map(|bound| {
            let constraint = Ident::new(&format!("{:?}", bound.constraint), Span::call_site());
            let value = bound_value(&bound.value);
            quote!((__imp::Constraint::#constraint, #value))
        });
        // In a literal, and no argument: so the list lives as long as the metadata, whatever is calculated in it.
        quote!(__imp::FieldMeta { constraints: &[#(#bounds),*], ..#meta })
    }

    /// ```text
    /// impl<'a> Record for Ticket<'a> {
    ///     fn write(&self, index: usize, _: &FieldSpec, out: &mut FieldWriter<'_>) -> Result<(), WriteError> {
    ///         match index {
    ///             0 => In::<&'a str>::write(&self.ticket, out),
    ///             1 => In::<String>::write(&self.plan, out),
    ///             _ => Ok(()),
    ///         }
    ///     }
    ///
    ///     fn is_complete(&self) -> bool {
    ///         true
    ///     }
    /// }
    /// /* and for `TicketPartial` with `write_some`, without `is_complete` */
    /// ```
    fn records(&self) -> TokenStream {
        [(&self.record.original.ident, "write", true), (&self.partial, "write_some", false)]
            .into_iter()
            .map(|(ty, function, complete)| {
                let function = Ident::new(function, Span::call_site());
                let arms = self.each(|index, field| {
                    let (ident, operations) = (field.ident, self.operations(field));
                    quote!(#index => #operations::#function(&self.#ident, __out))
                });
                let head = self.head(&quote!(__imp::Record for), ty, &TokenStream::new());
                record_impl(&head, &arms, complete)
            })
            .collect()
    }

    /// ```text
    /// impl<'a> Inputs for Ticket<'a> where Route: OutputSignature {
    ///     type Output = Route;
    ///     type Partial = TicketPartial<'a>;
    /// }
    ///
    /// impl<'a> Signature for Ticket<'a> where Route: OutputSignature {
    ///     fn spec() -> Result<&'static Arc<SignatureSpec>, &'static SpecError> {
    ///         static SPEC: SpecCell = SpecCell::new();
    ///         SPEC.signature::<Self>()
    ///     }
    /// }
    ///
    /// impl<'a> PartOf<Ticket<'a>> for Ticket<'a> {
    ///     const IS_OUTPUT: bool = false;
    /// }
    ///
    /// impl<'a> PartOf<Ticket<'a>> for Route {
    ///     const IS_OUTPUT: bool = true;
    /// }
    /// ```
    pub(crate) fn inputs(&self) -> TokenStream {
        let Some(output) = self.output() else { return TokenStream::new() };
        let (impl_generics, ty_generics, where_clause) = self.record.original.generics.split_for_impl();
        let (ident, partial) = (&self.record.original.ident, &self.partial);
        let readable = under(&output.to_token_stream(), quote!(: __imp::OutputSignature));
        let inputs = self.head(&quote!(__imp::Inputs for), ident, &readable);
        // Whatever the compiler says of the type, its being private above all, it says at its name.
        let place =
            output.to_token_stream().into_iter().last().map_or_else(Span::call_site, |last| last.span());
        let answer = quote_spanned!(place=> type Output = #output;);
        let signature = self.head(&quote!(__imp::Signature for), ident, &readable);
        let spec = self.spec("signature", "generic_signature");
        quote! {
            #[automatically_derived]
            #inputs {
                #answer
                type Partial = #partial #ty_generics;
            }

            #[automatically_derived]
            #signature {
                fn spec() -> __imp::SpecRef { #spec }
            }

            #[automatically_derived]
            impl #impl_generics __imp::PartOf<#ident #ty_generics> for #ident #ty_generics #where_clause {
                const IS_OUTPUT: ::core::primitive::bool = false;
            }

            #[automatically_derived]
            impl #impl_generics __imp::PartOf<#ident #ty_generics> for #output #where_clause {
                const IS_OUTPUT: ::core::primitive::bool = true;
            }
        }
    }

    /// ```text
    /// impl Outputs for Route {
    ///     type Partial = RoutePartial;
    ///
    ///     fn read(reader: &mut FieldReader<'_>) -> Option<Self> {
    ///         let all = RoutePartial {
    ///             team: Out::<Team>::read(reader, 0),
    ///             plan: Out::<String>::read_or::<Self, 1>(reader),
    ///         };
    ///         Some(Route { team: all.team?, plan: all.plan? })
    ///     }
    ///
    ///     fn read_partial(reader: &mut FieldReader<'_>) -> RoutePartial {
    ///         RoutePartial { team: Out::<Team>::read_some(reader, 0), … }
    ///     }
    ///
    ///     fn read_field(reader: &mut FieldReader<'_>, index: usize, partial: &mut RoutePartial) -> bool {
    ///         match index { 0 => Out::<Team>::read_one(reader, 0, &mut partial.team), … _ => false }
    ///     }
    ///
    ///     fn field(&self, index: usize) -> Option<&dyn Any> where Self: 'static {
    ///         match index { 0 => Out::<Team>::any(&self.team), … _ => None }
    ///     }
    ///
    ///     fn partial_field(partial: &RoutePartial, index: usize) -> Option<&dyn Any> where Self: 'static {
    ///         match index { 0 => Out::<Team>::any_some(&partial.team), … _ => None }
    ///     }
    /// }
    ///
    /// impl OutputSignature for Route { /* as `Signature::spec` */ }
    /// ```
    fn outputs(&self) -> TokenStream {
        let (partial, turbofish) = (&self.partial, self.turbofish());
        let read = self.each(|index, field| {
            let (ident, operations) = (field.ident, self.operations(field));
            if self.has_default(field) {
                quote!(#ident: #operations::read_or::<Self, #index>(__reader))
            } else {
                quote!(#ident: #operations::read(__reader, #index))
            }
        });
        let read_some = self.each(|index, field| {
            let (ident, operations) = (field.ident, self.operations(field));
            quote!(#ident: #operations::read_some(__reader, #index))
        });
        let read_one = self.each(|index, field| {
            let (ident, operations) = (field.ident, self.operations(field));
            quote!(#index => #operations::read_one(__reader, #index, &mut __partial.#ident))
        });
        let value = self.each(|index, field| {
            let (ident, operations) = (field.ident, self.operations(field));
            quote!(#index => #operations::any_some(&__partial.#ident))
        });
        let own = self.each(|index, field| {
            let (ident, operations) = (field.ident, self.operations(field));
            quote!(#index => #operations::any(&self.#ident))
        });
        let whole = self.whole();
        self.output_impls(
            // Every field is read before the first that is missing ends it: all are reported.
            &quote!(let __all = #partial #turbofish { #(#read),* }; #whole),
            &quote!(#partial #turbofish { #(#read_some),* }),
            &quote!(match __index { #(#read_one,)* _ => false }),
            &quote!(match __index { #(#own,)* _ => ::core::option::Option::None }),
            &quote!(match __index { #(#value,)* _ => ::core::option::Option::None }),
        )
    }

    pub(crate) fn output_impls(
        &self,
        read: &TokenStream,
        read_partial: &TokenStream,
        read_field: &TokenStream,
        own_field: &TokenStream,
        partial_field: &TokenStream,
    ) -> TokenStream {
        let (ident, partial) = (&self.record.original.ident, &self.partial);
        let (_, ty_generics, _) = self.record.original.generics.split_for_impl();
        let none = TokenStream::new();
        let outputs = self.head(&quote!(__imp::Outputs for), ident, &none);
        let signature = self.head(&quote!(__imp::OutputSignature for), ident, &none);
        let spec = self.spec("outputs", "generic_outputs");
        quote! {
            #[automatically_derived]
            #outputs {
                type Partial = #partial #ty_generics;

                fn read(__reader: &mut __imp::FieldReader<'_>) -> ::core::option::Option<Self> { #read }

                fn read_partial(__reader: &mut __imp::FieldReader<'_>) -> #partial #ty_generics { #read_partial }

                fn read_field(
                    __reader: &mut __imp::FieldReader<'_>,
                    __index: ::core::primitive::usize,
                    __partial: &mut #partial #ty_generics,
                ) -> ::core::primitive::bool {
                    #read_field
                }

                fn field(&self, __index: ::core::primitive::usize) -> ::core::option::Option<&dyn __imp::Any>
                where
                    Self: 'static,
                {
                    #own_field
                }

                // Its lifetime has a name: a refused struct may have one of its own, and nothing is to be said of ours then.
                fn partial_field<'__partial>(
                    __partial: &'__partial #partial #ty_generics,
                    __index: ::core::primitive::usize,
                ) -> ::core::option::Option<&'__partial dyn __imp::Any>
                where
                    Self: 'static,
                {
                    #partial_field
                }
            }

            #[automatically_derived]
            #signature {
                fn output_spec() -> __imp::SpecRef { #spec }
            }
        }
    }

    // A static inside of a generic impl is one for all types: those go through a map.
    fn spec(&self, of_static: &str, of_map: &str) -> TokenStream {
        let (of_static, of_map) =
            (Ident::new(of_static, Span::call_site()), Ident::new(of_map, Span::call_site()));
        if self.record.params.types.is_empty() {
            quote!(static SPEC: __imp::SpecCell = __imp::SpecCell::new(); SPEC.#of_static::<Self>())
        } else {
            quote!(__imp::#of_map::<Self>())
        }
    }

    /// One place where each type is looked at, under the type or under the word that asks something of it.
    /// A where clause that names no parameter is checked where it stands, and is one error with our words.
    ///
    /// ```text
    /// fn check() where &'static str: InputType, String: InputType, String: LengthType {}
    /// ```
    fn field_checks(&self) -> TokenStream {
        let params = &self.record.params;
        let role = self.role();
        let mut asked = Vec::new();
        let fixed =
            self.record.fields.iter().filter(|field| !params.mentioned(&field.ty) && !field.unreadable);
        for field in fixed {
            let ty = params.without_lifetimes(field.ty.clone());
            asked.push(under(&ty, role.clone()));
            for (marker, word) in asked_of(field) {
                let marker = Ident::new(marker, Span::call_site());
                asked.push(respan(quote!(#ty: __imp::#marker), word.span()));
            }
        }
        quote!(fn check() where #(#asked),* {})
    }

    /// Bounds that the field's type cannot have, under their words. Only where a const item can name the struct;
    /// else the spec is refused when it is built.
    ///
    /// ```text
    /// const _: () = __imp::check_bound(&<Route as Describe>::META, 1, 0, "max", Numbers::<u8>::__LIMITS);
    /// const _: () = __imp::check_range(&<Route as Describe>::META, 1, Numbers::<u8>::__LIMITS);
    /// ```
    fn bound_checks(&self) -> TokenStream {
        let params = &self.record.params;
        if !params.types.is_empty() {
            return TokenStream::new();
        }
        let itself = params.without_lifetimes(self.itself());
        let meta = quote!(&<#itself as __imp::Describe>::META);
        let mut checks = TokenStream::new();
        for (index, field) in self.record.fields.iter().enumerate().filter(|(_, field)| !field.unreadable) {
            let ty = params.without_lifetimes(field.ty.clone());
            let limits = quote!(__imp::Numbers::<#ty>::__LIMITS);
            let bounds = &field.attrs.bounds;
            let asked = |bound: &Bound| bound.constraint.is_numeric() && !divides_nothing(bound);
            for (at, bound) in bounds.iter().enumerate().filter(|(_, bound)| asked(bound)) {
                let word = bound.word.unraw().to_string();
                checks.extend(quote_spanned! {bound.word.span()=>
                    const _: () = __imp::check_bound(#meta, #index, #at, #word, #limits);
                });
            }
            let last = bounds.iter().rev().find(|bound| asked(bound));
            if let Some(bound) = last.filter(|_| unsatisfied(bounds).is_none()) {
                checks.extend(quote_spanned! {bound.word.span()=>
                    const _: () = __imp::check_range(#meta, #index, #limits);
                });
            }
        }
        checks
    }

    /// A name on both sides, under the field's name. Only where a const item can name both structs; else the
    /// spec is refused when it is built.
    ///
    /// ```text
    /// type __Output = Route;
    /// const _: () = __imp::only_input("Ticket", "ticket", __imp::Described::<__Output>::META);
    /// ```
    fn name_checks(&self) -> TokenStream {
        let Some(output) = self.output() else { return TokenStream::new() };
        if !self.record.params.types.is_empty() {
            return TokenStream::new();
        }
        let input = self.record.original.ident.unraw().to_string();
        // That name is refused on each side.
        let fields = self.record.fields.iter().filter(|field| field.name.value != "completed");
        let checks = fields.map(|field| {
            let name = &field.name;
            let text = &name.value;
            quote_spanned! {name.span=>
                const _: () = __imp::only_input(#input, #text, __imp::Described::<__Output>::META);
            }
        });
        let checks: TokenStream = checks.collect();
        // Named away from the fields: if there is no such type, rustc looks for a remedy at the place of the item.
        quote!(type __Output = #output; #checks)
    }

    fn output(&self) -> Option<&Type> {
        let output = self.record.attrs.output.as_ref().map(|set| &set.value);
        output.filter(|_| !self.record.is_own_output())
    }

    /// `In::<T>` or `Out::<T>`.
    fn operations(&self, field: &Field<'_>) -> TokenStream {
        let ty = &field.ty;
        if field.unreadable {
            return quote!(__imp::Neither::<#ty>);
        }
        if self.record.is_input() { quote!(__imp::In::<#ty>) } else { quote!(__imp::Out::<#ty>) }
    }

    /// `Some(Ticket { ticket: all.ticket?, plan: all.plan? })`
    fn whole(&self) -> TokenStream {
        let ident = &self.record.original.ident;
        let fields = self.each(|_, field| {
            let ident = field.ident;
            quote!(#ident: __all.#ident?)
        });
        let turbofish = self.turbofish();
        quote!(::core::option::Option::Some(#ident #turbofish { #(#fields),* }))
    }

    /// `::<'a, T, N>`: in a literal, where no field may say what a parameter is.
    fn turbofish(&self) -> TokenStream {
        let (_, ty_generics, _) = self.record.original.generics.split_for_impl();
        ty_generics.as_turbofish().to_token_stream()
    }

    fn itself(&self) -> TokenStream {
        let ident = &self.record.original.ident;
        let (_, ty_generics, _) = self.record.original.generics.split_for_impl();
        quote!(#ident #ty_generics)
    }

    fn each(&self, make: impl Fn(usize, &Field<'_>) -> TokenStream) -> Vec<TokenStream> {
        self.record.fields.iter().enumerate().map(|(index, field)| make(index, field)).collect()
    }
}

pub(crate) fn record_impl(head: &TokenStream, arms: &[TokenStream], complete: bool) -> TokenStream {
    let is_complete = complete.then(|| {
        quote! {
            fn is_complete(&self) -> ::core::primitive::bool {
                true
            }
        }
    });
    quote! {
        #[automatically_derived]
        #head {
            fn write(
                &self,
                __index: ::core::primitive::usize,
                _: &__imp::FieldSpec,
                __out: &mut __imp::FieldWriter<'_>,
            ) -> ::core::result::Result<(), __imp::WriteError> {
                match __index {
                    #(#arms,)*
                    _ => ::core::result::Result::Ok(()),
                }
            }

            #is_complete
        }
    }
}

/// `: InputType` behind the type `ty`, with spans such that an error underlines the type.
fn under(ty: &TokenStream, role: TokenStream) -> TokenStream {
    let last = ty.clone().into_iter().last().map_or_else(Span::call_site, |token| token.span());
    let role = respan(role, last);
    quote!(#ty #role)
}

/// The traits that the attributes of a field ask of its type, each at the first word that asks for it.
fn asked_of<'f>(field: &'f Field<'_>) -> Vec<(&'static str, &'f Ident)> {
    let attrs = &field.attrs;
    let text_field = attrs.text_field.iter().map(|set| ("TextType", &set.word));
    let shape = attrs.answer_shape.iter().map(|set| ("TextType", &set.word));
    let bounds = attrs.bounds.iter().map(|bound| (marker(bound.constraint), &bound.word));
    let mut asked: Vec<(&str, &Ident)> = Vec::new();
    for (marker, word) in text_field.chain(shape).chain(bounds) {
        if asked.iter().all(|(other, _)| *other != marker) {
            asked.push((marker, word));
        }
    }
    asked
}

fn marker(constraint: Constraint) -> &'static str {
    match constraint {
        Constraint::Gt | Constraint::Ge | Constraint::Lt | Constraint::Le | Constraint::MultipleOf => {
            "NumericType"
        }
        Constraint::MinLength | Constraint::MaxLength => "LengthType",
        Constraint::AllowInfNan => "FloatType",
        Constraint::Pattern => "TextType",
    }
}

fn bound_value(value: &BoundValue) -> TokenStream {
    match value {
        BoundValue::Int(value) => {
            let value = Literal::i128_unsuffixed(*value);
            quote!(__imp::Bound::Int(#value))
        }
        BoundValue::Float(value) => {
            let value = Literal::f64_unsuffixed(*value);
            quote!(__imp::Bound::Float(#value))
        }
        BoundValue::Number(constant) => {
            let span = constant.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
            let method = respan(quote!(.bound()), span);
            quote!(__imp::number(#constant) #method)
        }
        BoundValue::Text(text) => quote!(__imp::Bound::Text(#text)),
        BoundValue::Bool(value) => quote!(__imp::Bound::Bool(#value)),
    }
}

fn option(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(
        || quote!(::core::option::Option::None),
        |value| quote!(::core::option::Option::Some(#value)),
    )
}
