//! Seeded generators of specs, values and hostile texts.
