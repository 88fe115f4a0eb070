// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds what a public iterator of any kind owns of a database.

#include <memory>
#include <utility>

#include "db/column_family/super_version_source.h"
#include "util/base/assert.h"
#include "util/metrics/statistics.h"

namespace varve {

// Holds the family, which keeps everything behind it alive, and one of its super-versions; counted
// as an iterator held by the user. What an iterator has from the super-version must be released
// first.
//
// Thread safety: none.
class IteratorHold {
 public:
  // Shares `source`; takes over one reference of `super_version`. The statistics, which may be
  // null, must live as long as the source.
  IteratorHold(std::shared_ptr<SuperVersionSource> source, SuperVersion* super_version,
               Statistics* statistics)
      : source_(std::move(source)), super_version_(super_version), statistics_(statistics) {
    RecordTick(statistics_, NO_ITERATOR_CREATED);
    RecordTick(statistics_, NUMBER_SUPERVERSION_ACQUIRES);
    Count(1);
  }
  IteratorHold(IteratorHold&& from) noexcept
      : source_(std::move(from.source_)),
        super_version_(std::exchange(from.super_version_, nullptr)),
        statistics_(from.statistics_) {}
  IteratorHold(const IteratorHold&) = delete;
  IteratorHold& operator=(const IteratorHold&) = delete;
  IteratorHold& operator=(IteratorHold&&) = delete;
  ~IteratorHold() {
    if (super_version_ == nullptr) return;
    Release(super_version_);
    Count(-1);
    RecordTick(statistics_, NO_ITERATOR_DELETED);
  }

  [[nodiscard]] const SuperVersion& super_version() const {
    VARVE_ASSERT(super_version_ != nullptr);
    return *super_version_;
  }
  [[nodiscard]] Statistics* statistics() const { return statistics_; }
  [[nodiscard]] SuperVersionSource& source() const { return *source_; }
  // IsOld is true if there is a newer super-version. Newer returns that with a reference, or null.
  [[nodiscard]] bool IsOld() const {
    return source_->SuperVersionNumber() != super_version_->number();
  }
  [[nodiscard]] SuperVersion* Newer() const {
    return IsOld() ? source_->AcquireSuperVersion() : nullptr;
  }
  // Switches to another super-version, and takes over its reference.
  void MoveTo(SuperVersion* fresh) {
    VARVE_ASSERT(fresh != nullptr);
    Release(std::exchange(super_version_, fresh));
    RecordTick(statistics_, NUMBER_SUPERVERSION_ACQUIRES);
  }

 private:
  void Release(SuperVersion* super_version) {
    RecordTick(statistics_, NUMBER_SUPERVERSION_RELEASES);
    if (super_version->Unref()) RecordTick(statistics_, NUMBER_SUPERVERSION_CLEANUPS);
  }
  void Count(int64_t change) {
    if (ReferenceCounts* const references = source_->references()) {
      references->iterators.fetch_add(change, std::memory_order_relaxed);
    }
  }

  std::shared_ptr<SuperVersionSource> source_;
  SuperVersion* super_version_;
  Statistics* statistics_;
};

}  // namespace varve
