// SPDX-License-Identifier: Apache-2.0

// The default mode, also used for enable_pipelined_write and two_write_queues: a write returns when
// it and all before it are visible. What a reader finds is thus what has been acknowledged: the
// newest number for reads is the visible one, and no read ever has to wait.

#include "db/write/ring_commit_path.h"

namespace varve {

namespace {

class OrderedCommitPath final : public RingCommitPath {
 public:
  using RingCommitPath::RingCommitPath;

  SequenceNumber NewestSequence() const override { return visible(); }
  void WaitUntilVisible() override {}

 protected:
  void Finish(CommitRing::Ticket ticket) override { WaitInOrder(ticket); }
};

}  // namespace

std::unique_ptr<CommitPath> NewOrderedCommitPath(const CommitOptions& options, CommitHost* host,
                                                 SequenceNumber last_sequence) {
  return std::make_unique<OrderedCommitPath>(options, host, last_sequence);
}

}  // namespace varve
