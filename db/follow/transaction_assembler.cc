// SPDX-License-Identifier: Apache-2.0

//       record in the log                     what a reader of changes gets
//       prepare  T1 { put a, put b }          nothing; T1 is remembered
//       put c                                 batch #7 { put c }
//       commit   T1, with { put d }           batch #8 { put d, put a, put b }: numbers 8, 9, 10

#include "db/follow/transaction_assembler.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "varve/write_batch.h"

#include "db/engine/prepared_transactions.h"
#include "db/write/batch_reader.h"
#include "db/write/two_phase_records.h"
#include "db/write/write_batch_internal.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"

namespace varve {

namespace {

Slice WithoutHeader(const std::string& batch) {
  return Slice(batch.data() + kBatchHeaderBytes, batch.size() - kBatchHeaderBytes);
}

// Sets the timestamp in the keys of those families whose timestamps have its size.
Status Stamp(const Slice& timestamp, const wal::TimestampSizes& sizes, WriteBatch* updates) {
  if (timestamp.empty()) return Status::OK();
  return updates->UpdateTimestamps(timestamp, [&](uint32_t family) -> size_t {
    const auto it = sizes.find(family);
    return it != sizes.end() && it->second == timestamp.size() ? timestamp.size() : 0;
  });
}

Status NumberedOtherwise() {
  return Status::NotSupported(
      "two-phase commit: transactions of RocksDB's WRITE_PREPARED number a batch, not an update, "
      "and cannot be read from logs");
}

}  // namespace

// Joins the updates in the order of the record's parts, so that the numbers of the result are those
// that the database gave them.
Status TransactionAssembler::Assemble(const Slice& record, const wal::TimestampSizes& sizes,
                                      std::string* batch, std::set<std::string>* missing) const {
  using Kind = TwoPhasePart::Kind;
  missing->clear();
  std::vector<TwoPhasePart> parts;
  VARVE_RETURN_IF_ERROR(SplitTwoPhaseRecord(record, &parts));
  batch->assign(record.data(), kBatchHeaderBytes);
  uint64_t count = 0;
  std::map<std::string, const TwoPhasePart*> here;  // Transactions that the record itself has.
  for (const TwoPhasePart& part : parts) {
    const std::string name = part.name.ToString();
    if (part.by_sub_batch) return NumberedOtherwise();
    if (part.kind == Kind::kUpdates) {
      batch->append(part.updates.data(), part.updates.size());
      count += part.count;
    }
    if (part.kind == Kind::kPrepare) here[name] = &part;
    if (part.kind != Kind::kCommit) continue;
    const auto inside = here.find(name);
    const auto known = undecided_.find(name);
    if (inside == here.end() && known == undecided_.end()) {
      // If the transaction is decided already, this is a second decision, and the first one counts.
      if (!decided_.contains(name)) missing->insert(name);
      continue;
    }
    WriteBatch prepared(inside != here.end()
                            ? MakeBatchOf(inside->second->updates, inside->second->count)
                            : known->second.updates);
    VARVE_RETURN_IF_ERROR(Stamp(part.timestamp, sizes, &prepared));
    const Slice updates = WithoutHeader(WriteBatchInternal::Contents(prepared));
    batch->append(updates.data(), updates.size());
    count += WriteBatchInternal::Count(prepared);
  }
  if (!missing->empty()) {
    return Status::NotFound("two-phase commit: the prepared transaction '" +
                            ShownName(*missing->begin()) + "'");
  }
  if (count > UINT32_MAX) return Status::Corruption("two-phase commit: too many updates");
  // The count has its place behind the 8 bytes of the sequence number.
  EncodeFixed32(batch->data() + 8, static_cast<uint32_t>(count));
  return Status::OK();
}

void TransactionAssembler::Apply(const Slice& record, uint64_t log, bool recovered) {
  // decided_ serves to ignore copies that a later log has of a decided transaction (part.again).
  // The logs of the current opening have no such copies, as its recovery has seen the decisions.
  if (!recovered) decided_.clear();
  using Kind = TwoPhasePart::Kind;
  std::vector<TwoPhasePart> parts;
  // Either Assemble has reported the damage, or the caller does not want this record's updates.
  if (!SplitTwoPhaseRecord(record, &parts).ok()) return;
  for (const TwoPhasePart& part : parts) {
    const std::string name = part.name.ToString();
    if (part.kind == Kind::kPrepare) {
      if (part.again && decided_.contains(name)) continue;
      decided_.erase(name);
      // A copy of a transaction replaces it, so its old log is not needed any more.
      undecided_[name] = Prepared{MakeBatchOf(part.updates, part.count), log};
    } else if (part.kind != Kind::kUpdates) {
      undecided_.erase(name);
      if (recovered) decided_.insert(name);
    }
  }
}

bool TransactionAssembler::TakeFrom(TransactionAssembler* earlier, const std::string& name) {
  // The transaction is decided already, so the commit record at hand is a second decision.
  if (earlier->decided_.contains(name)) {
    decided_.insert(name);
    return true;
  }
  auto node = earlier->undecided_.extract(name);
  if (node.empty()) return false;
  undecided_[name] = std::move(node.mapped());
  return true;
}

uint64_t TransactionAssembler::OldestLog() const {
  uint64_t oldest = UINT64_MAX;
  for (const auto& [name, prepared] : undecided_) oldest = std::min(oldest, prepared.log);
  return oldest;
}

}  // namespace varve
