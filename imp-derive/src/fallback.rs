//! What stands in for the code of something that is no struct with named fields: the error is there, and
//! what uses the type should not complain as well.

use proc_macro2::TokenStream;
use quote::quote;

use crate::ast::Record;
use crate::expand::{Expansion, record_impl};

/// The same items as for a struct, without fields.
pub(crate) fn expand(record: &Record<'_>) -> TokenStream {
    let all = Expansion::new(record);
    let ident = &record.original.ident;
    let (_, ty_generics, _) = record.original.generics.split_for_impl();
    // Uses every parameter.
    let unused = quote!(__unused: ::core::marker::PhantomData<fn() -> #ident #ty_generics>);
    let structs = all.shells(&unused, &unused);
    let field = quote!(__unused: ::core::marker::PhantomData);
    let partial = &all.partial;
    let meta = all.record_meta(&[]);
    let describe = all.bare_head(&quote!(__imp::Describe for), ident);
    let parts = [
        all.fields_const(&field),
        all.companion_impls(
            &quote!(::core::result::Result::Err(__imp::missing(&[]))),
            std::slice::from_ref(&field),
            &[],
        ),
        quote!(#[automatically_derived] #describe { const META: __imp::RecordMeta = #meta; }),
        record_impl(&all.bare_head(&quote!(__imp::Record for), ident), &[], true),
        record_impl(&all.bare_head(&quote!(__imp::Record for), partial), &[], false),
        if record.is_input() {
            all.inputs()
        } else {
            let none = quote!(::core::option::Option::None);
            all.output_impls(&none, &quote!(#partial { #field }), &quote!(false), &none, &none)
        },
    ];
    all.wrap(&structs, &parts)
}
