// SPDX-License-Identifier: Apache-2.0

// Implements GetUpdatesSince with an UpdateReader. RocksDB's interface has no gaps, so a gap is an
// error that names the next sequence number from which a program may read. At the last write the
// iterator is not valid with status OK, and Next tries again.

#include "db/follow/update_iterator.h"

#include <string>
#include <utility>

#include "db/engine/engine.h"
#include "db/follow/update_reader.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"

namespace varve {

namespace {

Status GapStatus(const UpdateReader::Update& gap) {
  const std::string numbers = std::to_string(gap.first) + " to " + std::to_string(gap.last);
  return Status::NotFound(
      "GetUpdatesSince: gap in sequence numbers, " + numbers,
      gap.lost ? "the logs that had them are not there any more; they can be read on from " +
                     std::to_string(gap.last + 1)
               : "they were written without the log; it can be read on from " +
                     std::to_string(gap.last + 1));
}

class UpdateIterator final : public TransactionLogIterator {
 public:
  UpdateIterator(std::shared_ptr<Engine> engine, SequenceNumber from)
      : reader_(std::move(engine), {.from = from}) {}

  bool Valid() override { return met_ == UpdateReader::Met::kBatch; }
  Status status() override { return status_; }

  void Next() override {
    // A gap or an error is final.
    if (met_ == UpdateReader::Met::kGap || met_ == UpdateReader::Met::kFailed) return;
    Status thrown = Guarded([this] { met_ = reader_.Next(&update_); });
    if (!thrown.ok()) met_ = UpdateReader::Met::kFailed;
    switch (met_) {
      case UpdateReader::Met::kBatch:
      case UpdateReader::Met::kNothing:
        status_ = Status::OK();
        break;
      case UpdateReader::Met::kGap:
        status_ = GapStatus(update_);
        break;
      case UpdateReader::Met::kLater:
      case UpdateReader::Met::kFailed:
        status_ = thrown.ok() ? reader_.status() : std::move(thrown);
        break;
    }
  }

  BatchResult GetBatch() override {
    VARVE_ASSERT(Valid());
    BatchResult result;
    result.sequence = update_.first;
    result.writeBatchPtr = std::make_unique<WriteBatch>(update_.batch.ToString());
    return result;
  }

 private:
  UpdateReader reader_;
  UpdateReader::Met met_ = UpdateReader::Met::kNothing;
  UpdateReader::Update update_;
  Status status_;
};

}  // namespace

Status NewUpdateIterator(std::shared_ptr<Engine> engine, SequenceNumber from,
                         std::unique_ptr<TransactionLogIterator>* iterator) {
  // NewestSequence includes writes that have returned but are not visible yet, as unordered writes
  // can be.
  const CommitPath* const commit = engine->state.commit.get();
  const SequenceNumber last =
      commit != nullptr ? commit->NewestSequence() : engine->state.versions->last_sequence();
  if (from > last) {
    return Status::NotFound("GetUpdatesSince: sequence number " + std::to_string(from) +
                            " is not written yet; the last one is " + std::to_string(last));
  }
  auto made = std::make_unique<UpdateIterator>(std::move(engine), from);
  made->Next();
  Status s = made->status();
  // TryAgain is temporary, for example while bytes of the log are still in memory, so the caller
  // gets an iterator to retry with.
  if (!s.ok() && !s.IsTryAgain()) return s;
  *iterator = std::move(made);
  return Status::OK();
}

}  // namespace varve
