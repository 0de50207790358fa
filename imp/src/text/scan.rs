//! Where the sections of a reply are.
