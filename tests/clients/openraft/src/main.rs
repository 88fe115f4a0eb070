// SPDX-License-Identifier: Apache-2.0
//! Goal: a group of three Raft nodes that keep log and state in Varve loses no acknowledged write when nodes are killed.
//! Method: openraft, and its unchanged crate openraft-rocksstore, in three processes that talk over TCP on the loopback.
//!
//! ```text
//! group drive VARVE FOLDER killed     runs the test in FOLDER, which must not exist; VARVE is the program `varve`
//! group node ID FOLDER KEYS ADDRESS...     is one node; `drive` starts it
//! ```
//! VARVE_CLUSTER_KEYS is how many keys are written; the default is 20000, the least 1000.

mod drive;
mod node;
mod wire;

use std::process::ExitCode;

#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match words[..] {
        ["drive", varve, folder, "killed"] => drive::run(varve, folder).await,
        ["node", id, folder, keys, ref addresses @ ..] => node::run(id, folder, keys, addresses).await,
        _ => Err("usage: group drive VARVE FOLDER killed".to_string()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("group: {why}");
            ExitCode::FAILURE
        }
    }
}
