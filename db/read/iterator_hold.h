// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds what a public iterator of any kind owns of a database.
//
//      iterator -- owns --> IteratorHold -- shares ---> SuperVersionSource (the family)
//                                |
//                                +------ reference ---> SuperVersion: memtables and version
//
// The super-version keeps the state alive that the iterator shows: its memtables are not freed, and
// the tables of its version are not deleted, even if the column family is dropped. The source is
// shared besides: newer super-versions come from it (Newer), and it keeps the statistics alive.

#include <memory>
#include <utility>

#include "varve/options.h"

#include "db/column_family/super_version_source.h"
#include "db/trace/query_trace.h"
#include "util/base/assert.h"
#include "util/metrics/statistics.h"

namespace varve {

// Shares ownership of the family's source, and has a reference of one of its super-versions. Counts
// as one of the iterators that users have. The iterator must release everything that points into
// the super-version (sources, pinned values) before this object is destroyed or moves on.
//
// Thread safety: none; one thread at a time, as with the iterator.
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
  // Takes over what `from` holds; `from` may then only be destroyed.
  IteratorHold(IteratorHold&& from) noexcept
      : source_(std::move(from.source_)),
        super_version_(std::exchange(from.super_version_, nullptr)),
        statistics_(from.statistics_) {}
  IteratorHold(const IteratorHold&) = delete;
  IteratorHold& operator=(const IteratorHold&) = delete;
  IteratorHold& operator=(IteratorHold&&) = delete;
  ~IteratorHold() {
    // An object that was moved from holds nothing.
    if (super_version_ == nullptr) return;
    Release(super_version_);
    Count(-1);
    RecordTick(statistics_, NO_ITERATOR_DELETED);
  }

  // Returns the state that the iterator shows.
  [[nodiscard]] const SuperVersion& super_version() const {
    VARVE_ASSERT(super_version_ != nullptr);
    return *super_version_;
  }
  [[nodiscard]] Statistics* statistics() const { return statistics_; }
  [[nodiscard]] SuperVersionSource& source() const { return *source_; }
  // Notes a seek of this iterator if the database's calls are traced. `target` is a user key
  // without timestamp, as the user gave it.
  void TraceSeek(TraceType type, const Slice& target, const ReadOptions& options) const {
    QueryTrace* const trace = source_->query_trace();
    if (trace == nullptr || !trace->on()) [[likely]]
      return;
    trace->NoteSeek(type, source_->traced_family(), target, options.iterate_lower_bound,
                    options.iterate_upper_bound);
  }
  // IsOld is true if there is a newer super-version. Newer returns that with a reference, or null.
  [[nodiscard]] bool IsOld() const {
    return source_->SuperVersionNumber() != super_version_->number();
  }
  [[nodiscard]] SuperVersion* Newer() const {
    return IsOld() ? source_->AcquireSuperVersion() : nullptr;
  }
  // Switches to another super-version, which must not be null, takes over its reference, and
  // releases the old one.
  void MoveTo(SuperVersion* fresh) {
    VARVE_ASSERT(fresh != nullptr);
    Release(std::exchange(super_version_, fresh));
    RecordTick(statistics_, NUMBER_SUPERVERSION_ACQUIRES);
  }

 private:
  // Releases a reference, which may free memtables and close files.
  void Release(SuperVersion* super_version) {
    RecordTick(statistics_, NUMBER_SUPERVERSION_RELEASES);
    if (super_version->Unref()) RecordTick(statistics_, NUMBER_SUPERVERSION_CLEANUPS);
  }
  // Counts the iterator among those that users hold.
  void Count(int64_t change) {
    if (ReferenceCounts* const references = source_->references()) {
      references->iterators.fetch_add(change, std::memory_order_relaxed);
    }
  }

  std::shared_ptr<SuperVersionSource> source_;
  // One reference is owned.
  SuperVersion* super_version_;
  Statistics* statistics_;
};

}  // namespace varve
