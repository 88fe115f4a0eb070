// SPDX-License-Identifier: Apache-2.0
#pragma once

// The collectors of table properties that come with the library.
//
//   options.table_properties_collector_factories.push_back(
//       varve::NewCompactOnDeletionCollectorFactory(/*sliding_window_size=*/10000,
//                                                   /*deletion_trigger=*/5000));

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/export.h"
#include "varve/table_properties.h"

namespace varve {

// Marks tables for compaction where many deletions stand close together, because readers must step
// over each of them. Changed settings apply to tables begun later.
//
// Thread safety: any thread may call any method.
class VARVE_EXPORT CompactOnDeletionCollectorFactory final
    : public TablePropertiesCollectorFactory {
 public:
  // The parameters are those of NewCompactOnDeletionCollectorFactory; sizes of windows are numbers
  // of entries, sizes of files bytes.
  CompactOnDeletionCollectorFactory(size_t sliding_window_size, size_t deletion_trigger,
                                    double deletion_ratio, uint64_t min_file_size)
      : window_size_(sliding_window_size),
        deletion_trigger_(deletion_trigger),
        deletion_ratio_(deletion_ratio),
        min_file_size_(min_file_size) {}
  ~CompactOnDeletionCollectorFactory() override;

  // Returns a collector with the parameters of this moment, which the caller owns.
  TablePropertiesCollector* CreateTablePropertiesCollector(Context context) override;
  // Return the name in options text and in properties of tables.
  static const char* kClassName() { return "CompactOnDeletionCollector"; }
  const char* Name() const override { return kClassName(); }
  using TablePropertiesCollectorFactory::ToString;
  // Returns the name with the parameters in force.
  std::string ToString() const override;

  // Change and return the parameters. A table that is being written keeps those it was begun with.
  void SetWindowSize(size_t sliding_window_size) { window_size_.store(sliding_window_size); }
  size_t GetWindowSize() const { return window_size_.load(); }
  void SetDeletionTrigger(size_t deletion_trigger) { deletion_trigger_.store(deletion_trigger); }
  size_t GetDeletionTrigger() const { return deletion_trigger_.load(); }
  void SetDeletionRatio(double deletion_ratio) { deletion_ratio_.store(deletion_ratio); }
  double GetDeletionRatio() const { return deletion_ratio_.load(); }
  void SetMinFileSize(uint64_t min_file_size) { min_file_size_.store(min_file_size); }
  uint64_t GetMinFileSize() const { return min_file_size_.load(); }

 private:
  std::atomic<size_t> window_size_;
  std::atomic<size_t> deletion_trigger_;
  std::atomic<double> deletion_ratio_;
  std::atomic<uint64_t> min_file_size_;
};

// A table is marked if any `sliding_window_size` successive entries contain at least
// `deletion_trigger` deletions (windows advance by a part of their size, so a few may be missed),
// or if deletions are at least `deletion_ratio` of all its entries (0, or more than 1, turns this
// rule off). Tables smaller than `min_file_size` bytes are not marked. Deletions of single keys
// count, and range deletions do not. A window or a trigger of 0 turns the first rule off. The
// window is counted in 128 parts, so its size is rounded up to a multiple of 128.
VARVE_EXPORT std::shared_ptr<CompactOnDeletionCollectorFactory>
NewCompactOnDeletionCollectorFactory(size_t sliding_window_size, size_t deletion_trigger,
                                     double deletion_ratio = 0, uint64_t min_file_size = 0);

}  // namespace varve
