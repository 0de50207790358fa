//! The derive of `imp`.
