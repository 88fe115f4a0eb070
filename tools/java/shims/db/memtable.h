// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stands for the memtable in which the tests of RocksDB's Java glue look at a batch: a sorted list
// of its entries.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "varve/comparator.h"
#include "varve/options.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"
#include "varve/write_batch.h"
#include "varve/write_buffer_manager.h"

#include "options/cf_options.h"

namespace varve {

inline constexpr SequenceNumber kMaxSequenceNumber = (uint64_t{1} << 56) - 1;

enum ValueType : unsigned char {
  kTypeDeletion = 0x0,
  kTypeValue = 0x1,
  kTypeMerge = 0x2,
  kTypeLogData = 0x3,
  kTypeSingleDeletion = 0x7,
  kTypeRangeDeletion = 0xF,
};

struct ParsedInternalKey {
  Slice user_key;
  SequenceNumber sequence = 0;
  ValueType type = kTypeDeletion;

  void clear() { *this = ParsedInternalKey(); }
};

// An internal key ends with eight bytes: its type, and above it its sequence number.
inline Status ParseInternalKey(const Slice& key, ParsedInternalKey* parsed, bool /*log_err_key*/) {
  if (key.size() < sizeof(uint64_t)) return Status::Corruption("an internal key is too short");
  uint64_t tag = 0;
  parsed->user_key = Slice(key.data(), key.size() - sizeof(tag));
  std::memcpy(&tag, key.data() + parsed->user_key.size(), sizeof(tag));
  parsed->type = static_cast<ValueType>(tag & 0xff);
  parsed->sequence = tag >> 8;
  return Status::OK();
}

struct InternalKeyComparator {
  explicit InternalKeyComparator(const Comparator* comparator) : user_comparator(comparator) {}
  const Comparator* user_comparator;
};

struct Arena {};

// Thread safety: none.
class MemTable {
 public:
  struct Entry {
    std::string key;
    SequenceNumber sequence;
    ValueType type;
    std::string value;
  };

  MemTable(const InternalKeyComparator& comparator, const ImmutableOptions& /*options*/,
           const MutableCFOptions& /*changeable*/, WriteBufferManager* /*manager*/,
           SequenceNumber /*latest*/, uint32_t /*column_family_id*/)
      : comparator_(comparator.user_comparator) {}

  void Ref() { refs_++; }
  // Returns the memtable, for the caller to delete, when the last reference is gone.
  MemTable* Unref() { return --refs_ == 0 ? this : nullptr; }

  // Iterates over the entries by key, the newest of each first.
  class Iterator {
   public:
    explicit Iterator(const MemTable& memtable) : entries_(memtable.entries_) {
      const Comparator* const order = memtable.comparator_;
      std::ranges::sort(entries_, [order](const Entry& a, const Entry& b) {
        const int c = order->Compare(a.key, b.key);
        return c != 0 ? c < 0 : a.sequence > b.sequence;
      });
    }
    void SeekToFirst() { MoveTo(0); }
    void Next() { MoveTo(at_ + 1); }
    bool Valid() const { return at_ < entries_.size(); }
    Slice key() const { return key_; }
    Slice value() const { return entries_[at_].value; }

   private:
    void MoveTo(size_t at) {
      at_ = at;
      if (!Valid()) return;
      const uint64_t tag = (entries_[at].sequence << 8) | entries_[at].type;
      key_ = entries_[at].key;
      key_.append(reinterpret_cast<const char*>(&tag), sizeof(tag));
    }

    std::vector<Entry> entries_;
    size_t at_ = 0;
    std::string key_;
  };
  Iterator* NewIterator(const ReadOptions& /*options*/, Arena* /*arena*/) const {
    return new Iterator(*this);
  }

  // Adds the updates of a batch, whose first has the sequence number.
  class Inserter : public WriteBatch::Handler {
   public:
    Inserter(MemTable* memtable, SequenceNumber sequence)
        : entries_(memtable->entries_), sequence_(sequence) {}
    Status PutCF(uint32_t, const Slice& key, const Slice& value) override {
      return Add(kTypeValue, key, value);
    }
    Status MergeCF(uint32_t, const Slice& key, const Slice& value) override {
      return Add(kTypeMerge, key, value);
    }
    Status DeleteCF(uint32_t, const Slice& key) override { return Add(kTypeDeletion, key, ""); }
    Status SingleDeleteCF(uint32_t, const Slice& key) override {
      return Add(kTypeSingleDeletion, key, "");
    }
    Status DeleteRangeCF(uint32_t, const Slice& begin, const Slice& end) override {
      return Add(kTypeRangeDeletion, begin, end);
    }
    void LogData(const Slice& /*blob*/) override {}

   private:
    Status Add(ValueType type, const Slice& key, const Slice& value) {
      entries_.push_back({key.ToString(), sequence_++, type, value.ToString()});
      return Status::OK();
    }

    std::vector<Entry>& entries_;
    SequenceNumber sequence_;
  };

 private:
  const Comparator* const comparator_;
  std::vector<Entry> entries_;
  int refs_ = 0;
};

class ColumnFamilyMemTablesDefault {
 public:
  explicit ColumnFamilyMemTablesDefault(MemTable* memtable) : memtable_(memtable) {}
  MemTable* memtable() const { return memtable_; }

 private:
  MemTable* const memtable_;
};

}  // namespace varve
