// SPDX-License-Identifier: Apache-2.0
//! Owns the test: it starts the nodes, writes, kills, brings back, and compares every node with what was acknowledged.

use crate::wire::{Answer, Connection, Request, State};
use std::collections::BTreeMap;
use std::fs::File;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

const NODES: usize = 3;
const WRITERS: u64 = 32;
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

fn key(i: u64) -> String {
    format!("key{i:08}")
}

fn value(i: u64) -> String {
    format!("{:016x}", i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).repeat(4)
}

/// What the writers share: how far they may go, and what was acknowledged.
struct Writing {
    addresses: Vec<String>,
    next: AtomicU64,
    limit: AtomicU64,
    acknowledged: AtomicU64,
    leader: AtomicU64,
    failover: Mutex<Option<Failover>>,
}

/// When a leader was killed, and when another one acknowledged the first write after that.
struct Failover {
    killed: u64,
    at: Instant,
    took: Option<Duration>,
}

impl Writing {
    fn acknowledge(&self, by: u64) {
        self.acknowledged.fetch_add(1, Ordering::SeqCst);
        if let Some(failover) = &mut *self.failover.lock().unwrap() {
            if failover.took.is_none() && by != failover.killed {
                failover.took = Some(failover.at.elapsed());
            }
        }
    }

    /// Writes one key until a leader has acknowledged it. A write whose answer was lost is made again.
    async fn write(&self, connections: &mut [Connection], i: u64) {
        let request = Request::Write { key: key(i), value: value(i) };
        loop {
            let leader = self.leader.load(Ordering::SeqCst);
            let call = connections[leader as usize - 1].call(&request);
            let then = match timeout(Duration::from_secs(5), call).await {
                Ok(Ok(Answer::Done)) => return self.acknowledge(leader),
                Ok(Ok(Answer::Elsewhere(Some(other)))) if other != leader => other,
                _ => {
                    sleep(PAUSE).await;
                    leader % NODES as u64 + 1
                }
            };
            let _ = self.leader.compare_exchange(leader, then, Ordering::SeqCst, Ordering::SeqCst);
        }
    }

    async fn writer(self: Arc<Self>, keys: u64) {
        let mut connections: Vec<Connection> = self.addresses.iter().map(|a| Connection::new(a)).collect();
        loop {
            let i = self.next.fetch_add(1, Ordering::SeqCst);
            if i >= keys {
                return;
            }
            while i >= self.limit.load(Ordering::SeqCst) {
                sleep(PAUSE).await;
            }
            self.write(&mut connections, i).await;
        }
    }

    async fn until_acknowledged(&self, count: u64) -> Result<(), String> {
        until(&format!("{count} writes were acknowledged"), || async {
            self.acknowledged.load(Ordering::SeqCst) >= count
        })
        .await
    }
}

/// Waits until `what` is so.
async fn until<F: std::future::Future<Output = bool>>(name: &str, what: impl Fn() -> F) -> Result<(), String> {
    let start = Instant::now();
    while !what().await {
        if start.elapsed() > PATIENCE {
            return Err(format!("it was not so within {PATIENCE:?} that {name}"));
        }
        sleep(PAUSE).await;
    }
    Ok(())
}

/// The processes, and where they are.
struct Processes {
    varve: String,
    folder: String,
    keys: u64,
    addresses: Vec<String>,
    children: Vec<Option<Child>>,
}

impl Processes {
    fn new(varve: &str, folder: &str, keys: u64) -> Result<Self, String> {
        std::fs::create_dir(folder).map_err(|error| format!("{folder}: {error}"))?;
        let mut probes = Vec::new();
        for _ in 0..NODES {
            probes.push(std::net::TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?);
        }
        let addresses = probes.iter().map(|probe| probe.local_addr().unwrap().to_string()).collect();
        let children = (0..NODES).map(|_| None).collect();
        Ok(Processes { varve: varve.to_string(), folder: folder.to_string(), keys, addresses, children })
    }

    fn directory(&self, node: u64) -> String {
        format!("{}/node{node}", self.folder)
    }

    fn start(&mut self, node: u64) -> Result<(), String> {
        let log = File::options().create(true).append(true).open(self.directory(node) + ".log");
        let log = log.map_err(|error| error.to_string())?;
        let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
        command.args(["node", &node.to_string(), &self.directory(node), &self.keys.to_string()]);
        command.args(&self.addresses).stdin(Stdio::piped()).stderr(log).kill_on_drop(true);
        self.children[node as usize - 1] = Some(command.spawn().map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Kills a node with SIGKILL, and waits until it is gone.
    async fn kill(&mut self, node: u64) -> Result<(), String> {
        let mut child = self.children[node as usize - 1].take().ok_or("it was not running")?;
        child.kill().await.map_err(|error| error.to_string())
    }

    async fn call(&self, node: u64, request: &Request) -> Option<Answer> {
        let mut connection = Connection::new(&self.addresses[node as usize - 1]);
        connection.call(request).await.ok()
    }

    async fn state(&self, node: u64) -> Option<State> {
        match self.call(node, &Request::State).await? {
            Answer::State(state) => Some(state),
            _ => None,
        }
    }

    /// The node that all running ones take for the leader.
    async fn leader(&self) -> Result<u64, String> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            let mut leaders = Vec::new();
            for node in self.running() {
                leaders.push(self.state(node).await.and_then(|state| state.leader));
            }
            if let [Some(leader), ..] = leaders[..] {
                if leaders.iter().all(|other| *other == Some(leader)) && self.running().any(|node| node == leader) {
                    return Ok(leader);
                }
            }
            sleep(PAUSE).await;
        }
        Err("the nodes agreed on no leader".to_string())
    }

    fn running(&self) -> impl Iterator<Item = u64> + '_ {
        (1..=NODES as u64).filter(|node| self.children[*node as usize - 1].is_some())
    }

    /// Brings a node back, and waits until it has applied what the leader had applied when it was started.
    async fn bring_back(&mut self, node: u64, behind_since: u64, what: &str) -> Result<(), String> {
        let leader = self.leader().await?;
        let target = self.state(leader).await.ok_or("the leader did not answer")?.applied;
        let start = Instant::now();
        self.start(node)?;
        self.until_applied(node, target).await?;
        let state = self.state(node).await.ok_or("it did not answer")?;
        let (ms, behind) = (start.elapsed().as_millis(), target.saturating_sub(behind_since));
        println!(
            "RESULT openraft part=back node={what} entries={behind} snapshots={} caught_up_ms={ms}",
            state.snapshots
        );
        Ok(())
    }

    async fn until_applied(&self, node: u64, index: u64) -> Result<(), String> {
        until(&format!("node {node} applied entry {index}"), || async {
            self.state(node).await.is_some_and(|state| state.applied >= index)
        })
        .await
    }

    /// The entry up to which all is committed. A new leader knows it when an entry of its own is: a key is written again.
    async fn last_committed(&self) -> Result<u64, String> {
        let again = Request::Write { key: key(0), value: value(0) };
        until("a leader wrote a key again", || async {
            match self.leader().await {
                Ok(leader) => matches!(self.call(leader, &again).await, Some(Answer::Done)),
                Err(_) => false,
            }
        })
        .await?;
        Ok(self.state(self.leader().await?).await.ok_or("the leader did not answer")?.applied)
    }

    /// Compares what every node holds with what was written: each key by itself, and everything by an iterator.
    async fn compare(&self, when: &str) -> Result<(), String> {
        let expected: BTreeMap<String, String> = (0..self.keys).map(|i| (key(i), value(i))).collect();
        let last = self.last_committed().await?;
        for node in self.running() {
            self.until_applied(node, last).await?;
            match self.call(node, &Request::Scan).await {
                Some(Answer::Everything(all)) if all == expected => (),
                Some(Answer::Everything(all)) => return Err(differs(node, &all, &expected)),
                _ => return Err(format!("node {node} could not be scanned")),
            }
            let (keys, values): (Vec<_>, Vec<_>) = expected.clone().into_iter().map(|(k, v)| (k, Some(v))).unzip();
            match self.call(node, &Request::Read(keys)).await {
                Some(Answer::Values(read)) if read == values => (),
                _ => return Err(format!("node {node} does not read what it scans")),
            }
        }
        println!("RESULT openraft part=equal when={when} nodes={NODES} keys={}", self.keys);
        Ok(())
    }

    /// Lets the program `varve` check the directory of every node; none may be running.
    async fn check(&self) -> Result<(), String> {
        for node in 1..=NODES as u64 {
            let output = Command::new(&self.varve).args(["check", &self.directory(node)]).output().await;
            let output = output.map_err(|error| format!("{}: {error}", self.varve))?;
            if !output.status.success() {
                let said =
                    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
                return Err(format!("varve check of node {node} ended with {}: {said}", output.status));
            }
        }
        println!("RESULT openraft part=checked nodes={NODES}");
        Ok(())
    }
}

fn differs(node: u64, all: &BTreeMap<String, String>, expected: &BTreeMap<String, String>) -> String {
    let first = expected.iter().find(|(key, value)| all.get(*key) != Some(value));
    let first = first.map_or("one that nobody wrote", |(key, _)| key);
    format!("node {node} holds {} keys of {}; the first that differs is {first}", all.len(), expected.len())
}

/// Prints how many writes were acknowledged in a second since `start`.
fn print_rate(nodes: usize, writes: u64, start: Instant) {
    let rate = writes as f64 / start.elapsed().as_secs_f64();
    println!("RESULT openraft part=write nodes={nodes} writers={WRITERS} writes={writes} writes_per_s={rate:.0}");
}

async fn form(processes: &mut Processes) -> Result<u64, String> {
    for node in 1..=NODES as u64 {
        processes.start(node)?;
    }
    let form = Request::Form(processes.addresses.clone());
    until("node 1 formed the group", || async { matches!(processes.call(1, &form).await, Some(Answer::Done)) }).await?;
    processes.leader().await
}

/// Kills a follower amid writes. It comes back when so much is written that others have dropped the log it needs.
async fn lose_follower(processes: &mut Processes, writing: &Writing) -> Result<(), String> {
    let keys = processes.keys;
    let start = Instant::now();
    writing.limit.store(keys * 5 / 8, Ordering::SeqCst);
    writing.until_acknowledged(keys / 4).await?;
    print_rate(NODES, writing.acknowledged.load(Ordering::SeqCst), start);
    let leader = processes.leader().await?;
    let follower = leader % NODES as u64 + 1;
    let applied = processes.state(follower).await.ok_or("the follower did not answer")?.applied;
    processes.kill(follower).await?;
    let (start, before) = (Instant::now(), writing.acknowledged.load(Ordering::SeqCst));
    writing.until_acknowledged(keys * 5 / 8).await?;
    print_rate(NODES - 1, keys * 5 / 8 - before, start);
    writing.limit.store(keys * 3 / 4, Ordering::SeqCst);
    processes.bring_back(follower, applied, "follower").await?;
    writing.until_acknowledged(keys * 3 / 4).await
}

/// Kills the leader amid writes. It comes back while the others still have the log it needs.
async fn lose_leader(processes: &mut Processes, writing: &Writing) -> Result<(), String> {
    let keys = processes.keys;
    writing.limit.store(keys * 7 / 8, Ordering::SeqCst);
    writing.until_acknowledged(keys * 13 / 16).await?;
    let leader = processes.leader().await?;
    let applied = processes.state(leader).await.ok_or("the leader did not answer")?.applied;
    *writing.failover.lock().unwrap() = Some(Failover { killed: leader, at: Instant::now(), took: None });
    processes.kill(leader).await?;
    writing.until_acknowledged(keys * 7 / 8).await?;
    let took = writing.failover.lock().unwrap().take().and_then(|failover| failover.took);
    let took = took.ok_or("no other leader acknowledged a write")?;
    println!("RESULT openraft part=failover first_write_ms={}", took.as_millis());
    writing.limit.store(keys, Ordering::SeqCst);
    processes.bring_back(leader, applied, "leader").await?;
    writing.until_acknowledged(keys).await
}

/// Kills all nodes at once, checks their directories, and brings them back.
async fn lose_all(processes: &mut Processes) -> Result<(), String> {
    for node in 1..=NODES as u64 {
        processes.kill(node).await?;
    }
    processes.check().await?;
    for node in 1..=NODES as u64 {
        processes.start(node)?;
    }
    processes.compare("all_were_killed").await
}

pub async fn run(varve: &str, folder: &str) -> Result<(), String> {
    let keys = std::env::var("VARVE_CLUSTER_KEYS").unwrap_or("20000".to_string());
    let keys = match keys.parse() {
        Ok(keys) if keys >= 1000 => keys,
        _ => return Err(format!("VARVE_CLUSTER_KEYS is {keys}; it must be a number from 1000")),
    };
    let mut processes = Processes::new(varve, folder, keys)?;
    let leader = form(&mut processes).await?;
    let writing = Arc::new(Writing {
        addresses: processes.addresses.clone(),
        next: AtomicU64::new(0),
        limit: AtomicU64::new(0),
        acknowledged: AtomicU64::new(0),
        leader: AtomicU64::new(leader),
        failover: Mutex::new(None),
    });
    for _ in 0..WRITERS {
        tokio::spawn(writing.clone().writer(keys));
    }
    lose_follower(&mut processes, &writing).await?;
    lose_leader(&mut processes, &writing).await?;
    processes.compare("all_was_written").await?;
    lose_all(&mut processes).await
}
