// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs the user's collectors of properties over the entries of one table.

#include <cstdint>
#include <memory>
#include <vector>

#include "varve/slice.h"
#include "varve/table_properties.h"

#include "table/table_builder.h"

namespace varve {

// Thread safety: none.
class PropertyCollectors {
 public:
  // Makes the collectors; called once, before the other methods. Sets property_collectors_names,
  // and replaces user_collected_properties by options.added_properties.
  void Start(const TableBuildOptions& options, TableProperties* properties);
  // Shows an entry to all collectors. `file_bytes` is the size of the file so far. An error of a
  // collector costs its properties, and not the table.
  void Tell(const Slice& internal_key, const Slice& value, uint64_t file_bytes) {
    if (!collectors_.empty()) [[unlikely]]
      TellAll(internal_key, value, file_bytes);
  }
  // Shows the sizes of a data block: raw, and as other codecs are estimated to make them.
  void TellBlock(uint64_t raw_bytes, uint64_t fast_bytes, uint64_t slow_bytes) {
    for (Collector& c : collectors_) c.collector->BlockAdd(raw_bytes, fast_bytes, slow_bytes);
  }
  // Adds what the collectors have found to user_collected_properties and readable_properties; names
  // that are there already keep their values. A collector that has failed adds nothing.
  void Finish(TableProperties* properties);
  // True if a collector wants the file to be compacted soon. Valid after Finish.
  [[nodiscard]] bool needs_compaction() const { return needs_compaction_; }

 private:
  // A user's collector. After a failure it is still told of entries, but its properties are left
  // out.
  struct Collector {
    std::unique_ptr<TablePropertiesCollector> collector;
    bool failed = false;
  };

  void TellAll(const Slice& internal_key, const Slice& value, uint64_t file_bytes);

  std::vector<Collector> collectors_;
  bool needs_compaction_ = false;
};

}  // namespace varve
