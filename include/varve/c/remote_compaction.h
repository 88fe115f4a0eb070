// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares compactions in other processes. Part of varve/c.h, which states the general rules.
//
// Varve has none yet: opening with a service, and compacting for one, return NotSupported.

#include "varve/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Services ----

// The result of a job.
enum {
  rocksdb_compactionservice_jobstatus_success = 0,
  rocksdb_compactionservice_jobstatus_failure = 1,
  rocksdb_compactionservice_jobstatus_aborted = 2,
  rocksdb_compactionservice_jobstatus_use_local = 3
};
typedef rocksdb_compactionservice_scheduleresponse_t* (*rocksdb_compaction_service_schedule_cb)(
    void* state, const rocksdb_compactionservice_jobinfo_t* info,
    const char* compaction_service_input, size_t input_len);
typedef int (*rocksdb_compaction_service_wait_cb)(void* state, const char* scheduled_job_id,
                                                  char** result, size_t* result_len);
typedef void (*rocksdb_compaction_service_cancel_awaiting_jobs_cb)(void* state);
typedef void (*rocksdb_compaction_service_on_installation_cb)(void* state,
                                                              const char* scheduled_job_id,
                                                              int status);

// Options take ownership of a service.
VARVE_C_STORED rocksdb_compactionservice_t* rocksdb_compactionservice_create(
    void* state, void (*destructor)(void*), rocksdb_compaction_service_schedule_cb schedule,
    const char* name, rocksdb_compaction_service_wait_cb wait,
    rocksdb_compaction_service_cancel_awaiting_jobs_cb cancel_awaiting_jobs,
    rocksdb_compaction_service_on_installation_cb on_installation);
VARVE_C_STORED void rocksdb_options_set_compaction_service(rocksdb_options_t* options,
                                                           rocksdb_compactionservice_t* service);

// These make and read the responses of a service. Ids are copied.
VARVE_C_STORED rocksdb_compactionservice_scheduleresponse_t*
rocksdb_compactionservice_scheduleresponse_create_with_status(int status, char** errptr);
VARVE_C_STORED rocksdb_compactionservice_scheduleresponse_t*
rocksdb_compactionservice_scheduleresponse_create(const char* scheduled_job_id, int status,
                                                  char** errptr);
VARVE_C_STORED int rocksdb_compactionservice_scheduleresponse_getstatus(
    const rocksdb_compactionservice_scheduleresponse_t* response);
VARVE_C_STORED const char* rocksdb_compactionservice_scheduleresponse_get_scheduled_job_id(
    const rocksdb_compactionservice_scheduleresponse_t* response, size_t* len);
VARVE_C_STORED void rocksdb_compactionservice_scheduleresponse_t_destroy(
    rocksdb_compactionservice_scheduleresponse_t* response);

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// Information about a job, valid during the callback that gets it. There are no jobs.
VARVE_C_REFUSED int rocksdb_compactionservice_jobinfo_t_get_base_input_level(const rocksdb_compactionservice_jobinfo_t*);
VARVE_C_REFUSED uint32_t rocksdb_compactionservice_jobinfo_t_get_cf_id(const rocksdb_compactionservice_jobinfo_t*);
VARVE_C_REFUSED const char* rocksdb_compactionservice_jobinfo_t_get_cf_name(const rocksdb_compactionservice_jobinfo_t*, size_t*);
VARVE_C_REFUSED int rocksdb_compactionservice_jobinfo_t_get_compaction_reason(const rocksdb_compactionservice_jobinfo_t*);
VARVE_C_REFUSED const char* rocksdb_compactionservice_jobinfo_t_get_db_id(const rocksdb_compactionservice_jobinfo_t*, size_t*);
VARVE_C_REFUSED const char* rocksdb_compactionservice_jobinfo_t_get_db_name(const rocksdb_compactionservice_jobinfo_t*, size_t*);
VARVE_C_REFUSED const char* rocksdb_compactionservice_jobinfo_t_get_db_session_id(const rocksdb_compactionservice_jobinfo_t*, size_t*);
VARVE_C_REFUSED unsigned char rocksdb_compactionservice_jobinfo_t_is_bottommost_level(const rocksdb_compactionservice_jobinfo_t*);
VARVE_C_REFUSED unsigned char rocksdb_compactionservice_jobinfo_t_is_full_compaction(const rocksdb_compactionservice_jobinfo_t*);
VARVE_C_REFUSED unsigned char rocksdb_compactionservice_jobinfo_t_is_manual_compaction(const rocksdb_compactionservice_jobinfo_t*);
VARVE_C_REFUSED uint64_t rocksdb_compactionservice_jobinfo_t_get_job_id(const rocksdb_compactionservice_jobinfo_t*);
VARVE_C_REFUSED int rocksdb_compactionservice_jobinfo_t_get_output_level(const rocksdb_compactionservice_jobinfo_t*);
VARVE_C_REFUSED int rocksdb_compactionservice_jobinfo_t_get_priority(const rocksdb_compactionservice_jobinfo_t*);
// clang-format on

// ---- The other side ----

// Written by varve_c_api_writer from db/api/c/c_functions.inc.
// clang-format off
// Returns null and the error NotSupported.
VARVE_C_REFUSED char* rocksdb_open_and_compact_with_options(const rocksdb_open_and_compact_options_t*, const char*, const char*, const char*, size_t, size_t* size, const rocksdb_compaction_service_options_override_t*, char** errptr);
VARVE_C_REFUSED char* rocksdb_open_and_compact(const char*, const char*, const char*, size_t, size_t* size, const rocksdb_compaction_service_options_override_t*, char** errptr);
VARVE_C_STORED rocksdb_compaction_service_options_override_t* rocksdb_compaction_service_options_override_create(void);
VARVE_C_STORED void rocksdb_compaction_service_options_override_destroy(rocksdb_compaction_service_options_override_t*);
VARVE_C_STORED void rocksdb_open_and_compact_options_set_allow_resumption(rocksdb_open_and_compact_options_t*, unsigned char);
VARVE_C_STORED unsigned char rocksdb_open_and_compact_options_get_allow_resumption(rocksdb_open_and_compact_options_t*);
VARVE_C_STORED rocksdb_open_and_compact_options_t* rocksdb_open_and_compact_options_create(void);
VARVE_C_STORED void rocksdb_open_and_compact_options_destroy(rocksdb_open_and_compact_options_t*);
// clang-format on

// The values are stored. Handles are shared in the same way as by options.
VARVE_C_STORED void rocksdb_compaction_service_options_override_add_event_listener(
    rocksdb_compaction_service_options_override_t* override_options,
    rocksdb_eventlistener_t* event_listener);
VARVE_C_STORED void
rocksdb_compaction_service_options_override_add_table_properties_collector_factory(
    rocksdb_compaction_service_options_override_t* override_options,
    rocksdb_table_properties_collector_factory_t* factory);
VARVE_C_STORED void rocksdb_compaction_service_options_override_set_block_based_table_factory(
    rocksdb_compaction_service_options_override_t* override_options,
    rocksdb_block_based_table_options_t* table_options);
VARVE_C_STORED void rocksdb_compaction_service_options_override_set_compaction_filter_factory(
    rocksdb_compaction_service_options_override_t* override_options,
    rocksdb_compactionfilterfactory_t* compaction_filter_factory);
VARVE_C_STORED void rocksdb_compaction_service_options_override_set_compaction_filter(
    rocksdb_compaction_service_options_override_t* override_options,
    rocksdb_compactionfilter_t* compaction_filter);
VARVE_C_STORED void rocksdb_compaction_service_options_override_set_comparator(
    rocksdb_compaction_service_options_override_t* override_options,
    rocksdb_comparator_t* comparator);
VARVE_C_STORED rocksdb_compaction_service_options_override_t*
rocksdb_compaction_service_options_override_create_from_options(rocksdb_options_t* option);
VARVE_C_STORED void rocksdb_compaction_service_options_override_set_cuckoo_table_factory(
    rocksdb_compaction_service_options_override_t* override_options,
    rocksdb_cuckoo_table_options_t* table_options);
VARVE_C_STORED void rocksdb_compaction_service_options_override_set_env(
    rocksdb_compaction_service_options_override_t* override_options, rocksdb_env_t* env);
VARVE_C_STORED void rocksdb_compaction_service_options_override_set_file_checksum_gen_factory(
    rocksdb_compaction_service_options_override_t* override_options,
    rocksdb_file_checksum_gen_factory_t* factory);
VARVE_C_STORED void rocksdb_compaction_service_options_override_set_info_log(
    rocksdb_compaction_service_options_override_t* override_options, rocksdb_logger_t* logger);
VARVE_C_STORED void rocksdb_compaction_service_options_override_set_merge_operator(
    rocksdb_compaction_service_options_override_t* override_options,
    rocksdb_mergeoperator_t* merge_operator);
VARVE_C_STORED void rocksdb_compaction_service_options_override_set_option(
    rocksdb_compaction_service_options_override_t* override_options, const char* key,
    const char* value);
VARVE_C_STORED void rocksdb_compaction_service_options_override_set_prefix_extractor(
    rocksdb_compaction_service_options_override_t* override_options,
    rocksdb_slicetransform_t* prefix_extractor);
VARVE_C_STORED void rocksdb_compaction_service_options_override_set_sst_partitioner_factory(
    rocksdb_compaction_service_options_override_t* override_options,
    rocksdb_sst_partitioner_factory_t* factory);
VARVE_C_STORED void rocksdb_compaction_service_options_override_set_statistics(
    rocksdb_compaction_service_options_override_t* override_options, rocksdb_options_t* options);
VARVE_C_STORED unsigned char* rocksdb_open_and_compact_canceled_create(void);
VARVE_C_STORED void rocksdb_open_and_compact_canceled_destroy(unsigned char* canceled);
VARVE_C_STORED void rocksdb_open_and_compact_canceled_set(unsigned char* canceled,
                                                          unsigned char value);
VARVE_C_STORED void rocksdb_open_and_compact_options_set_canceled(
    rocksdb_open_and_compact_options_t* options, unsigned char* canceled);

#ifdef __cplusplus
}  // extern "C"
#endif
