// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Selects the data structure of memtables, in ColumnFamilyOptions::memtable_factory.

#include <cstddef>
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

}  // namespace varve
