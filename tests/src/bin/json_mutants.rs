//! Prints the mutants of `json_differential.rs` for `scripts/record_json_repair.py`: on each line a document and a reply
//! made from it.

fn main() {
    for mutant in imp_tests::mutation::mutants() {
        println!("{}", serde_json::json!([mutant.document, mutant.text]));
    }
}
