// SPDX-License-Identifier: Apache-2.0

// Implements opening, closing, column families and snapshots.
//
// All forms of an opening become one OpenRequest and go through OpenDb, so that they differ in
// nothing but the request's fields:
//
//   DB::Open, OpenForReadOnly, OpenAsSecondary, OpenAsFollower
//     OpenDb            checks the places for the results
//       OpenImpl        recovers an engine, makes DbImpl and the handles; no background work yet
//       StartWork       listeners may use the DB from here on, so *dbptr is set before
//
// An engine outlives its DbImpl for as long as a handle or an iterator holds a family. So the
// destructor closes the engine first, which ends everything that uses files, and then only gives
// its own references back.
//
// A public call begins in one of three ways, from strict to loose: CheckWritable for what changes
// files, CheckOpen for what reads, CheckNotForked for the few calls that a closed database still
// answers, such as the release of a snapshot or a handle. A few that only return facts in memory,
// such as the identity, check nothing. A call that finds files by name also enters (EnterCall), and
// Close waits for it.

#include "db/api/db_impl.h"

#include <set>
#include <utility>

#include "varve/system_clock.h"

#include "db/background/jobs.h"
#include "db/follow/follower.h"
#include "db/follow/open_secondary.h"
#include "db/follow/secondary.h"
#include "db/observe/properties.h"
#include "db/recovery/close.h"
#include "db/recovery/families.h"
#include "db/recovery/log_options.h"
#include "db/recovery/open.h"
#include "db/recovery/start_work.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/info_log.h"
#include "util/options/validate_options.h"

namespace varve {

namespace {

void DeleteAll(std::vector<ColumnFamilyHandle*>* handles) {
  for (ColumnFamilyHandle* handle : *handles) delete handle;
  handles->clear();
}

// Returns the request with each family listed once, with the options of its first entry.
OpenRequest WithoutRepeats(OpenRequest request) {
  std::set<std::string> names;
  std::erase_if(request.families, [&names](const ColumnFamilyDescriptor& family) {
    return !names.insert(family.name).second;
  });
  return request;
}

// Opens a database whose background work has not begun. Sets *handles (may be null) to one handle
// for each entry of the request, in order; it is empty after an error. `secondary_path` is the
// directory for the LOG of a secondary or follower, otherwise null.
Status OpenImpl(const OpenRequest& request, std::vector<ColumnFamilyHandle*>* handles,
                std::unique_ptr<DbImpl>* result, const std::string* secondary_path = nullptr) try {
  const OpenRequest opened = WithoutRepeats(request);
  if (handles != nullptr) {
    handles->clear();
    handles->reserve(request.families.size());
  }
  // The handles' vector has its room before anything is opened: a push_back that failed behind the
  // opening would leave a database open that the caller does not get.
  std::shared_ptr<Engine> engine;
  std::unique_ptr<Secondary> secondary;
  Status s = secondary_path == nullptr
                 ? OpenEngine(opened, &engine)
                 : OpenSecondaryEngine(opened, *secondary_path, &engine, &secondary);
  if (!s.ok()) return s;
  VARVE_ASSERT(engine != nullptr && engine->jobs != nullptr);
  // If the constructor throws, there is no destructor that would close the engine, so it is closed
  // here.
  std::unique_ptr<DbImpl> db;
  s = Guarded([&] {
    db =
        std::make_unique<DbImpl>(engine, std::move(secondary), !request.follower_directory.empty());
  });
  if (!s.ok()) {
    CloseEngine(engine.get()).PermitUncheckedError();
    ReleaseFamilies(engine.get());
    return s;
  }
  // A name that is asked for twice gets two handles, each with a reference of its own, because the
  // caller destroys one handle for each name of the request.
  if (handles != nullptr) {
    Engine* e = db->engine();
    DbLock lock(&e->state.mu);
    for (const ColumnFamilyDescriptor& descriptor : request.families) {
      ColumnFamily* family = e->state.families.FindByName(descriptor.name);
      VARVE_ASSERT(family != nullptr);
      handles->push_back(new ColumnFamilyHandleImpl(family->shared_from_this()));
    }
  }
  *result = std::move(db);
  return s;
} catch (...) {
  const Status s = CaughtException();
  if (handles != nullptr) DeleteAll(handles);
  return s;
}

// Opens a database and starts its background work. After an error *dbptr is null and *handles is
// empty. Except for listeners of the recovery, no user code runs before both are set.
Status OpenDb(const OpenRequest& request, std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
              const std::string* secondary_path = nullptr) {
  if (dbptr == nullptr) return Status::InvalidArgument("open: the place for the DB is null");
  *dbptr = nullptr;
  std::unique_ptr<DbImpl> db;
  Status s = OpenImpl(request, handles, &db, secondary_path);
  if (!s.ok()) return s;
  const auto start = [&db] { db->StartWork(); };
  // The order matters to listeners: a flush that begins at once may call one that uses the pointer
  // that the program has passed to this function. VARVE_CANARY plants a bug in builds that test the
  // tests; in all others it is false.
  if (VARVE_CANARY(kWorkBeforeOpen)) s = Guarded(start);
  *dbptr = db.get();
  if (!VARVE_CANARY(kWorkBeforeOpen)) s = Guarded(start);
  if (s.ok()) {
    (void)db.release();
    return s;
  }
  // The work could not be started, usually for lack of a thread. The destructor of `db` closes the
  // database again. The handles are destroyed before, as the caller must not keep families of it.
  *dbptr = nullptr;
  if (handles != nullptr) DeleteAll(handles);
  return s;
}

// Opens a follower in its own directory `name`; the request's name is the leader's directory.
Status OpenFollower(OpenRequest leader, const std::string& name,
                    std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr) {
  if (dbptr == nullptr) return Status::InvalidArgument("open: the place for the DB is null");
  if (name.empty()) return Status::InvalidArgument("open as follower: the name is empty");
  // A follower is a secondary whose own directory has links to the leader's tables, and which a
  // thread of its own keeps up to date.
  leader.read_only = true;
  leader.follows = true;
  leader.follower_directory = name;
  DB* db = nullptr;
  const Status s = OpenDb(leader, handles, &db, &name);
  dbptr->reset(db);
  return s;
}

OpenRequest RequestFor(const DBOptions& options, const std::string& name,
                       const std::vector<ColumnFamilyDescriptor>& families) {
  OpenRequest request;
  request.options = options;
  request.name = name;
  request.families = families;
  return request;
}

OpenRequest DefaultFamilyOnly(const Options& options, const std::string& name) {
  return RequestFor(options, name, {{kDefaultColumnFamilyName, ColumnFamilyOptions(options)}});
}

Status NoSecondary() {
  return Status::NotSupported("the database is not open as a secondary");
}

// Makes the request one for reading. Options that only writers use get their defaults, in the
// database's options and in each family's, so that no opening for reads is refused for them.
void OnlyRead(OpenRequest* request) {
  request->read_only = true;
  request->options = ForReading(request->options);
  for (ColumnFamilyDescriptor& family : request->families) {
    family.options = ForReading(family.options);
  }
}

}  // namespace

Status OpenIdle(const DBOptions& options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db) try {
  std::unique_ptr<DbImpl> made;
  Status s = OpenImpl(RequestFor(options, name, families), handles, &made);
  *db = std::move(made);
  return s;
} catch (...) {
  return CaughtException();
}

Status DB::Open(const Options& options, const std::string& name, DB** dbptr) try {
  return OpenDb(DefaultFamilyOnly(options, name), nullptr, dbptr);
} catch (...) {
  return CaughtException();
}

Status DB::Open(const DBOptions& db_options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                std::vector<ColumnFamilyHandle*>* handles, DB** dbptr) try {
  return OpenDb(RequestFor(db_options, name, column_families), handles, dbptr);
} catch (...) {
  return CaughtException();
}

Status DB::OpenAndTrimHistory(const DBOptions& db_options, const std::string& name,
                              const std::vector<ColumnFamilyDescriptor>& column_families,
                              std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
                              std::string trim_ts) try {
  // All refusals come before the opening, since an opening writes files, and a refused call must
  // change nothing.
  constexpr char kCall[] = "OpenAndTrimHistory";
  if (dbptr == nullptr || handles == nullptr) {
    return Status::InvalidArgument(kCall, "a pointer is null");
  }
  if (db_options.avoid_flush_during_recovery) {
    return Status::InvalidArgument(kCall, "DBOptions::avoid_flush_during_recovery is set");
  }
  for (const ColumnFamilyDescriptor& family : column_families) {
    const Comparator* const order = family.options.comparator;
    const size_t size = order == nullptr ? 0 : order->timestamp_size();
    if (size == 0) continue;
    if (size != trim_ts.size()) {
      return Status::InvalidArgument(kCall, "column family " + family.name + " has timestamps of " +
                                                std::to_string(size) + " bytes, trim_ts has " +
                                                std::to_string(trim_ts.size()));
    }
    if (family.options.compaction_style == kCompactionStyleFIFO) {
      return Status::NotSupported(kCall, "column family " + family.name +
                                             " has FIFO compaction, which rewrites no tables; open "
                                             "it with another style for this");
    }
  }
  Status s = Open(db_options, name, column_families, handles, dbptr);
  if (!s.ok()) return s;
  for (ColumnFamilyHandle* handle : *handles) {
    if (handle->GetComparator()->timestamp_size() == 0) continue;
    s = static_cast<DbImpl*>(*dbptr)->TrimHistory(handle, trim_ts);
    if (!s.ok()) break;
  }
  if (s.ok()) return s;
  // After a failure the caller gets no database: a half trimmed one would show histories that end
  // at different moments. What was trimmed stays trimmed, and the next call does the rest.
  for (ColumnFamilyHandle* handle : *handles) {
    (*dbptr)->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  handles->clear();
  delete *dbptr;
  *dbptr = nullptr;
  return s;
} catch (...) {
  return CaughtException();
}

Status DB::OpenForReadOnly(const Options& options, const std::string& name, DB** dbptr,
                           bool error_if_wal_file_exists) try {
  OpenRequest request = DefaultFamilyOnly(options, name);
  OnlyRead(&request);
  request.error_if_wal_file_exists = error_if_wal_file_exists;
  return OpenDb(request, nullptr, dbptr);
} catch (...) {
  return CaughtException();
}

Status DB::OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
                           bool error_if_wal_file_exists) try {
  OpenRequest request = RequestFor(db_options, name, column_families);
  OnlyRead(&request);
  request.error_if_wal_file_exists = error_if_wal_file_exists;
  return OpenDb(request, handles, dbptr);
} catch (...) {
  return CaughtException();
}

Status DB::OpenAsSecondary(const Options& options, const std::string& name,
                           const std::string& secondary_path, DB** dbptr) try {
  OpenRequest request = DefaultFamilyOnly(options, name);
  request.read_only = true;
  request.follows = true;
  return OpenDb(request, nullptr, dbptr, &secondary_path);
} catch (...) {
  return CaughtException();
}

Status DB::OpenAsSecondary(const DBOptions& db_options, const std::string& name,
                           const std::string& secondary_path,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, DB** dbptr) try {
  OpenRequest request = RequestFor(db_options, name, column_families);
  request.read_only = true;
  request.follows = true;
  return OpenDb(request, handles, dbptr, &secondary_path);
} catch (...) {
  return CaughtException();
}

Status DB::OpenAsFollower(const Options& options, const std::string& name,
                          const std::string& leader_path, std::unique_ptr<DB>* dbptr) try {
  if (dbptr != nullptr) dbptr->reset();
  return OpenFollower(DefaultFamilyOnly(options, leader_path), name, nullptr, dbptr);
} catch (...) {
  return CaughtException();
}

Status DB::OpenAsFollower(const DBOptions& db_options, const std::string& name,
                          const std::string& leader_path,
                          const std::vector<ColumnFamilyDescriptor>& column_families,
                          std::vector<ColumnFamilyHandle*>* handles,
                          std::unique_ptr<DB>* dbptr) try {
  if (dbptr != nullptr) dbptr->reset();
  return OpenFollower(RequestFor(db_options, leader_path, column_families), name, handles, dbptr);
} catch (...) {
  return CaughtException();
}

Status DB::ListColumnFamilies(const DBOptions& db_options, const std::string& name,
                              std::vector<std::string>* column_families) try {
  Env* env = db_options.env != nullptr ? db_options.env : Env::Default();
  return VersionSet::ListFamilies(name, env->GetFileSystem().get(), column_families);
} catch (...) {
  return CaughtException();
}

DbImpl::DbImpl(std::shared_ptr<Engine> engine, std::unique_ptr<Secondary> secondary,
               bool follows_by_itself)
    : engine_(std::move(engine)), secondary_(std::move(secondary)) {
  // The fork guard comes first: in the child of any fork() from here on, it marks the database as
  // forked, and calls are refused (Lifecycle::CheckNotForked).
  fork_guard_.Watch(&engine_->lifecycle);
  if (follows_by_itself) follower_ = std::make_unique<Follower>(engine_.get(), secondary_.get());
  DbLock lock(&engine_->state.mu);
  ColumnFamily* const family = engine_->state.families.FindById(0);
  VARVE_ASSERT(family != nullptr);
  // The database's own handles are not counted, as Close reports only those that users hold.
  default_handle_ = std::make_unique<ColumnFamilyHandleImpl>(family->shared_from_this(),
                                                             /*counted=*/false);
  ColumnFamily* const statistics = engine_->state.families.FindByName(kStatisticsFamilyName);
  if (statistics == nullptr || !engine_->context.options().persist_stats_to_disk) return;
  statistics_handle_ = std::make_unique<ColumnFamilyHandleImpl>(statistics->shared_from_this(),
                                                                /*counted=*/false);
}

void DbImpl::StartWork() {
  // Programs that read the LOG look for this line, which ends the list of options.
  LogHeader(engine_->context.info_log(), "DB pointer %p", static_cast<void*>(this));
  PeriodicStatistics statistics;
  statistics.describe = [e = engine_.get()] { return DescribeStatistics(e); };
  if (statistics_handle_ != nullptr) {
    statistics.store = [this](uint64_t seconds, const StatisticsHistory::Counts& growth) {
      return StoreStatisticsRecord(seconds, growth);
    };
  }
  StartBackgroundWork(engine_.get(), this, std::move(statistics));
  if (follower_ != nullptr) follower_->Start();
}

DbImpl::~DbImpl() {
  if (!CheckNotForked().ok()) {
    // Files, threads and locks are the parent's: the child releases nothing.
    engine_->lifecycle.KeepInChild(engine_);
    return;
  }
  // The destructor cannot refuse. It undoes every LockWAL, because a flush of the closing would
  // wait for the lock for ever.
  while (UnlockWAL().ok()) {
  }
  BestEffort([this] {
    const std::string held = engine_->lifecycle.OutstandingReferences(engine_->state.snapshots);
    if (held.empty()) return;
    LogWarn(engine_->context.info_log(), "the database goes, unreleased: %s", held.c_str());
  });
  // The order is that of use: closing ends the follower's attempts and all jobs; then its thread is
  // joined; then the families are released.
  CloseEngine(engine_.get()).PermitUncheckedError();
  VARVE_ASSERT(engine_->lifecycle.closed());
  follower_.reset();
  default_handle_.reset();
  statistics_handle_.reset();
  ReleaseFamilies(engine_.get());
  engine_->context.set_db(nullptr);
}

Status DbImpl::Close() try {
  // The thread may have come from work that Close would wait for: a write's callback, a job's
  // listener, another call. It would wait for itself, so this is refused as Busy and nothing is
  // closed.
  Status s = CheckNotForked();
  if (s.ok()) s = RefuseHeldUp("Close", ActiveWork::kCommit, engine_->state.commit.get());
  if (s.ok() && !VARVE_CANARY(kWaitInCallback)) {
    s = RefuseHeldUp("Close", ActiveWork::kAny, &engine_->lifecycle);
  }
  // The job that writes the OPTIONS file is registered under its keeper alone.
  if (s.ok()) s = RefuseHeldUp("Close", ActiveWork::kOptions, &engine_->jobs->options_keeper);
  if (!s.ok()) return s;
  s = CloseEngine(engine_.get(), WhenHeld::kRefuse);
  // Closing may have been refused, as by a held snapshot; then the follower keeps running.
  if (follower_ != nullptr && engine_->lifecycle.closed()) follower_->Stop();
  return s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::CheckOpen(const OpenCall& call) const {
  if (call.inside()) return Status::OK();
  Status s = CheckNotForked();
  return s.ok() ? Status::ShutdownInProgress("the database is closed") : s;
}

Status DbImpl::CheckWritable(const OpenCall& call) const {
  Status s = CheckOpen(call);
  // Nearly all such calls change the MANIFEST. In a callback of the thread that writes it they
  // would wait for themselves.
  if (s.ok()) s = RefuseHeldUp("call", ActiveWork::kManifest, engine_->state.versions.get());
  return s.ok() ? CheckWritable() : s;
}

Status DbImpl::CheckWritable() const {
  Status s = CheckOpen();
  if (s.ok() && engine_->context.read_only()) {
    s = Status::NotSupported(engine_->context.follows() ? "the database is open as a secondary"
                                                        : "the database was opened read-only");
  }
  return s;
}

Status DbImpl::Resume() try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  return s.ok() ? engine_->jobs->recovery.Resume() : s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::ResolveAll(const std::vector<ColumnFamilyHandle*>& handles,
                          std::vector<ColumnFamily*>* families) const {
  VARVE_ASSERT(families->empty());
  Status s;
  for (ColumnFamilyHandle* handle : handles) {
    ColumnFamily* family = engine_->state.Resolve(handle, &s);
    if (family == nullptr) return s;
    families->push_back(family);
  }
  return s;
}

Status DbImpl::CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                                  ColumnFamilyHandle** handle) try {
  if (handle == nullptr) return Status::InvalidArgument("create column family: handle is null");
  *handle = nullptr;
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  if (!s.ok()) return s;
  std::unique_ptr<ColumnFamilyHandle> made;
  {
    // Writers find families by id while they hold no lock, so the set of families changes only
    // while all of them are kept out.
    const ExclusiveCommit exclusive(engine_->state.commit.get());
    s = CreateFamily(engine_.get(), ColumnFamilyDescriptor(name, options), &made);
  }
  if (!s.ok()) return s;
  VARVE_ASSERT(made != nullptr);
  // The family exists from here on, whatever happens: what fails below must not take the handle
  // from the caller.
  BestEffort([&] {
    ColumnFamilyDescriptor created;
    if (made->GetDescriptor(&created).ok()) LogFamilyOptions(engine_->context.info_log(), created);
  });
  *handle = made.release();
  return engine_->jobs->options_keeper.Changed();
} catch (...) {
  return CaughtException();
}

Status DbImpl::CreateColumnFamilies(const ColumnFamilyOptions& options,
                                    const std::vector<std::string>& names,
                                    std::vector<ColumnFamilyHandle*>* handles) try {
  std::vector<ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : names) descriptors.emplace_back(name, options);
  return CreateColumnFamilies(descriptors, handles);
} catch (...) {
  return CaughtException();
}

Status DbImpl::CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& descriptors,
                                    std::vector<ColumnFamilyHandle*>* handles) try {
  if (handles == nullptr) return Status::InvalidArgument("create column families: handles is null");
  handles->clear();
  for (const ColumnFamilyDescriptor& descriptor : descriptors) {
    ColumnFamilyHandle* handle = nullptr;
    Status s = CreateColumnFamily(descriptor.options, descriptor.name, &handle);
    // The family may exist although its options could not be written down.
    if (handle != nullptr) handles->push_back(handle);
    if (!s.ok()) return s;
  }
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status DbImpl::CheckDroppable(ColumnFamilyHandle* handle) const {
  VARVE_RETURN_IF_ERROR(CheckHandle(handle));
  return handle->GetID() != 0
             ? Status::OK()
             : Status::InvalidArgument("drop column family: the default family cannot be dropped");
}

Status DbImpl::DropOne(ColumnFamilyHandle* handle) try {
  Engine& e = *engine_;
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  if (s.ok()) s = CheckDroppable(handle);
  ColumnFamily* const family = s.ok() ? e.state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  {
    const ExclusiveCommit exclusive(e.state.commit.get());
    s = DropFamily(&e, family);
    // The commit path is still held exclusively, so no new family of that name can have logged
    // headers yet, which this call would remove.
    if (s.ok()) BestEffort([&] { ForgetFamilyOptions(e.context.info_log(), family->name()); });
  }
  {
    DbLock lock(&e.state.mu);
    // The dropped family may have been the only one that stalled writes. Listeners are told when
    // writers are no longer kept out, as they may write.
    e.stalls.Tell();
  }
  if (!s.ok()) return s;
  VARVE_ASSERT(family->dropped());
  return e.jobs->options_keeper.Changed();
} catch (...) {
  return CaughtException();
}

Status DbImpl::DropColumnFamily(ColumnFamilyHandle* handle) {
  return DropOne(handle);
}

Status DbImpl::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& handles) try {
  // All handles are checked before the first family is dropped, so that a bad one changes nothing.
  for (ColumnFamilyHandle* handle : handles) VARVE_RETURN_IF_ERROR(CheckDroppable(handle));
  for (ColumnFamilyHandle* handle : handles) {
    Status s = DropOne(handle);
    if (!s.ok()) return s;
  }
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status DbImpl::DestroyColumnFamilyHandle(ColumnFamilyHandle* handle) try {
  if (Status s = CheckNotForked(); !s.ok()) return s;
  VARVE_RETURN_IF_ERROR(CheckHandle(handle));
  if (handle == default_handle_.get()) {
    return Status::InvalidArgument("the default column family's handle belongs to the DB");
  }
  delete handle;
  // From here on the call has succeeded: an error would let the caller destroy the handle again. A
  // purge that fails for lack of memory leaves files for the next one.
  BestEffort([this] {
    const OpenCall call = EnterCall();
    if (!call.inside() || engine_->context.read_only()) return;
    DbLock lock(&engine_->state.mu);
    // The handle may have been the last holder of a dropped family, whose files are obsolete now.
    // In a closed or read-only database no files are deleted.
    engine_->jobs->obsolete.Purge();
  });
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status DbImpl::TryCatchUpWithPrimary() try {
  const OpenCall call = EnterCall();
  VARVE_RETURN_IF_ERROR(CheckOpen(call));
  if (secondary_ == nullptr) return NoSecondary();
  return secondary_->CatchUp();
} catch (...) {
  return CaughtException();
}

Status DbImpl::GetSecondaryLag(SecondaryLag* lag) try {
  if (lag == nullptr) return Status::InvalidArgument("GetSecondaryLag: lag is null");
  const OpenCall call = EnterCall();
  VARVE_RETURN_IF_ERROR(CheckOpen(call));
  if (secondary_ == nullptr) return NoSecondary();
  return secondary_->Lag(lag);
} catch (...) {
  return CaughtException();
}

Status DbImpl::Promote(const PromoteOptions& options) try {
  const OpenCall call = EnterCall();
  VARVE_RETURN_IF_ERROR(CheckOpen(call));
  if (secondary_ == nullptr) return NoSecondary();
  const DbContext& context = engine_->context;
  DataMoveInfo info;
  info.kind = DataMoveInfo::Kind::kPromotion;
  info.path = GetName();
  const uint64_t begin = context.MonotonicMicros();
  // The reported time includes the start of background work, as writers wait for it. Listeners are
  // told of a failure, too.
  info.status = secondary_->Promote(options);
  if (info.status.ok()) {
    StartWork();
    info.status = engine_->jobs->options_keeper.Changed();
  }
  info.micros = context.MonotonicMicros() - begin;
  info.sequence = engine_->state.versions->last_sequence();
  LogInfo(context.info_log(), "promotion of %s: %s, %llu us", context.name().c_str(),
          info.status.ToString().c_str(), static_cast<unsigned long long>(info.micros));
  for (const std::shared_ptr<EventListener>& listener : context.options().listeners) {
    BestEffort([&] { listener->OnDataMoved(this, info); });
  }
  return info.status;
} catch (...) {
  return CaughtException();
}

const Snapshot* DbImpl::GetSnapshot() {
  return TakeSnapshot(/*timestamp=*/UINT64_MAX, /*holds_evidence=*/false);
}

const Snapshot* DbImpl::CheckedSnapshot() {
  return TakeSnapshot(/*timestamp=*/UINT64_MAX, /*holds_evidence=*/true);
}

const Snapshot* DbImpl::TimestampedSnapshot(uint64_t timestamp) {
  return TakeSnapshot(timestamp, /*holds_evidence=*/false);
}

bool DbImpl::HoldsIngestionsUp() const {
  if (active_work::innermost == nullptr) [[likely]]
    return false;
  // An ingestion waits for flushes, for writers, and for the MANIFEST. A thread that runs in a
  // callback of any of these would wait for an ingestion that waits for it.
  constexpr uint32_t kOfLifecycle =
      ActiveWork::kFlush | ActiveWork::kIngestion | ActiveWork::kRecovery;
  return ActiveWork::Find(kOfLifecycle, &engine_->lifecycle) != nullptr ||
         ActiveWork::Find(ActiveWork::kCommit | ActiveWork::kLog, engine_->state.commit.get()) !=
             nullptr ||
         ActiveWork::Find(ActiveWork::kManifest, engine_->state.versions.get()) != nullptr;
}

const Snapshot* DbImpl::TakeSnapshot(uint64_t timestamp, bool holds_evidence) try {
  if (!CheckOpen().ok()) return nullptr;
  // The time is read before the snapshot is taken, so that it is not later than the moment that the
  // snapshot shows: DBWithTTL judges by it what has expired.
  int64_t now = 0;
  engine_->context.clock()->GetCurrentTime(&now).PermitUncheckedError();
  // With unordered writes the newest numbers may still be on their way into memtables. A snapshot
  // that covered them would change while it is read.
  engine_->state.commit->WaitUntilVisible();
  // A compaction reads the list of snapshots under this mutex. The number is read and listed in one
  // hold of it, so that no compaction drops what the snapshot shows in between.
  DbLock lock(&engine_->state.mu);
  // An ingestion that has its place in the order, but whose tables readers do not have yet, would
  // appear beneath this snapshot later. The wait releases the mutex, so the database may have been
  // closed meanwhile.
  if (engine_->state.ingest_windows.any()) {
    if (HoldsIngestionsUp()) return nullptr;
    engine_->state.ingest_windows.AwaitNone();
    if (engine_->lifecycle.closed()) return nullptr;
  }
  // Close has counted the held snapshots, so none is taken after it.
  if (engine_->lifecycle.closed()) return nullptr;
  return engine_->state.snapshots.Acquire(engine_->state.versions->last_sequence(), now, timestamp,
                                          holds_evidence);
} catch (...) {
  return nullptr;
}

void DbImpl::ReleaseSnapshot(const Snapshot* snapshot) {
  if (snapshot == nullptr || !CheckNotForked().ok()) return;
  // A job may wait until nothing older than some number is held, to drop what only this snapshot
  // needed. Exactly one release is told to wake it.
  bool awaited = false;
  (void)engine_->state.snapshots.Release(snapshot, &awaited);
  if (awaited) engine_->jobs->compaction.NoteSnapshotsGone();
}

SequenceNumber DbImpl::GetLatestSequenceNumber() const {
  // With unordered writes a write may return before it is visible. The newest assigned number then
  // covers all writes that have returned.
  return engine_->context.options().unordered_write ? engine_->state.commit->NewestSequence()
                                                    : engine_->state.versions->last_sequence();
}

ManagedSnapshot::ManagedSnapshot(DB* db) : db_(db), snapshot_(db->GetSnapshot()) {}

ManagedSnapshot::ManagedSnapshot(DB* db, const Snapshot* snapshot) : db_(db), snapshot_(snapshot) {}

ManagedSnapshot::~ManagedSnapshot() {
  if (snapshot_ != nullptr) db_->ReleaseSnapshot(snapshot_);
}

}  // namespace varve
