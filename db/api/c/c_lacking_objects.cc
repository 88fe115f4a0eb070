// SPDX-License-Identifier: Apache-2.0
// Objects of the C API that only options take which opening refuses: they keep what they are given.
#include "varve/write_buffer_manager.h"

#include "db/api/c/c_types.h"

// ---- Cuckoo tables ----

struct rocksdb_cuckoo_table_options_t {
  struct {
    double hash_table_ratio = 0.9;
    uint32_t max_search_depth = 100;
    uint32_t cuckoo_block_size = 5;
    bool identity_as_first_hash = false;
    bool use_module_hash = true;
  } rep;
};

#define VARVE_C_CUCKOO(name, c_type)                                                               \
  VARVE_C_SETTER(rocksdb_cuckoo_table_options_t, rocksdb_cuckoo_options_set_##name, c_type, name); \
  VARVE_C_GETTER(rocksdb_cuckoo_table_options_t, rocksdb_cuckoo_options_get_##name, c_type, name)

VARVE_C_CUCKOO(hash_table_ratio, double);
VARVE_C_CUCKOO(max_search_depth, uint32_t);
VARVE_C_CUCKOO(cuckoo_block_size, uint32_t);
VARVE_C_CUCKOO(identity_as_first_hash, unsigned char);
VARVE_C_CUCKOO(use_module_hash, unsigned char);
VARVE_C_SETTER(rocksdb_cuckoo_table_options_t, rocksdb_cuckoo_options_set_hash_ratio, double,
               hash_table_ratio);

rocksdb_cuckoo_table_options_t* rocksdb_cuckoo_options_create() {
  return varve::c::Make<rocksdb_cuckoo_table_options_t>();
}

void rocksdb_cuckoo_options_destroy(rocksdb_cuckoo_table_options_t* options) {
  delete options;
}

// ---- Space that databases take ----

struct rocksdb_sst_file_manager_t {
  struct {
    uint64_t max_allowed_space_usage = 0;
    uint64_t compaction_buffer_size = 0;
    int64_t delete_rate_bytes_per_second = 0;
    double max_trash_db_ratio = 0.25;
  } rep;
};

rocksdb_sst_file_manager_t* rocksdb_sst_file_manager_create(rocksdb_env_t* env) {
  return env == nullptr ? nullptr : varve::c::Make<rocksdb_sst_file_manager_t>();
}

void rocksdb_sst_file_manager_destroy(rocksdb_sst_file_manager_t* manager) {
  delete manager;
}

VARVE_C_SETTER(rocksdb_sst_file_manager_t, rocksdb_sst_file_manager_set_max_allowed_space_usage,
               uint64_t, max_allowed_space_usage);
VARVE_C_SETTER(rocksdb_sst_file_manager_t, rocksdb_sst_file_manager_set_compaction_buffer_size,
               uint64_t, compaction_buffer_size);
VARVE_C_FIELD(sst_file_manager, delete_rate_bytes_per_second, int64_t);
VARVE_C_FIELD(sst_file_manager, max_trash_db_ratio, double);

// No database reports to it: it has seen nothing.
bool rocksdb_sst_file_manager_is_max_allowed_space_reached(
    rocksdb_sst_file_manager_t* /*manager*/) {
  return false;
}

bool rocksdb_sst_file_manager_is_max_allowed_space_reached_including_compactions(
    rocksdb_sst_file_manager_t* /*manager*/) {
  return false;
}

uint64_t rocksdb_sst_file_manager_get_total_size(rocksdb_sst_file_manager_t* /*manager*/) {
  return 0;
}

uint64_t rocksdb_sst_file_manager_get_total_trash_size(rocksdb_sst_file_manager_t* /*manager*/) {
  return 0;
}
