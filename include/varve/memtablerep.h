// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// The choice of a memtable's data structure, ColumnFamilyOptions::memtable_factory.

#include <cstddef>
#include <memory>
#include <string>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/status.h"

namespace varve {

struct ConfigOptions;

/// Opaque: one of the classes below. A class derived elsewhere is NotSupported at open.
class MemTableRepFactory : public Customizable {
 public:
  ~MemTableRepFactory() override = default;

  static const char* Type() { return "MemTableRepFactory"; }
  /// As GetMemTableRepFactoryFromString(), and registered objects. Nothing is made for "";
  /// "nullptr" is NotSupported.
  VARVE_EXPORT static Status CreateFromString(const ConfigOptions& config_options,
                                              const std::string& value,
                                              std::unique_ptr<MemTableRepFactory>* result);
  VARVE_EXPORT static Status CreateFromString(const ConfigOptions& config_options,
                                              const std::string& value,
                                              std::shared_ptr<MemTableRepFactory>* result);

  /// Whether many threads may insert at once.
  virtual bool IsInsertConcurrentlySupported() const { return false; }
  /// Whether a key with a sequence number already present is found out at insertion.
  virtual bool CanHandleDuplicatedKey() const { return false; }
};

/// The default: a skip list, with concurrent insertion. Its nodes are blocks, unless it is to be a
/// plain one, whose nodes are single entries: the reference, slower in most uses, whose reads by
/// key have no index.
class SkipListFactory : public MemTableRepFactory {
 public:
  /// `lookahead` is accepted and kept for GetId(); Varve's lists need no such hint.
  explicit SkipListFactory(size_t lookahead = 0, bool blocked = true)
      : lookahead_(lookahead), blocked_(blocked) {}

  static const char* kClassName() { return "SkipListFactory"; }
  static const char* kNickName() { return "skip_list"; }
  static const char* kPlainNickName() { return "plain_skip_list"; }
  const char* Name() const override { return kClassName(); }
  const char* NickName() const override { return blocked_ ? kNickName() : kPlainNickName(); }
  /// RocksDB, which does not know "plain_skip_list", opens such an OPTIONS file with its own list.
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

/// For loads of data that is not read before it is flushed: entries are appended to an array, by
/// several threads at once if need be. The first read after a write sorts what was added since the
/// last one, and copies the rest: its time and memory are in proportion to the memtable. A flush is
/// one such read. A key with a sequence number that is already present is not found out, and both
/// entries stay.
class VectorRepFactory : public MemTableRepFactory {
 public:
  /// `count` is accepted and kept for GetId(); Varve's array grows in pieces that never move, and
  /// needs no such hint.
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
