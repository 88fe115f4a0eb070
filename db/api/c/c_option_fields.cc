// SPDX-License-Identifier: Apache-2.0
// Implements fields of Options for the C API that are not plain, and refuses some styles of
// compaction.
#include "db/api/c/c_types.h"

// Define functions whose names differ from those of their fields. The others are made from their
// declarations (tools/cmake/VarveCFields.cmake).
#define VARVE_OPTION_SETTER(function, c_type, member) \
  VARVE_C_SETTER(rocksdb_options_t, function, c_type, member)
#define VARVE_OPTION_GETTER(function, c_type, member) \
  VARVE_C_GETTER(rocksdb_options_t, function, c_type, member)

VARVE_OPTION_SETTER(rocksdb_options_compaction_readahead_size, size_t, compaction_readahead_size);
VARVE_OPTION_SETTER(rocksdb_options_set_enable_blob_gc, unsigned char,
                    enable_blob_garbage_collection);
VARVE_OPTION_GETTER(rocksdb_options_get_enable_blob_gc, unsigned char,
                    enable_blob_garbage_collection);
VARVE_OPTION_SETTER(rocksdb_options_set_blob_gc_age_cutoff, double,
                    blob_garbage_collection_age_cutoff);
VARVE_OPTION_GETTER(rocksdb_options_get_blob_gc_age_cutoff, double,
                    blob_garbage_collection_age_cutoff);
VARVE_OPTION_SETTER(rocksdb_options_set_blob_gc_force_threshold, double,
                    blob_garbage_collection_force_threshold);
VARVE_OPTION_GETTER(rocksdb_options_get_blob_gc_force_threshold, double,
                    blob_garbage_collection_force_threshold);

void rocksdb_options_set_universal_compaction_options(
    rocksdb_options_t* options, rocksdb_universal_compaction_options_t* universal) {
  if (options == nullptr) return;
  varve::c::TryVoid([&] {
    options->lacking.NoteHandle("rocksdb_options_set_universal_compaction_options",
                                universal == nullptr);
  });
  if (universal != nullptr) options->rep.compaction_options_universal = universal->rep;
}

void rocksdb_options_set_fifo_compaction_options(rocksdb_options_t* options,
                                                 rocksdb_fifo_compaction_options_t* fifo) {
  if (options == nullptr) return;
  varve::c::TryVoid([&] {
    options->lacking.NoteHandle("rocksdb_options_set_fifo_compaction_options", fifo == nullptr);
  });
  if (fifo != nullptr) options->rep.compaction_options_fifo = fifo->rep;
}
