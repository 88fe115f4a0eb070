// SPDX-License-Identifier: Apache-2.0
#pragma once

// How writers become one order: the interface of a commit path, and what it asks of the database.

#include <cstdint>
#include <memory>

#include "varve/options.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"
#include "varve/write_batch.h"

namespace varve {

// What a commit path asks of the database. Called only by the thread that is at the head of the
// path, so calls never overlap.
class CommitHost {
 public:
  virtual ~CommitHost() = default;
  // Waits out stalls, switches full memtables, refuses writes after errors. `bytes` is about to be
  // written. May sleep.
  virtual Status PrepareGroup(const WriteOptions& options, size_t bytes) = 0;
  // True when PrepareGroup may have something to do (one relaxed load).
  virtual bool NeedsAttention() const = 0;
  // Appends one record (a batch with its sequence in the header) to the log; with sync, makes it
  // and everything before it durable.
  virtual Status AppendToLog(const Slice& record, bool sync) = 0;
  // Applies a batch to the memtables with the sequences from `sequence` on.
  virtual Status Insert(const Slice& rep, SequenceNumber sequence) = 0;
  // Makes everything up to `sequence` visible to readers.
  virtual void Publish(SequenceNumber sequence) = 0;
  // A log append or an insertion failed: the database decides what still works.
  virtual void OnCommitError(const Status& status, bool in_log) = 0;
};

// Commits batches in one order; the order of the log is the order of sequences.
//
// Thread safety: every method from any thread.
class CommitPath {
 public:
  virtual ~CommitPath() = default;
  // The batch has been checked (CheckBatch). On OK it is in the log (unless disableWAL), inserted
  // and visible. After a failure its outcome is unknown until the database is reopened or resumed,
  // but it is whole or absent.
  virtual Status Commit(const WriteOptions& options, WriteBatch* batch) = 0;

  // Keeps every writer out between the two calls: no insertion is under way, and the calling thread
  // may change the log and the memtables.
  virtual void EnterExclusive() = 0;
  virtual void ExitExclusive() = 0;
};

// The default path: writers queue up, the one at the head logs and inserts for a group of them.
// `last_sequence` is the newest sequence in use.
std::unique_ptr<CommitPath> NewOrderedCommitPath(CommitHost* host, SequenceNumber last_sequence);

}  // namespace varve
