//! Models: the trait, requests, completions, errors, and clients.
