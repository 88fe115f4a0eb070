// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Selects the data structure of memtables, in ColumnFamilyOptions::memtable_factory.
///
/// The default suits all uses; VectorRepFactory suits loading data that is not read before it is
/// flushed. The others exist so that programs and OPTIONS files of RocksDB work.
///
///   options.memtable_factory = std::make_shared<varve::VectorRepFactory>();  // for a bulk load

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/status.h"

namespace varve {

struct ConfigOptions;

/// Opaque: one of the classes below. Opening with any other derived class returns NotSupported.
class MemTableRepFactory : public Customizable {
 public:
  ~MemTableRepFactory() override = default;

  /// Returns the class name under which ObjectRegistry keeps factories of this kind.
  static const char* Type() { return "MemTableRepFactory"; }
  /// Accepts the texts of GetMemTableRepFactoryFromString(), and registered objects. Leaves *result
  /// unchanged for ""; "nullptr" is NotSupported.
  VARVE_EXPORT static Status CreateFromString(const ConfigOptions& config_options,
                                              const std::string& value,
                                              std::unique_ptr<MemTableRepFactory>* result);
  VARVE_EXPORT static Status CreateFromString(const ConfigOptions& config_options,
                                              const std::string& value,
                                              std::shared_ptr<MemTableRepFactory>* result);

  /// True if many threads may insert at once.
  virtual bool IsInsertConcurrentlySupported() const { return false; }
  /// True if insertion detects an existing key with the same sequence number.
  virtual bool CanHandleDuplicatedKey() const { return false; }
};

/// The default: a skip list with concurrent insertion. Its nodes are blocks of entries; with
/// `blocked` false they are single entries, a reference implementation that is slower in most uses
/// and has no index for point reads.
class SkipListFactory : public MemTableRepFactory {
 public:
  /// `lookahead` is only kept for GetId(), as Varve's lists need no such hint.
  explicit SkipListFactory(size_t lookahead = 0, bool blocked = true)
      : lookahead_(lookahead), blocked_(blocked) {}

  /// Return the names in options text: that of the class, a short one, and that of `blocked` false.
  static const char* kClassName() { return "SkipListFactory"; }
  static const char* kNickName() { return "skip_list"; }
  static const char* kPlainNickName() { return "plain_skip_list"; }
  const char* Name() const override { return kClassName(); }
  const char* NickName() const override { return blocked_ ? kNickName() : kPlainNickName(); }
  /// RocksDB does not know "plain_skip_list", and opens such an OPTIONS file with its own skip
  /// list.
  std::string GetId() const override {
    if (lookahead_ == 0) return blocked_ ? kClassName() : kPlainNickName();
    return std::string(NickName()) + ":" + std::to_string(lookahead_);
  }

  bool IsInsertConcurrentlySupported() const override { return true; }
  bool CanHandleDuplicatedKey() const override { return true; }

 private:
  const size_t lookahead_;
  const bool blocked_;
};

/// For bulk loads that are not read before their flush: entries are appended to an array, also by
/// several threads at once. The first read after a write sorts the entries added since the previous
/// read and copies the others, so its time and memory are proportional to the memtable. A flush is
/// one such read. An existing key with the same sequence number is not detected, and both entries
/// stay.
class VectorRepFactory : public MemTableRepFactory {
 public:
  /// `count` is only kept for GetId(), as Varve's array grows in pieces that never move and needs
  /// no such hint.
  explicit VectorRepFactory(size_t count = 0) : count_(count) {}

  /// Return the names in options text.
  static const char* kClassName() { return "VectorRepFactory"; }
  static const char* kNickName() { return "vector"; }
  const char* Name() const override { return kClassName(); }
  const char* NickName() const override { return kNickName(); }
  std::string GetId() const override {
    if (count_ == 0) return kClassName();
    return std::string(kNickName()) + ":" + std::to_string(count_);
  }

  bool IsInsertConcurrentlySupported() const override { return true; }

 private:
  const size_t count_;
};

/// Base of the factories of RocksDB's lists with a bucket for each prefix. Varve builds its default
/// list for them, which gives all that they promise, also without a prefix extractor, and total
/// order: the names are only kept for OPTIONS files. `Factory` is the derived class.
template <typename Factory, size_t kDefaultBuckets>
class BucketedRepFactory : public MemTableRepFactory {
 public:
  /// The number of buckets that a factory made without an argument has.
  static constexpr size_t kBuckets = kDefaultBuckets;
  const char* Name() const override { return Factory::kClassName(); }
  /// Returns the short name in options text.
  const char* NickName() const override { return Factory::kNickName(); }
  std::string GetId() const override {
    if (bucket_count_ == kBuckets) return Factory::kClassName();
    return std::string(Factory::kNickName()) + ":" + std::to_string(bucket_count_);
  }

  bool IsInsertConcurrentlySupported() const override { return true; }
  bool CanHandleDuplicatedKey() const override { return true; }

 protected:
  explicit BucketedRepFactory(size_t bucket_count) : bucket_count_(bucket_count) {}

 private:
  const size_t bucket_count_;
};

/// RocksDB's list of skip lists, one for each prefix.
class HashSkipListRepFactory : public BucketedRepFactory<HashSkipListRepFactory, 1000000> {
 public:
  /// `bucket_count` is only kept for GetId().
  explicit HashSkipListRepFactory(size_t bucket_count = kBuckets)
      : BucketedRepFactory(bucket_count) {}

  /// Return the names in options text.
  static const char* kClassName() { return "HashSkipListRepFactory"; }
  static const char* kNickName() { return "prefix_hash"; }
};

/// RocksDB's linked lists, one for each prefix.
class HashLinkListRepFactory : public BucketedRepFactory<HashLinkListRepFactory, 50000> {
 public:
  /// `bucket_count` is only kept for GetId().
  explicit HashLinkListRepFactory(size_t bucket_count = kBuckets)
      : BucketedRepFactory(bucket_count) {}

  /// Return the names in options text.
  static const char* kClassName() { return "HashLinkListRepFactory"; }
  static const char* kNickName() { return "hash_linkedlist"; }
};

/// Return factories that the caller owns. All arguments but the first have no effect.
inline MemTableRepFactory* NewHashSkipListRepFactory(
    size_t bucket_count = HashSkipListRepFactory::kBuckets, int32_t /*skiplist_height*/ = 4,
    int32_t /*skiplist_branching_factor*/ = 4) {
  return std::make_unique<HashSkipListRepFactory>(bucket_count).release();
}
inline MemTableRepFactory* NewHashLinkListRepFactory(
    size_t bucket_count = HashLinkListRepFactory::kBuckets, size_t /*huge_page_tlb_size*/ = 0,
    int /*bucket_entries_logging_threshold*/ = 4096, bool /*if_log_bucket_dist_when_flash*/ = true,
    uint32_t /*threshold_use_skiplist*/ = 256) {
  return std::make_unique<HashLinkListRepFactory>(bucket_count).release();
}

}  // namespace varve
