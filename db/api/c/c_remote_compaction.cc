// SPDX-License-Identifier: Apache-2.0
// Declares compactions in other processes to C: opening with a service is refused.
#include "db/api/c/c_option_types.h"
#include "db/api/c/c_types.h"

using varve::Status;
using varve::c::Run;
using varve::c::TryVoid;

// ---- Services ----

// Keeps only the state: nothing calls a service.
struct rocksdb_compactionservice_t : std::enable_shared_from_this<rocksdb_compactionservice_t> {
  rocksdb_compactionservice_t(void* service_state, void (*service_destructor)(void*))
      : state(service_state), destructor(service_destructor) {}
  rocksdb_compactionservice_t(const rocksdb_compactionservice_t&) = delete;
  rocksdb_compactionservice_t& operator=(const rocksdb_compactionservice_t&) = delete;
  ~rocksdb_compactionservice_t() {
    if (destructor != nullptr) destructor(state);
  }

  void* const state;
  void (*const destructor)(void*);
};

rocksdb_compactionservice_t* rocksdb_compactionservice_create(
    void* state, void (*destructor)(void*), rocksdb_compaction_service_schedule_cb /*schedule*/,
    const char* /*name*/, rocksdb_compaction_service_wait_cb /*wait*/,
    rocksdb_compaction_service_cancel_awaiting_jobs_cb /*cancel_awaiting_jobs*/,
    rocksdb_compaction_service_on_installation_cb /*on_installation*/) {
  return varve::c::Try([&] { return new rocksdb_compactionservice_t(state, destructor); });
}

void rocksdb_options_set_compaction_service(rocksdb_options_t* options,
                                            rocksdb_compactionservice_t* service) {
  if (options == nullptr) return;
  TryVoid([&] {
    if (service == nullptr) {
      options->lacking.Allow("compaction_service");
      options->compaction_service = nullptr;
      return;
    }
    options->lacking.Refuse("compaction_service");
    // Options of several databases share it.
    std::shared_ptr<rocksdb_compactionservice_t> shared = service->weak_from_this().lock();
    // The first options take the handle over; the weak reference within it is how the next ones
    // find them.
    if (shared == nullptr) shared.reset(service);
    options->compaction_service = std::move(shared);
  });
}

struct rocksdb_compactionservice_scheduleresponse_t {
  std::string scheduled_job_id;
  int status;
};

rocksdb_compactionservice_scheduleresponse_t* rocksdb_compactionservice_scheduleresponse_create(
    const char* scheduled_job_id, int status, char** errptr) {
  std::unique_ptr<rocksdb_compactionservice_scheduleresponse_t> response;
  const bool made = Run(errptr, [&]() -> Status {
    if (scheduled_job_id == nullptr) return varve::c::NullArgument("scheduled_job_id");
    if (status < rocksdb_compactionservice_jobstatus_success ||
        status > rocksdb_compactionservice_jobstatus_use_local) {
      return Status::InvalidArgument("C API: no such status", std::to_string(status));
    }
    // Responses work as objects, although nothing asks for one: bindings make them in their tests.
    response.reset(new rocksdb_compactionservice_scheduleresponse_t{scheduled_job_id, status});
    return Status::OK();
  });
  return made ? response.release() : nullptr;
}

rocksdb_compactionservice_scheduleresponse_t*
rocksdb_compactionservice_scheduleresponse_create_with_status(int status, char** errptr) {
  return rocksdb_compactionservice_scheduleresponse_create("", status, errptr);
}

int rocksdb_compactionservice_scheduleresponse_getstatus(
    const rocksdb_compactionservice_scheduleresponse_t* response) {
  return response == nullptr ? rocksdb_compactionservice_jobstatus_failure : response->status;
}

const char* rocksdb_compactionservice_scheduleresponse_get_scheduled_job_id(
    const rocksdb_compactionservice_scheduleresponse_t* response, size_t* len) {
  varve::c::StoreSize(len, response == nullptr ? 0 : response->scheduled_job_id.size());
  return response == nullptr ? nullptr : response->scheduled_job_id.c_str();
}

void rocksdb_compactionservice_scheduleresponse_t_destroy(
    rocksdb_compactionservice_scheduleresponse_t* response) {
  delete response;
}

// ---- The other side ----

// Both features use the same kind of flag.
unsigned char* rocksdb_open_and_compact_canceled_create() {
  return rocksdb_compaction_options_canceled_create();
}

void rocksdb_open_and_compact_canceled_set(unsigned char* canceled, unsigned char value) {
  rocksdb_compaction_options_canceled_set(canceled, value);
}

void rocksdb_open_and_compact_canceled_destroy(unsigned char* canceled) {
  rocksdb_compaction_options_canceled_destroy(canceled);
}

// The flag is not kept, as nothing would read it.
void rocksdb_open_and_compact_options_set_canceled(rocksdb_open_and_compact_options_t* /*options*/,
                                                   unsigned char* /*canceled*/) {}

rocksdb_compaction_service_options_override_t*
rocksdb_compaction_service_options_override_create_from_options(rocksdb_options_t* option) {
  if (option == nullptr) return nullptr;
  return varve::c::Try([&] { return new rocksdb_compaction_service_options_override_t{*option}; });
}

namespace {

using Override = rocksdb_compaction_service_options_override_t;

rocksdb_options_t* OptionsOf(Override* handle) {
  return handle == nullptr ? nullptr : &handle->options;
}

}  // namespace

void rocksdb_compaction_service_options_override_add_event_listener(
    Override* override_options, rocksdb_eventlistener_t* event_listener) {
  rocksdb_options_add_eventlistener(OptionsOf(override_options), event_listener);
}

void rocksdb_compaction_service_options_override_add_table_properties_collector_factory(
    Override* override_options, rocksdb_table_properties_collector_factory_t* factory) {
  rocksdb_options_add_table_properties_collector_factory(OptionsOf(override_options), factory);
}

// An overridden value is kept as options keep it.
#define VARVE_OVERRIDE_SETTER(name, type)                                                 \
  void rocksdb_compaction_service_options_override_set_##name(Override* override_options, \
                                                              type* value) {              \
    rocksdb_options_set_##name(OptionsOf(override_options), value);                       \
  }                                                                                       \
  static_assert(true)

VARVE_OVERRIDE_SETTER(block_based_table_factory, rocksdb_block_based_table_options_t);
VARVE_OVERRIDE_SETTER(compaction_filter, rocksdb_compactionfilter_t);
VARVE_OVERRIDE_SETTER(compaction_filter_factory, rocksdb_compactionfilterfactory_t);
VARVE_OVERRIDE_SETTER(comparator, rocksdb_comparator_t);
VARVE_OVERRIDE_SETTER(cuckoo_table_factory, rocksdb_cuckoo_table_options_t);
VARVE_OVERRIDE_SETTER(env, rocksdb_env_t);
VARVE_OVERRIDE_SETTER(file_checksum_gen_factory, rocksdb_file_checksum_gen_factory_t);
VARVE_OVERRIDE_SETTER(info_log, rocksdb_logger_t);
VARVE_OVERRIDE_SETTER(merge_operator, rocksdb_mergeoperator_t);
VARVE_OVERRIDE_SETTER(prefix_extractor, rocksdb_slicetransform_t);
VARVE_OVERRIDE_SETTER(sst_partitioner_factory, rocksdb_sst_partitioner_factory_t);

void rocksdb_compaction_service_options_override_set_statistics(Override* override_options,
                                                                rocksdb_options_t* options) {
  if (override_options == nullptr || options == nullptr) return;
  override_options->options.rep.statistics = options->rep.statistics;
}

// The option is not kept, as nothing would read it.
void rocksdb_compaction_service_options_override_set_option(Override* /*override_options*/,
                                                            const char* /*key*/,
                                                            const char* /*value*/) {}
