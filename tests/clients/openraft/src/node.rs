// SPDX-License-Identifier: Apache-2.0
//! Owns one node of the group: openraft above the published RocksStore, and what it answers over TCP.

use crate::wire::{receive, send, Answer, Connection, Request, State};
use openraft::async_trait::async_trait;
use openraft::error::{InstallSnapshotError, NetworkError, RPCError, RaftError, RemoteError, Unreachable};
use openraft::network::RPCOption;
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, InstallSnapshotRequest, InstallSnapshotResponse, VoteRequest,
    VoteResponse,
};
use openraft::storage::Adaptor;
use openraft::{BasicNode, Config, Raft, RaftLogReader, RaftNetwork, RaftNetworkFactory, RaftStorage, SnapshotPolicy};
use openraft_rocksstore::{RocksRequest, RocksStore, SerializableRocksStateMachine, TypeConfig};
use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};

type Storage = Adaptor<TypeConfig, Arc<RocksStore>>;
type Group = Raft<TypeConfig, Peers, Storage, Storage>;
type CallError<E> = RPCError<u64, BasicNode, E>;

struct Peers;

struct Peer {
    target: u64,
    connection: Connection,
}

#[async_trait]
impl RaftNetworkFactory<TypeConfig> for Peers {
    type Network = Peer;

    async fn new_client(&mut self, target: u64, node: &BasicNode) -> Peer {
        Peer { target, connection: Connection::new(&node.addr) }
    }
}

impl Peer {
    /// Calls the node. One that refuses connections is down: openraft waits before it tries again.
    async fn call<E: Error>(&mut self, request: Request) -> Result<Answer, CallError<E>> {
        self.connection.call(&request).await.map_err(|error| match error.kind() {
            io::ErrorKind::ConnectionRefused => RPCError::Unreachable(Unreachable::new(&error)),
            _ => RPCError::Network(NetworkError::new(&error)),
        })
    }

    fn result<T, E: Error>(&self, result: Result<T, E>) -> Result<T, CallError<E>> {
        result.map_err(|error| RPCError::RemoteError(RemoteError::new(self.target, error)))
    }
}

fn unexpected<T, E: Error>() -> Result<T, CallError<E>> {
    let error = io::Error::new(io::ErrorKind::InvalidData, "an answer to another question");
    Err(RPCError::Network(NetworkError::new(&error)))
}

#[async_trait]
impl RaftNetwork<TypeConfig> for Peer {
    async fn append_entries(
        &mut self,
        request: AppendEntriesRequest<TypeConfig>,
        _: RPCOption,
    ) -> Result<AppendEntriesResponse<u64>, CallError<RaftError<u64>>> {
        match self.call(Request::Append(request)).await? {
            Answer::Append(result) => self.result(result),
            _ => unexpected(),
        }
    }

    async fn install_snapshot(
        &mut self,
        request: InstallSnapshotRequest<TypeConfig>,
        _: RPCOption,
    ) -> Result<InstallSnapshotResponse<u64>, CallError<RaftError<u64, InstallSnapshotError>>> {
        match self.call(Request::Snapshot(request)).await? {
            Answer::Snapshot(result) => self.result(result),
            _ => unexpected(),
        }
    }

    async fn vote(
        &mut self,
        request: VoteRequest<u64>,
        _: RPCOption,
    ) -> Result<VoteResponse<u64>, CallError<RaftError<u64>>> {
        match self.call(Request::Vote(request)).await? {
            Answer::Vote(result) => self.result(result),
            _ => unexpected(),
        }
    }
}

struct Node {
    group: Group,
    store: Arc<RocksStore>,
    snapshots: AtomicU64,
}

impl Node {
    async fn answer(&self, request: Request) -> Answer {
        match request {
            Request::Append(request) => Answer::Append(self.group.append_entries(request).await),
            Request::Vote(request) => Answer::Vote(self.group.vote(request).await),
            Request::Snapshot(request) => self.install(request).await,
            Request::Form(addresses) => self.form(addresses).await,
            Request::Write { key, value } => self.write(key, value).await,
            Request::State => Answer::State(self.state()),
            Request::Read(keys) => self.read(keys).await,
            Request::Scan => {
                Answer::Everything(SerializableRocksStateMachine::from(&*self.store.state_machine.read().await).data)
            }
        }
    }

    async fn install(&self, request: InstallSnapshotRequest<TypeConfig>) -> Answer {
        let last = request.done;
        let result = self.group.install_snapshot(request).await;
        if last && result.is_ok() {
            self.snapshots.fetch_add(1, Ordering::Relaxed);
        }
        Answer::Snapshot(result)
    }

    async fn form(&self, addresses: Vec<String>) -> Answer {
        let members: BTreeMap<u64, BasicNode> = (1..).zip(addresses.into_iter().map(BasicNode::new)).collect();
        match self.group.initialize(members).await {
            Ok(()) => Answer::Done,
            Err(error) => Answer::Failed(error.to_string()),
        }
    }

    async fn write(&self, key: String, value: String) -> Answer {
        match self.group.client_write(RocksRequest::Set { key, value }).await {
            Ok(_) => Answer::Done,
            Err(error) => match error.forward_to_leader() {
                Some(elsewhere) => Answer::Elsewhere(elsewhere.leader_id),
                None => Answer::Failed(error.to_string()),
            },
        }
    }

    fn state(&self) -> State {
        let metrics = self.group.metrics().borrow().clone();
        State {
            leader: metrics.current_leader,
            applied: metrics.last_applied.map_or(0, |id| id.index),
            snapshots: self.snapshots.load(Ordering::Relaxed),
        }
    }

    async fn read(&self, keys: Vec<String>) -> Answer {
        let machine = self.store.state_machine.read().await;
        match keys.iter().map(|key| machine.get(key)).collect() {
            Ok(values) => Answer::Values(values),
            Err(error) => Answer::Failed(error.to_string()),
        }
    }
}

/// Applies the entry again that was applied last. The crate writes which entry that was, and then the entry's key, in
/// two steps: a node that is killed between them would take an entry for applied that it has not.
async fn apply_last_again(store: &mut Arc<RocksStore>) -> Result<(), Box<dyn Error>> {
    if let (Some(last), _) = store.last_applied_state().await? {
        let entries = store.try_get_log_entries(last.index..=last.index).await?;
        store.apply_to_state_machine(&entries).await?;
    }
    Ok(())
}

/// Gives up a follower's log, and sends a snapshot, when it is more than two tenths of all keys behind.
fn config(keys: u64) -> Result<Config, Box<dyn Error>> {
    Ok(Config {
        heartbeat_interval: 200,
        election_timeout_min: 800,
        election_timeout_max: 1600,
        install_snapshot_timeout: 5000,
        snapshot_max_chunk_size: 256 << 10,
        snapshot_policy: SnapshotPolicy::LogsSinceLast(keys / 10),
        max_in_snapshot_log_to_keep: keys / 10,
        replication_lag_threshold: keys,
        ..Config::default()
    }
    .validate()?)
}

/// Ends the process when the one that started it has ended, by whatever death.
fn follow_parent() {
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(0);
    });
}

async fn serve(node: Arc<Node>, mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    loop {
        let request = receive(&mut stream).await?;
        send(&mut stream, &node.answer(request).await).await?;
    }
}

async fn start(id: u64, folder: &str, keys: u64, address: &str) -> Result<(), Box<dyn Error>> {
    let mut store = RocksStore::new(folder).await;
    apply_last_again(&mut store).await?;
    let (log, machine) = Adaptor::new(store.clone());
    let group = Raft::new(id, Arc::new(config(keys)?), Peers, log, machine).await?;
    let node = Arc::new(Node { group, store, snapshots: AtomicU64::new(0) });
    let listener = TcpListener::bind(address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(serve(node.clone(), stream));
    }
}

/// Is node `id` of the group whose node 1, 2, ... have these addresses, until it is killed.
pub async fn run(id: &str, folder: &str, keys: &str, addresses: &[&str]) -> Result<(), String> {
    follow_parent();
    let (id, keys): (usize, u64) = match (id.parse(), keys.parse()) {
        (Ok(id), Ok(keys)) if (1..=addresses.len()).contains(&id) => (id, keys),
        _ => return Err(format!("node {id} of {} addresses and {keys} keys", addresses.len())),
    };
    start(id as u64, folder, keys, addresses[id - 1]).await.map_err(|error| error.to_string())
}
