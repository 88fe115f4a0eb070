// SPDX-License-Identifier: Apache-2.0
// Benchmarks that only read: look-ups of values or of entities, one by one and in batches, and
// scans of everything.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/wide_columns.h"

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

// The rate limiter is asked once for this many reads.
constexpr int64_t kReadsPerPayment = 256;

std::string FoundNote(int64_t found, int64_t read) {
  std::array<char, 80> note{};
  std::snprintf(note.data(), note.size(), "(%lld of %lld found)", static_cast<long long>(found),
                static_cast<long long>(read));
  return note.data();
}

// Returns the first number of a batch whose keys lie --multiread_stride apart. When the batch is
// wider than the key space the number wraps around: no key of the batch exists then.
uint64_t StrideStart(Random& random, const Plan& plan) {
  const auto stride = static_cast<uint64_t>(FLAGS_multiread_stride);
  const auto batch = static_cast<uint64_t>(plan.batch_size);
  const auto num = static_cast<uint64_t>(plan.num);
  const uint64_t start = DrawReadNumber(random, plan.num);
  return start + (batch - 1) * stride >= num ? num - batch * stride : start;
}

// Yields the numbers of single reads. With a stride the first batch begins at the stride, not at
// random.
class ReadNumbers {
 public:
  uint64_t Next(Worker& worker) {
    if (FLAGS_multiread_stride <= 0) return DrawReadNumber(worker.random, worker.plan.num);
    if (++in_batch_ == worker.plan.batch_size) {
      in_batch_ = 0;
      number_ = StrideStart(worker.random, worker.plan);
    } else {
      number_ += static_cast<uint64_t>(FLAGS_multiread_stride);
    }
    return number_;
  }

 private:
  uint64_t number_ = 0;
  int64_t in_batch_ = 0;
};

// Reads a key's value; adds its size to *bytes.
class ValueReader {
 public:
  explicit ValueReader(Worker& worker)
      : options_(worker.plan.read_options), timestamps_(&worker.random) {}

  Status Read(Worker& worker, ColumnFamilyHandle* family, const Slice& key, int64_t* bytes) {
    // Blocks of the last value are released before the next read needs room in the cache.
    value_.Reset();
    timestamps_.SetFor(&options_);
    Status s = worker.db()->Get(options_, family, key, &value_);
    if (s.ok()) *bytes += static_cast<int64_t>(value_.size());
    return s;
  }

 private:
  ReadOptions options_;
  UserTimestamps timestamps_;
  PinnableSlice value_;
};

// Returns the bytes of the names and values.
int64_t BytesOf(const WideColumns& columns) {
  size_t bytes = 0;
  for (const WideColumn& column : columns) bytes += column.name().size() + column.value().size();
  return static_cast<int64_t>(bytes);
}

// Reads a key's columns, of which a plain value is one; adds their sizes to *bytes.
class EntityReader {
 public:
  explicit EntityReader(Worker& worker)
      : options_(worker.plan.read_options), timestamps_(&worker.random) {}

  Status Read(Worker& worker, ColumnFamilyHandle* family, const Slice& key, int64_t* bytes) {
    // Blocks of the last entity are released before the next read needs room in the cache.
    columns_.Reset();
    timestamps_.SetFor(&options_);
    Status s = worker.db()->GetEntity(options_, family, key, &columns_);
    if (s.ok()) *bytes += BytesOf(columns_.columns());
    return s;
  }

 private:
  ReadOptions options_;
  UserTimestamps timestamps_;
  PinnableWideColumns columns_;
};

// Reads a key's merge operands, in two tries when it has more than any key before.
class OperandReader {
 public:
  explicit OperandReader(Worker& /*worker*/) {}

  Status Read(Worker& worker, ColumnFamilyHandle* family, const Slice& key, int64_t* bytes) {
    int found = 0;
    Status s = Try(worker, family, key, &found);
    if (s.IsIncomplete() && static_cast<size_t>(found) > operands_.size()) {
      operands_ = std::vector<PinnableSlice>(static_cast<size_t>(found));
      s = Try(worker, family, key, &found);
    }
    if (!s.ok()) return s;
    for (size_t i = 0; i < static_cast<size_t>(found); ++i) {
      *bytes += static_cast<int64_t>(operands_[i].size());
      operands_[i].Reset();
    }
    return s;
  }

 private:
  Status Try(Worker& worker, ColumnFamilyHandle* family, const Slice& key, int* found) {
    GetMergeOperandsOptions options;
    options.expected_max_number_of_operands = static_cast<int>(operands_.size());
    return worker.db()->GetMergeOperands(worker.plan.read_options, family, key, operands_.data(),
                                         &options, found);
  }

  std::vector<PinnableSlice> operands_ = std::vector<PinnableSlice>(8);
};

// Looks keys up until the plan's reads are done; `next` gives their numbers.
template <typename Reader, typename NextNumber>
void LookUp(Worker& worker, NextNumber next) {
  const Plan& plan = worker.plan;
  KeyMaker keys = worker.NewKeyMaker();
  Reader reader(worker);
  int64_t read = 0;
  int64_t found = 0;
  int64_t bytes = 0;
  Budget budget(FLAGS_duration, plan.reads);
  while (budget.Take()) {
    worker.SpendDraw();
    const uint64_t number = next();
    const Slice key = keys.Make(number);
    ++read;
    const Status s = reader.Read(worker, worker.database.family(number), key, &bytes);
    if (s.ok()) {
      ++found;
      bytes += static_cast<int64_t>(key.size() + UserTimestamps::size());
    } else if (!s.IsNotFound()) {
      Fail("Get error", s);
    }
    if (read % kReadsPerPayment == 0) worker.PayForRead(kReadsPerPayment);
    worker.stats.FinishedOps(1, Op::kRead);
  }
  worker.stats.AddBytes(bytes);
  worker.stats.AddMessage(FoundNote(found, read) + "\n");
}

// Reads a hundredth of the keys, all at the beginning of the key space.
void ReadHot(Worker& worker) {
  const int64_t hot = (worker.plan.num + 99) / 100;
  LookUp<ValueReader>(worker, [&] { return DrawReadNumber(worker.random, hot); });
}

// Draws from the first 2^n keys, and counts a hundred reads at a time, so that little but the reads
// is measured. Uses the default column family only.
void ReadRandomFast(Worker& worker) {
  const auto keys = std::bit_floor(static_cast<uint64_t>(worker.plan.num));
  KeyMaker maker = worker.NewKeyMaker();
  ReadOptions options = worker.plan.read_options;
  UserTimestamps timestamps(&worker.random);
  PinnableSlice value;
  int64_t read = 0;
  int64_t found = 0;
  int64_t absent = 0;
  Budget budget(FLAGS_duration, worker.plan.reads);
  while (budget.Take(100)) {
    for (int i = 0; i < 100; ++i) {
      const uint64_t number = worker.random.Next() & (keys - 1);
      timestamps.SetFor(&options);
      value.Reset();
      const Status s =
          worker.db()->Get(options, worker.db()->DefaultColumnFamily(), maker.Make(number), &value);
      if (s.ok()) ++found;
      if (s.IsNotFound()) ++absent;
      if (!s.ok() && !s.IsNotFound()) Fail("Get error", s);
    }
    read += 100;
    worker.PayForRead(100);
    worker.stats.FinishedOps(100, Op::kRead);
  }
  std::array<char, 120> note{};
  std::snprintf(note.data(), note.size(), "(%lld of %lld found, issued %lld non-exist keys)\n",
                static_cast<long long>(found), static_cast<long long>(read),
                static_cast<long long>(absent));
  worker.stats.AddMessage(note.data());
}

void ReadRandomOperands(Worker& worker) {
  ReadNumbers numbers;
  LookUp<OperandReader>(worker, [&] { return numbers.Next(worker); });
}

void ReadRandomEntity(Worker& worker) {
  ReadNumbers numbers;
  LookUp<EntityReader>(worker, [&] { return numbers.Next(worker); });
}

// Uses the default column family only.
void Scan(Worker& worker, bool forward) {
  const Plan& plan = worker.plan;
  int64_t read = 0;
  int64_t bytes = 0;
  ReadOptions options = plan.read_options;
  UserTimestamps timestamps(&worker.random);
  timestamps.SetFor(&options);
  const std::unique_ptr<Iterator> it(worker.db()->NewIterator(options));
  forward ? it->SeekToFirst() : it->SeekToLast();
  for (; read < plan.reads && it->Valid(); forward ? it->Next() : it->Prev()) {
    bytes += static_cast<int64_t>(it->key().size() + it->value().size());
    ++read;
    worker.stats.FinishedOps(1, Op::kRead);
    if (read % kReadsPerPayment == 0) worker.PayForRead(kReadsPerPayment);
  }
  if (!it->status().ok()) Fail("iterator error", it->status());
  worker.stats.AddBytes(bytes);
}

void ReadForward(Worker& worker) {
  Scan(worker, true);
}

void ReadBackward(Worker& worker) {
  Scan(worker, false);
}

// Says what a batch of look-ups returns: values where the engine has them, copies of values, or the
// columns of entities.
enum class BatchResult { kPinned, kCopied, kEntities };

// Holds the keys, results and statuses of one MultiGet or MultiGetEntity, and reuses them.
class MultiReader {
 public:
  MultiReader(Worker& worker, BatchResult result)
      : worker_(worker),
        result_(result),
        options_(worker.plan.read_options),
        timestamps_(&worker.random),
        keys_(worker.NewKeyMaker()),
        size_(static_cast<size_t>(worker.plan.batch_size)),
        // One buffer for all keys of a batch: KeyMaker's own holds only the last key, and MultiGet
        // needs all at once.
        key_bytes_(size_ * static_cast<size_t>(worker.plan.key_size)),
        slices_(size_),
        pinned_(result == BatchResult::kPinned ? size_ : 0),
        entities_(result == BatchResult::kEntities ? size_ : 0),
        statuses_(size_) {}

  void ReadBatch() {
    worker_.SpendDraw();
    ChooseKeys();
    timestamps_.SetFor(&options_);
    DB* const db = worker_.db();
    switch (result_) {
      case BatchResult::kPinned:
        db->MultiGet(options_, db->DefaultColumnFamily(), size_, slices_.data(), pinned_.data(),
                     statuses_.data());
        break;
      case BatchResult::kCopied:
        statuses_ = db->MultiGet(options_, slices_, &strings_);
        break;
      case BatchResult::kEntities:
        db->MultiGetEntity(options_, db->DefaultColumnFamily(), size_, slices_.data(),
                           entities_.data(), statuses_.data());
        break;
    }
    for (size_t i = 0; i < size_; ++i) Count(i);
  }

  int64_t found() const { return found_; }
  int64_t bytes() const { return bytes_; }

 private:
  void ChooseKeys() {
    uint64_t number = 0;
    const auto stride = static_cast<uint64_t>(FLAGS_multiread_stride);
    for (size_t i = 0; i < size_; ++i) {
      if (stride == 0) {
        number = DrawReadNumber(worker_.random, worker_.plan.num);
      } else {
        number = i == 0 ? StrideStart(worker_.random, worker_.plan) : number + stride;
      }
      SetKey(i, number);
    }
  }

  void SetKey(size_t i, uint64_t number) {
    if (keys_.has_existing()) {
      slices_[i] = keys_.Make(number);
      return;
    }
    const auto key_size = static_cast<size_t>(worker_.plan.key_size);
    char* const key = key_bytes_.data() + i * key_size;
    keys_.MakeInto(number, key);
    slices_[i] = Slice(key, key_size);
  }

  void Count(size_t i) {
    const Status& s = statuses_[i];
    if (s.ok()) {
      bytes_ += static_cast<int64_t>(slices_[i].size() + UserTimestamps::size()) + ResultBytes(i);
      ++found_;
    } else if (!s.IsNotFound()) {
      Fail("MultiGet error", s);
    }
    // Unpins the block at once. Otherwise the blocks of a batch would stay in use until the next
    // one.
    if (result_ == BatchResult::kPinned) pinned_[i].Reset();
    if (result_ == BatchResult::kEntities) entities_[i].Reset();
  }

  int64_t ResultBytes(size_t i) const {
    if (result_ == BatchResult::kEntities) return BytesOf(entities_[i].columns());
    const bool pinned = result_ == BatchResult::kPinned;
    return static_cast<int64_t>(pinned ? pinned_[i].size() : strings_[i].size());
  }

  Worker& worker_;
  const BatchResult result_;
  ReadOptions options_;
  UserTimestamps timestamps_;
  KeyMaker keys_;
  const size_t size_;
  std::vector<char> key_bytes_;
  std::vector<Slice> slices_;
  // The results, in the one of these that result_ says.
  std::vector<PinnableSlice> pinned_;
  std::vector<std::string> strings_;
  std::vector<PinnableWideColumns> entities_;
  std::vector<Status> statuses_;
  int64_t found_ = 0;
  int64_t bytes_ = 0;
};

void MultiRead(Worker& worker, BatchResult result) {
  const int64_t batch = worker.plan.batch_size;
  if (worker.id == 0) {
    std::fprintf(stderr, "entries_per_batch = %lld\n", static_cast<long long>(batch));
  }
  MultiReader reader(worker, result);
  int64_t read = 0;
  int64_t unpaid = 0;
  Budget budget(FLAGS_duration, worker.plan.reads);
  while (budget.Take(batch)) {
    reader.ReadBatch();
    read += batch;
    unpaid += batch;
    if (unpaid >= kReadsPerPayment) {
      worker.PayForRead(unpaid);
      unpaid = 0;
    }
    worker.stats.FinishedOps(batch, Op::kRead);
  }
  worker.stats.AddBytes(reader.bytes());
  worker.stats.AddMessage(FoundNote(reader.found(), read));
}

void MultiReadEntity(Worker& worker) {
  MultiRead(worker, BatchResult::kEntities);
}

void AFewReads(Plan& plan) {
  plan.reads = std::max<int64_t>(1, plan.reads / 1000);
}

// Makes keys one byte longer than any stored key.
void LongerKeys(Plan& plan) {
  if (FLAGS_use_existing_keys) Fail("readmissing has no use for --use_existing_keys");
  ++plan.key_size;
}

void OneThreadAllKeys(Plan& plan) {
  plan.threads = 1;
  plan.reads = plan.num;
}

constexpr std::array kReadBenchmarks = {
    Benchmark{.name = "readrandom", .body = ReadRandom},
    Benchmark{.name = "readrandomsmall", .body = ReadRandom, .setup = AFewReads},
    Benchmark{.name = "readrandomfast", .body = ReadRandomFast},
    Benchmark{.name = "readmissing", .body = ReadRandom, .setup = LongerKeys},
    Benchmark{.name = "readhot", .body = ReadHot},
    Benchmark{.name = "readrandomoperands", .body = ReadRandomOperands, .takes_timestamps = false},
    Benchmark{.name = "readseq", .body = ReadForward},
    Benchmark{.name = "readtocache", .body = ReadForward, .setup = OneThreadAllKeys},
    Benchmark{.name = "readreverse", .body = ReadBackward},
    Benchmark{.name = "multireadrandom", .body = MultiReadRandom},
    Benchmark{.name = "readrandomentity", .body = ReadRandomEntity},
    Benchmark{.name = "multireadentity", .body = MultiReadEntity},
};

}  // namespace

void ReadRandom(Worker& worker) {
  ReadNumbers numbers;
  LookUp<ValueReader>(worker, [&] { return numbers.Next(worker); });
}

void MultiReadRandom(Worker& worker) {
  MultiRead(worker, FLAGS_multiread_batched ? BatchResult::kPinned : BatchResult::kCopied);
}

std::span<const Benchmark> ReadBenchmarks() {
  return kReadBenchmarks;
}

}  // namespace varve::bench
