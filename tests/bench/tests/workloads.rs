//! The workloads are the ones that the figures are about: their messages and replies have known hashes, which
//! the real DSPy's messages have too.

use std::fmt::Write as _;

use imp::{Adapter, Chat, Dialect, Fields, Json, Message, OutputSignature};
use imp_bench::workload::{self, Inputs, Workload};
use sha2::{Digest, Sha256};

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn hash_of(messages: &[Message]) -> String {
    let mut all = String::new();
    for message in messages {
        let _ = write!(all, "{}\n{}\n", message.role.as_str(), message.text());
    }
    hash(&all)
}

/// The messages of both halves, the replies, and what is read from them.
fn check<I: Inputs>(of: &Workload<I>, messages: &str, chat: &str, json: &str)
where
    I::Output: std::fmt::Debug,
{
    assert_eq!(hash_of(&of.messages(Dialect::Dspy)), messages, "{}, typed", of.name);
    assert_eq!(hash_of(&of.messages_untyped(Dialect::Dspy)), messages, "{}, untyped", of.name);
    assert_eq!((&*hash(&of.chat), &*hash(&of.json)), (chat, json), "{}", of.name);
    let output = of.output.clone().expect("it is known what the reply says");
    for dialect in [Dialect::Dspy, Dialect::Plain] {
        let (in_sections, in_json) = (Chat::new().dialect(dialect), Json::new().dialect(dialect));
        for (adapter, reply) in [(&in_sections as &dyn Adapter, &of.chat), (&in_json, &of.json)] {
            let spec = I::Output::output_spec().expect("the signature is right");
            let read: I::Output =
                imp::read_reply(adapter, spec, reply.as_str().into()).expect("the reply is right");
            assert_eq!(read, output);
            let fields: Fields =
                imp::read_reply(adapter, &of.spec(), reply.as_str().into()).expect("the reply is right");
            let said = serde_json::to_value(&output).expect("it can be written");
            assert_eq!(serde_json::to_value(&fields).expect("it can be written"), said);
        }
    }
}

#[test]
fn small() {
    check(
        &workload::small(),
        "50139c257603697f8a0dd06f1328acc0ad30ef52439a1a788bcd8a24b9d9c86c",
        "f3316a50bea7f55d33929d49953cf2b1da00f62da2ec4ad4308b4ffe10b144c7",
        "b10b4722cc2cd384359c924ae43b86f5046b5452d7c7fdf940dbcabab0d36754",
    );
}

#[test]
fn medium() {
    check(
        &workload::medium(),
        "6072a088e3ad815c42d89bee84d6f35957ef7c8f433d134ccde2e61160910c70",
        "d0e7fd0a7deed57eb9a11e4d36aad747c804db83b7dd1fa818c87acab2fde36e",
        "e44b8ce6f379d5af9948df04c73ea597e30eb587927a07a85ab985d2dea05547",
    );
}

#[test]
fn large() {
    check(
        &workload::large(),
        "b6a7c7cc5618e9216af2cdc8b1e9b85492baec19451c182ec51b774778a1ba54",
        "1b22b38347d43b036e3c350cd620250fe613259f55e5c7d279dc7403dd7b78bd",
        "7c7cffbaf974a993566ce67e623221bab0fa797377b699a9763a5ae6d9319553",
    );
}

#[test]
fn a_megabyte_of_text() {
    check(
        &workload::xl_text(),
        "9d9be9adb99049b6361997808d707fc081486726df6fca2275918d8dd68b18a4",
        "a066319f789c24361dcdfab74c9e322d9e586760219440b18994f8f1fd107c9e",
        "50a42306cff36117ad9f982aac16ebd3a2c3a61b0742a52c43b0fc96ba1b6fc9",
    );
}

#[test]
fn a_megabyte_of_structs() {
    let xl = workload::xl_typed();
    // Its messages are not measured; typed and untyped are the same.
    check(
        &xl,
        &hash_of(&xl.messages(Dialect::Dspy)),
        "26fd6bb98719426b6fa0b748ede807a1d2fd830e7e4c3bd503f15cd7e09fec3a",
        "955977b313204c94f4b65e7f3b182804740a7bea615f47fe99d32214cc23e246",
    );
}

/// Every piece of work can be done.
#[test]
fn every_op_runs() {
    for op in workload::ops() {
        if op.bytes < 1 << 17 {
            (op.run)();
        }
    }
}
