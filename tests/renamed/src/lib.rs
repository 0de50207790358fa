//! A crate that passes `imp` on under another name.

/// What a facade gives its users.
pub mod model {
    pub use ai;
}
