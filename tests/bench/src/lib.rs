//! What `imp` costs: the workloads, and how a piece of work is measured.

pub mod hostile;
pub mod measure;
pub mod text;
pub mod types;
pub mod workload;
