// SPDX-License-Identifier: Apache-2.0
//! Owns what nodes and clients say to each other: a length of 4 bytes, big endian, and JSON, over TCP.

use openraft::error::{InstallSnapshotError, RaftError};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, InstallSnapshotRequest, InstallSnapshotResponse, VoteRequest,
    VoteResponse,
};
use openraft_rocksstore::TypeConfig;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const MAX_FRAME: u32 = 1 << 30;

#[derive(Serialize, Deserialize)]
pub enum Request {
    Append(AppendEntriesRequest<TypeConfig>),
    Snapshot(InstallSnapshotRequest<TypeConfig>),
    Vote(VoteRequest<u64>),
    /// Forms the group of nodes 1, 2, ... at these addresses.
    Form(Vec<String>),
    Write {
        key: String,
        value: String,
    },
    State,
    /// Reads each key by itself.
    Read(Vec<String>),
    /// Reads everything by an iterator.
    Scan,
}

#[derive(Serialize, Deserialize)]
pub enum Answer {
    Append(Result<AppendEntriesResponse<u64>, RaftError<u64>>),
    Snapshot(Result<InstallSnapshotResponse<u64>, RaftError<u64, InstallSnapshotError>>),
    Vote(Result<VoteResponse<u64>, RaftError<u64>>),
    Done,
    /// Names the leader, to which writes must go, if the node knows one.
    Elsewhere(Option<u64>),
    Failed(String),
    State(State),
    Values(Vec<Option<String>>),
    Everything(BTreeMap<String, String>),
}

/// What a node says of itself. `snapshots` counts those that it has installed since it was started.
#[derive(Serialize, Deserialize, Clone, Copy)]
pub struct State {
    pub leader: Option<u64>,
    pub applied: u64,
    pub snapshots: u64,
}

/// Reads one message.
pub async fn receive<T: DeserializeOwned>(stream: &mut TcpStream) -> io::Result<T> {
    let length = stream.read_u32().await?;
    if length > MAX_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a message of {length} bytes")));
    }
    let mut bytes = vec![0; length as usize];
    stream.read_exact(&mut bytes).await?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Writes one message.
pub async fn send<T: Serialize>(stream: &mut TcpStream, message: &T) -> io::Result<()> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = (bytes.len() - 4) as u32;
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    stream.write_all(&bytes).await
}

/// A connection to one node, which is made when it is needed. A call that fails or is given up closes it, so that no
/// answer is taken for that of another call.
pub struct Connection {
    address: String,
    stream: Option<TcpStream>,
}

impl Connection {
    pub fn new(address: &str) -> Self {
        Connection { address: address.to_string(), stream: None }
    }

    pub async fn call(&mut self, request: &Request) -> io::Result<Answer> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => TcpStream::connect(&self.address).await?,
        };
        stream.set_nodelay(true)?;
        send(&mut stream, request).await?;
        let answer = receive(&mut stream).await?;
        self.stream = Some(stream);
        Ok(answer)
    }
}
