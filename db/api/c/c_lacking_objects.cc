// SPDX-License-Identifier: Apache-2.0
// Implements objects of the C API that serve only options which opening refuses: they keep their
// arguments.
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
