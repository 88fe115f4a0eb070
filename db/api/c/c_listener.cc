// SPDX-License-Identifier: Apache-2.0
// Implements listeners written in C.
//
// A listener gets a handle of the database that lives only during the callback. Null callbacks are
// not called.
#include "varve/listener.h"

#include "db/api/c/c_types.h"
#include "db/api/c/c_views.h"

using varve::c::Show;
using varve::c::ShowMutable;

namespace {

// The arguments of rocksdb_eventlistener_create.
struct Callbacks {
  void* state;
  void (*destructor)(void*);
  on_flush_begin_cb flush_begin;
  on_flush_completed_cb flush_completed;
  on_compaction_begin_cb compaction_begin;
  on_compaction_completed_cb compaction_completed;
  on_subcompaction_begin_cb subcompaction_begin;
  on_subcompaction_completed_cb subcompaction_completed;
  on_external_file_ingested_cb external_file_ingested;
  on_background_error_cb background_error;
  on_stall_conditions_changed_cb stall_conditions_changed;
  on_memtable_sealed_cb memtable_sealed;
};

// Holds a database's handle during a callback. It does not own the database.
class Borrowed {
 public:
  explicit Borrowed(varve::DB* db) { handle_.rep.reset(db); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  // Without this the handle would close the database.
  ~Borrowed() { (void)handle_.rep.release(); }

  rocksdb_t* get() { return &handle_; }

 private:
  rocksdb_t handle_;
};

// Passes the events of a database to C callbacks, and calls their destructor at the end.
class CallbackListener final : public varve::EventListener {
 public:
  explicit CallbackListener(const Callbacks& callbacks) : call_(callbacks) {}
  CallbackListener(const CallbackListener&) = delete;
  CallbackListener& operator=(const CallbackListener&) = delete;
  ~CallbackListener() override {
    if (call_.destructor != nullptr) call_.destructor(call_.state);
  }

  void OnFlushBegin(varve::DB* db, const varve::FlushJobInfo& info) override {
    Tell<rocksdb_flushjobinfo_t>(call_.flush_begin, db, &info);
  }
  void OnFlushCompleted(varve::DB* db, const varve::FlushJobInfo& info) override {
    Tell<rocksdb_flushjobinfo_t>(call_.flush_completed, db, &info);
  }
  void OnCompactionBegin(varve::DB* db, const varve::CompactionJobInfo& info) override {
    Tell<rocksdb_compactionjobinfo_t>(call_.compaction_begin, db, &info);
  }
  void OnCompactionCompleted(varve::DB* db, const varve::CompactionJobInfo& info) override {
    Tell<rocksdb_compactionjobinfo_t>(call_.compaction_completed, db, &info);
  }
  void OnSubcompactionBegin(const varve::SubcompactionJobInfo& info) override {
    Tell<rocksdb_subcompactionjobinfo_t>(call_.subcompaction_begin, &info);
  }
  void OnSubcompactionCompleted(const varve::SubcompactionJobInfo& info) override {
    Tell<rocksdb_subcompactionjobinfo_t>(call_.subcompaction_completed, &info);
  }
  void OnExternalFileIngested(varve::DB* db,
                              const varve::ExternalFileIngestionInfo& info) override {
    Tell<rocksdb_externalfileingestioninfo_t>(call_.external_file_ingested, db, &info);
  }
  void OnBackgroundError(varve::BackgroundErrorReason reason, varve::Status* bg_error) override {
    if (call_.background_error == nullptr) return;
    call_.background_error(call_.state, static_cast<uint32_t>(reason),
                           ShowMutable<rocksdb_status_ptr_t>(bg_error));
  }
  void OnStallConditionsChanged(const varve::WriteStallInfo& info) override {
    Tell<rocksdb_writestallinfo_t>(call_.stall_conditions_changed, &info);
  }
  void OnMemTableSealed(const varve::MemTableInfo& info) override {
    Tell<rocksdb_memtableinfo_t>(call_.memtable_sealed, &info);
  }

 private:
  template <typename View, typename Callback, typename Info>
  void Tell(Callback callback, varve::DB* db, const Info* info) const {
    if (callback == nullptr) return;
    Borrowed borrowed(db);
    callback(call_.state, borrowed.get(), Show<View>(info));
  }
  template <typename View, typename Callback, typename Info>
  void Tell(Callback callback, const Info* info) const {
    if (callback != nullptr) callback(call_.state, Show<View>(info));
  }

  const Callbacks call_;
};

}  // namespace

struct rocksdb_eventlistener_t {
  varve::c::Given<rocksdb_eventlistener_t, varve::EventListener> rep;
};

rocksdb_eventlistener_t* rocksdb_eventlistener_create(
    void* state, void (*destructor)(void*), on_flush_begin_cb on_flush_begin,
    on_flush_completed_cb on_flush_completed, on_compaction_begin_cb on_compaction_begin,
    on_compaction_completed_cb on_compaction_completed,
    on_subcompaction_begin_cb on_subcompaction_begin,
    on_subcompaction_completed_cb on_subcompaction_completed,
    on_external_file_ingested_cb on_external_file_ingested,
    on_background_error_cb on_background_error,
    on_stall_conditions_changed_cb on_stall_conditions_changed,
    on_memtable_sealed_cb on_memtable_sealed) {
  const Callbacks callbacks = {state,
                               destructor,
                               on_flush_begin,
                               on_flush_completed,
                               on_compaction_begin,
                               on_compaction_completed,
                               on_subcompaction_begin,
                               on_subcompaction_completed,
                               on_external_file_ingested,
                               on_background_error,
                               on_stall_conditions_changed,
                               on_memtable_sealed};
  return varve::c::Try([&] {
    return new rocksdb_eventlistener_t{
        varve::c::Given<rocksdb_eventlistener_t, varve::EventListener>(
            std::make_unique<CallbackListener>(callbacks))};
  });
}

void rocksdb_eventlistener_destroy(rocksdb_eventlistener_t* listener) {
  if (listener != nullptr) listener->rep.Destroy(listener);
}

void rocksdb_options_add_eventlistener(rocksdb_options_t* options,
                                       rocksdb_eventlistener_t* listener) {
  if (options == nullptr) return;
  varve::c::TryVoid([&] {
    if (listener == nullptr) {
      options->lacking.NoteHandle("rocksdb_options_add_eventlistener", true);
      return;
    }
    // The room comes first: Share makes the options an owner of the listener, and adding it must
    // not fail after that.
    options->rep.listeners.reserve(options->rep.listeners.size() + 1);
    options->rep.listeners.push_back(listener->rep.Share(listener));
  });
}

void rocksdb_status_ptr_get_error(rocksdb_status_ptr_t* status, char** errptr) {
  varve::c::Run(errptr, [&] {
    return status == nullptr ? varve::c::NullArgument("status") : *varve::c::Look(status);
  });
}

void rocksdb_reset_status(rocksdb_status_ptr_t* status_ptr) {
  if (status_ptr != nullptr) *varve::c::Look(status_ptr) = varve::Status::OK();
}
