// SPDX-License-Identifier: Apache-2.0
// Implements properties of tables for the C API, their collectors, and filters that use them.
#include "varve/file_checksum.h"
#include "varve/sst_partitioner.h"
#include "varve/utilities/table_properties_collectors.h"

#include "db/api/c/c_types.h"
#include "db/api/c/c_views.h"

using varve::c::Look;
using varve::c::TextOf;
using varve::c::TryVoid;

// Defines access to a map's entries by their position in its order.
#define VARVE_C_PROPERTY_MAP(map)                                                               \
  size_t rocksdb_table_properties_##map##_count(const rocksdb_table_properties_t* properties) { \
    return properties == nullptr ? 0 : Look(properties)->map.size();                            \
  }                                                                                             \
  const char* rocksdb_table_properties_##map##_key_at(                                          \
      const rocksdb_table_properties_t* properties, size_t pos, size_t* key_len) {              \
    const auto* entry = EntryAt(properties == nullptr ? nullptr : &Look(properties)->map, pos); \
    return TextOf(entry == nullptr ? nullptr : &entry->first, key_len);                         \
  }                                                                                             \
  const char* rocksdb_table_properties_##map##_value_at(                                        \
      const rocksdb_table_properties_t* properties, size_t pos, size_t* value_len) {            \
    const auto* entry = EntryAt(properties == nullptr ? nullptr : &Look(properties)->map, pos); \
    return TextOf(entry == nullptr ? nullptr : &entry->second, value_len);                      \
  }                                                                                             \
  static_assert(true)

namespace {

const varve::UserCollectedProperties::value_type* EntryAt(const varve::UserCollectedProperties* map,
                                                          size_t pos) {
  if (map == nullptr || pos >= map->size()) return nullptr;
  return &*std::next(map->begin(), static_cast<std::ptrdiff_t>(pos));
}

}  // namespace

VARVE_C_PROPERTY_MAP(user_collected_properties);
VARVE_C_PROPERTY_MAP(readable_properties);

// ---- Collectors ----

struct rocksdb_table_properties_collector_factory_t {
  std::shared_ptr<varve::TablePropertiesCollectorFactory> rep;
};

void rocksdb_table_properties_collector_factory_destroy(
    rocksdb_table_properties_collector_factory_t* factory) {
  delete factory;
}

namespace {

void AddCollector(rocksdb_options_t* options,
                  std::shared_ptr<varve::TablePropertiesCollectorFactory> factory) {
  options->rep.table_properties_collector_factories.push_back(std::move(factory));
}

}  // namespace

void rocksdb_options_add_table_properties_collector_factory(
    rocksdb_options_t* options, rocksdb_table_properties_collector_factory_t* factory) {
  if (options == nullptr) return;
  TryVoid([&] {
    if (factory != nullptr) {
      AddCollector(options, factory->rep);
    } else {
      options->lacking.NoteHandle("rocksdb_options_add_table_properties_collector_factory", true);
    }
  });
}

void rocksdb_options_add_compact_on_deletion_collector_factory(rocksdb_options_t* options,
                                                               size_t window_size,
                                                               size_t num_dels_trigger) {
  rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(options, window_size,
                                                                          num_dels_trigger, 0, 0);
}

void rocksdb_options_add_compact_on_deletion_collector_factory_del_ratio(rocksdb_options_t* options,
                                                                         size_t window_size,
                                                                         size_t num_dels_trigger,
                                                                         double deletion_ratio) {
  rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(
      options, window_size, num_dels_trigger, deletion_ratio, 0);
}

void rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(
    rocksdb_options_t* options, size_t window_size, size_t num_dels_trigger, double deletion_ratio,
    uint64_t min_file_size) {
  if (options == nullptr) return;
  TryVoid([&] {
    AddCollector(options, varve::NewCompactOnDeletionCollectorFactory(
                              window_size, num_dels_trigger, deletion_ratio, min_file_size));
  });
}

// ---- Checksums of files ----

struct rocksdb_file_checksum_gen_factory_t {
  std::shared_ptr<varve::FileChecksumGenFactory> rep;
};

rocksdb_file_checksum_gen_factory_t* rocksdb_file_checksum_gen_crc32c_factory_create() {
  return varve::c::Try([] {
    return new rocksdb_file_checksum_gen_factory_t{varve::GetFileChecksumGenCrc32cFactory()};
  });
}

void rocksdb_file_checksum_gen_factory_destroy(rocksdb_file_checksum_gen_factory_t* factory) {
  delete factory;
}

void rocksdb_options_set_file_checksum_gen_factory(rocksdb_options_t* options,
                                                   rocksdb_file_checksum_gen_factory_t* factory) {
  if (options == nullptr || factory == nullptr) return;
  TryVoid([&] { options->rep.file_checksum_gen_factory = factory->rep; });
}

// ---- Tables that a read passes over ----

namespace {

// A filter and its state, which the read options and the iterators made from them share.
class TableFilter {
 public:
  TableFilter(void* state, void (*destructor)(void*), rocksdb_readoptions_table_filter_cb filter)
      : state_(state), destructor_(destructor), filter_(filter) {}
  TableFilter(const TableFilter&) = delete;
  TableFilter& operator=(const TableFilter&) = delete;
  ~TableFilter() {
    if (destructor_ != nullptr) destructor_(state_);
  }

  bool Wants(const varve::TableProperties& table) const {
    return filter_(state_, varve::c::Show<rocksdb_table_properties_t>(&table)) != 0;
  }

 private:
  void* const state_;
  void (*const destructor_)(void*);
  const rocksdb_readoptions_table_filter_cb filter_;
};

}  // namespace

void rocksdb_readoptions_set_table_filter(rocksdb_readoptions_t* options, void* state,
                                          void (*destructor)(void*),
                                          rocksdb_readoptions_table_filter_cb table_filter) {
  if (options == nullptr || table_filter == nullptr) {
    // The state was given away with the call, so it is freed even if there is nothing to set.
    if (destructor != nullptr) destructor(state);
    return;
  }
  TryVoid([&] {
    auto filter = std::make_shared<const TableFilter>(state, destructor, table_filter);
    options->rep.table_filter = [filter](const varve::TableProperties& table) {
      return filter->Wants(table);
    };
  });
}

void rocksdb_readoptions_clear_table_filter(rocksdb_readoptions_t* options) {
  if (options != nullptr) options->rep.table_filter = nullptr;
}

unsigned char rocksdb_readoptions_has_table_filter(const rocksdb_readoptions_t* options) {
  return options != nullptr && options->rep.table_filter != nullptr ? 1 : 0;
}

// ---- Partitioners ----

rocksdb_sst_partitioner_factory_t* rocksdb_sst_partitioner_fixed_prefix_factory_create(
    size_t prefix_len) {
  try {
    return varve::c::Make<rocksdb_sst_partitioner_factory_t>(
        varve::NewSstPartitionerFixedPrefixFactory(prefix_len));
  } catch (...) {
    return nullptr;
  }
}

void rocksdb_sst_partitioner_factory_destroy(rocksdb_sst_partitioner_factory_t* factory) {
  delete factory;
}
