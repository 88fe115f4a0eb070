// SPDX-License-Identifier: Apache-2.0

// The mode of unordered_write: a write returns when it is inserted. Reads of single keys use the
// newest sequence number assigned; readers that need a stable state wait until that is visible. A
// read at the newest assigned number may meet a batch of which a part is inserted; for a single key
// that is the same as having come before or after its insertion. A snapshot would show the batch
// half, and later whole, so it drains the ring first.

#include "db/write/ring_commit_path.h"

namespace varve {

namespace {

class UnorderedCommitPath final : public RingCommitPath {
 public:
  using RingCommitPath::RingCommitPath;

  SequenceNumber NewestSequence() const override { return newest(); }
  void WaitUntilVisible() override {
    if (visible() < newest()) Drain();
  }

 protected:
  void Finish(CommitRing::Ticket) override {}
};

}  // namespace

std::unique_ptr<CommitPath> NewUnorderedCommitPath(const CommitOptions& options, CommitHost* host,
                                                   SequenceNumber last_sequence) {
  return std::make_unique<UnorderedCommitPath>(options, host, last_sequence);
}

}  // namespace varve
