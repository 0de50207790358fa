//! Placeholder of the examples package: the programs stand beside it.
