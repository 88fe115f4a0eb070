// SPDX-License-Identifier: Apache-2.0
#include "table/builder/property_collectors.h"

#include <string>
#include <utility>

#include "util/key/entry_types.h"
#include "util/key/internal_key.h"

namespace varve {

// A factory may decline to make a collector for this table. The properties that the options add are
// set now, and those of collectors in Finish, which keeps what is there: so a collector cannot
// replace them.
void PropertyCollectors::Start(const TableBuildOptions& options, TableProperties* properties) {
  TablePropertiesCollectorFactory::Context context;
  context.column_family_id = options.column_family_id;
  context.level_at_creation = options.level;
  std::string names;
  for (const auto& factory : options.collector_factories) {
    if (factory == nullptr) continue;
    std::unique_ptr<TablePropertiesCollector> collector(
        factory->CreateTablePropertiesCollector(context));
    if (collector == nullptr) continue;
    names += (names.empty() ? "" : ",") + std::string(factory->Name());
    collectors_.push_back({std::move(collector)});
  }
  properties->property_collectors_names = "[" + names + "]";
  properties->user_collected_properties = options.added_properties;
}

// An error of a collector costs its properties and never the table.
void PropertyCollectors::TellAll(const Slice& internal_key, const Slice& value,
                                 uint64_t file_bytes) {
  const uint64_t trailer = ExtractTrailer(internal_key);
  const Slice user_key = ExtractUserKey(internal_key);
  for (Collector& c : collectors_) {
    const Status s = c.collector->AddUserKey(user_key, value, EntryTypeOf(UnpackType(trailer)),
                                             UnpackSequence(trailer), file_bytes);
    if (!s.ok()) c.failed = true;
  }
}

void PropertyCollectors::Finish(TableProperties* properties) {
  for (Collector& c : collectors_) {
    UserCollectedProperties collected;
    if (!c.collector->Finish(&collected).ok()) c.failed = true;
    if (c.failed) continue;
    // merge() keeps what is there, so the first collector that names a property wins.
    properties->user_collected_properties.merge(collected);
    UserCollectedProperties readable = c.collector->GetReadableProperties();
    properties->readable_properties.merge(readable);
    needs_compaction_ = needs_compaction_ || c.collector->NeedCompact();
  }
}

}  // namespace varve
