// SPDX-License-Identifier: Apache-2.0

// Batches from foreign bytes: they are refused before anything happens, or can be walked, copied
// and inserted without an error.

#include "varve/write_batch.h"

#include <map>
#include <memory>

#include "db/write/batch_inserter.h"
#include "db/write/two_phase_records.h"
#include "db/write/write_batch_internal.h"
#include "tests/fuzz/batch_seeds.h"
#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

// Three families, fresh for each input.
class Families final : public MemTableResolver {
 public:
  MemTable* Find(uint32_t id) override {
    const Comparator* const order = ComparatorOf(id);
    if (order == nullptr) return nullptr;
    std::unique_ptr<MemTable>& table = tables_[id];
    if (table == nullptr) {
      MemTableOptions options;
      options.arena_block_bytes = 4096;
      table = std::make_unique<MemTable>(InternalKeyComparator(order), options, id);
    }
    return table.get();
  }
  const Comparator* ComparatorOf(uint32_t id) override {
    if (id == 0) return BytewiseComparator();
    if (id == 3) return ReverseBytewiseComparator();
    return id == 5 ? BytewiseComparatorWithU64Ts() : nullptr;
  }
  bool HasMergeOperator(uint32_t) override { return true; }

  // Counts the entries in all memtables, walking both ways.
  uint64_t Count() const {
    uint64_t count = 0;
    for (const auto& [id, table] : tables_) {
      const std::unique_ptr<InternalIterator> it = table->NewIterator();
      uint64_t forward = 0;
      uint64_t backward = 0;
      for (it->SeekToFirst(); it->Valid(); it->Next()) forward++;
      for (it->SeekToLast(); it->Valid(); it->Prev()) backward++;
      Promise(forward == backward, "a memtable is the same both ways");
      count += forward;
    }
    return count;
  }

 private:
  std::map<uint32_t, std::unique_ptr<MemTable>> tables_;
};

// Copies every update into another batch.
class Copier final : public WriteBatch::Handler {
 public:
  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    return Add(kTypeValue, family, key, value);
  }
  Status PutEntityCF(uint32_t family, const Slice& key, const Slice& entity) override {
    return Add(kTypeWideColumnEntity, family, key, entity);
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    return Add(kTypeDeletion, family, key, Slice());
  }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override {
    return Add(kTypeSingleDeletion, family, key, Slice());
  }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
    points--;
    return Add(kTypeRangeDeletion, family, begin, end);
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    return Add(kTypeMerge, family, key, value);
  }
  void LogData(const Slice& blob) override { copy.PutLogData(blob).PermitUncheckedError(); }
  Status MarkNoop(bool) override { return Status::OK(); }

  WriteBatch copy;
  uint64_t points = 0;

 private:
  Status Add(ValueType type, uint32_t family, const Slice& key, const Slice& value) {
    points++;
    return WriteBatchInternal::AddRecord(&copy, type, family, SliceParts(&key, 1),
                                         SliceParts(&value, 1));
  }
};

void Insert(const WriteBatch& batch, uint64_t points) {
  Families families;
  BatchCheckOptions options;
  const Status checked = CheckBatch(batch.Data(), &families, options, &batch);
  Note(checked);
  if (!checked.ok()) return;
  BatchInsertResult result;
  const Status s = InsertBatch(batch.Data(), 1000, &families, &result);
  Promise(s.ok(), "what was checked can be inserted");
  Promise(result.next_sequence == 1000 + batch.Count(), "every update has its sequence number");
  Promise(families.Count() == points, "every point is in its memtable");
}

// Splits at marks of two-phase commit: the parts are well-formed, and none is lost.
void Split(const WriteBatch& batch) {
  std::vector<TwoPhasePart> parts;
  const Status s = SplitTwoPhaseRecord(batch.Data(), &parts);
  Note(s);
  uint64_t count = 0;
  for (const TwoPhasePart& part : parts) {
    count += part.count;
    Promise(CheckBatchStructure(MakeBatchOf(part.updates, part.count)).ok(), "a part is a batch");
  }
  if (s.ok()) Promise(count == batch.Count(), "every update is in a part");
}

void MakeSeeds(Seeds* seeds) {
  AddBatches("", seeds);
  WriteBatch updates;
  (void)updates.Put("k", "v");
  seeds->push_back(MakePrepareRecord(updates, "x").Data());
  seeds->push_back(MakePrepareRecord(updates, "x", /*again=*/true).Data());
  seeds->push_back(MakeCommitRecord(updates, "x").Data());
  seeds->push_back(MakeRollbackRecord("x").Data());
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  const varve::WriteBatch batch(std::string(reinterpret_cast<const char*>(data), size));
  const varve::Status structure = varve::CheckBatchStructure(batch.Data());
  fuzz::Copier copier;
  const varve::Status walked = batch.Iterate(&copier);
  fuzz::Note(structure);
  fuzz::Note(walked);
  if (!structure.ok()) {
    fuzz::Promise(!walked.ok(), "a malformed batch is not walked to its end");
    fuzz::Insert(batch, 0);
    return 0;
  }
  (void)batch.HasPut();
  (void)batch.HasDeleteRange();
  fuzz::Split(batch);
  if (walked.ok()) {
    fuzz::Promise(copier.copy.Count() == batch.Count(), "a walk shows every update");
    fuzz::Promise(varve::CheckBatchStructure(copier.copy.Data()).ok(), "a copy is well-formed");
    fuzz::Insert(batch, copier.points);
  }
  return 0;
}

static const varve::fuzz::Register registered({"write_batch", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 80});
