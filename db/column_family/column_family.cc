// SPDX-License-Identifier: Apache-2.0

// A read needs a reference to a super-version, and must not take a lock for that. So each thread
// has a slot (util/sync/thread_slots.h) in which the family keeps one reference for it:
//
//     slot holds        meaning
//     a super-version   the thread may take it: Borrow exchanges it for kInUse
//     kInUse            the thread is reading with it now; Return puts it back
//     null              a newer one was installed (Scrape): take the newest under the DB mutex
//
// Installing a newer one empties all slots, and releases the references in them. A thread that is
// reading meanwhile finds its slot changed in Return, and releases the reference itself. So a read
// that begins after an installation sees the new super-version, or a newer one.
//
// A memtable moves through these lists, the oldest first:
//
//     mem_         takes writes
//     immutables_  takes no more writes, waits to be flushed (DropFlushed)
//     history_     flushed, kept only because max_write_buffer_size_to_maintain asks for it
//     released_    only readers keep it alive: counted, not owned
//
// Changes first reserve the memory that they need, so that no memtable is lost if an allocation
// fails.

#include "db/column_family/column_family.h"

#include <algorithm>
#include <cassert>

#include "varve/memtablerep.h"

#include "db/version/obsolete_file_queue.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

// Value of a thread's slot while that thread reads; never dereferenced.
char in_use_marker;
void* const kInUse = &in_use_marker;

MemTableOptions MakeMemTableOptions(const ColumnFamilyOptions& options,
                                    std::shared_ptr<WriteBufferManager> wbm) {
  MemTableOptions result;
  result.rep = FindMemTableRep(options.memtable_factory->NickName());
  result.arena_block_bytes = options.arena_block_size;
  result.write_buffer_bytes = options.write_buffer_size;
  result.prefix_bloom_size_ratio = options.memtable_prefix_bloom_size_ratio;
  result.whole_key_filtering = options.memtable_whole_key_filtering;
  result.prefix_extractor = options.prefix_extractor;
  result.protection_bytes = options.memtable_protection_bytes_per_key;
  result.write_buffer_manager = std::move(wbm);
  return result;
}

}  // namespace

ReadGuard::ReadGuard(ColumnFamily* family, const Snapshot* snapshot)
    : family_(family),
      // A past super-version is not in the thread's slot, so a counted reference is needed.
      of_past_(snapshot != nullptr && family->keeps_past()),
      super_version_(of_past_ ? family->AcquireAt(snapshot) : family->Borrow()) {}

ReadGuard::~ReadGuard() {
  of_past_ ? (void)super_version_->Unref() : family_->Return(super_version_);
}

// The family has no memtable and no super-version yet: the first calls of SwitchMemTable and
// InstallSuperVersion set them.
ColumnFamily::ColumnFamily(std::shared_ptr<FamilyVersions> versions,
                           std::shared_ptr<const ColumnFamilyOptions> options,
                           const FamilyEnvironment& env)
    : id_(versions->id),
      name_(versions->name),
      remembered_merge_operator_(versions->merge_operator),
      versions_(std::move(versions)),
      env_(env),
      ingested_ranges_(versions_->icmp.get()),
      has_merge_operator_(options->merge_operator != nullptr),
      takes_range_deletions_(options->table_factory == nullptr ||
                             options->table_factory->IsDeleteRangeSupported()),
      options_(options),
      options_as_set_(std::move(options)),
      max_range_deletions_(options_->memtable_max_range_deletions),
      max_successive_merges_(options_->max_successive_merges),
      slots_(&ColumnFamily::ReleaseSlot, kInUse) {
  TableCacheOptions cache_options = env_.table_cache;
  cache_options.icmp = versions_->icmp.get();
  cache_options.cf_options = options_;
  cache_options.family_id = versions_->id;
  table_cache_ = std::make_shared<TableCache>(std::move(cache_options));
  SetTrace(env_.query_trace, id_);
}

// Needs no lock, as there are no other references.
ColumnFamily::~ColumnFamily() VARVE_NO_THREAD_SAFETY_ANALYSIS {
  VARVE_ASSERT(running_compactions.empty() && flushes_running == 0);
  if (super_version_ != nullptr) super_version_->Unref();
  for (const auto& [limit, past] : past_) past->Unref();
  // The files of a dropped family become obsolete when its last holder releases it.
  if (dropped()) versions_->current.reset();
}

void ColumnFamily::ReleaseSlot(void* super_version) {
  static_cast<SuperVersion*>(super_version)->Unref();
}

void ColumnFamily::MarkDropped() {
  // Writers read the first flag without a lock; the version set reads the other under the mutex.
  dropped_.store(true, std::memory_order_release);
  versions_->dropped = true;
}

std::shared_ptr<const ColumnFamilyOptions> ColumnFamily::options() const {
  MutexLock lock(&options_mu_);
  return options_;
}

std::shared_ptr<const ColumnFamilyOptions> ColumnFamily::options_as_set() const {
  MutexLock lock(&options_mu_);
  return options_as_set_;
}

void ColumnFamily::SetOptions(std::shared_ptr<const ColumnFamilyOptions> options,
                              std::shared_ptr<const ColumnFamilyOptions> as_set) {
  max_range_deletions_.store(options->memtable_max_range_deletions, std::memory_order_relaxed);
  max_successive_merges_.store(options->max_successive_merges, std::memory_order_relaxed);
  MutexLock lock(&options_mu_);
  options_ = std::move(options);
  options_as_set_ = std::move(as_set);
}

std::shared_ptr<MemTable> ColumnFamily::NewMemTable(SequenceNumber earliest_seq) {
  NoteKeyPrefix();
  MemTableOptions mem_options = MakeMemTableOptions(*options(), env_.write_buffer_manager);
  mem_options.expected_prefix = key_prefix_;
  // Keys may be compared after a common prefix only if the comparator treats keys as equal exactly
  // if their bytes are.
  mem_options.learns_prefix =
      !key_prefix_known_ && mem_options.rep->tells_prefix && BytesDecide(icmp().order());
  return MakeMemTable(mem_options, earliest_seq);
}

std::shared_ptr<MemTable> ColumnFamily::MakeMemTable(const MemTableOptions& mem_options,
                                                     SequenceNumber earliest_seq) {
  // Ids ascend in the order of switches, so that of two memtables the one with the larger id is
  // newer.
  auto mem = std::make_shared<MemTable>(icmp(), mem_options, next_memtable_id_++);
  mem->set_earliest_seq(earliest_seq);
  return mem;
}

// Used while logs are replayed, before other threads have the family.
void ColumnFamily::RenewMemTable(bool is_read) VARVE_NO_THREAD_SAFETY_ANALYSIS {
  VARVE_ASSERT(mem_->Empty() && super_version_ == nullptr);
  if (is_read) {
    mem_ = NewMemTable(mem_->earliest_seq());
    return;
  }
  // Entries that are replayed only to be flushed need neither order nor filter until then, so they
  // are appended to a vector that is sorted once.
  MemTableOptions mem_options = MakeMemTableOptions(*options(), env_.write_buffer_manager);
  mem_options.rep = &kVectorRep;
  mem_options.prefix_bloom_size_ratio = 0;
  mem_ = MakeMemTable(mem_options, mem_->earliest_seq());
}

// The prefix only becomes shorter from memtable to memtable, so it converges even if keys keep
// changing.
void ColumnFamily::NoteKeyPrefix() {
  std::string seen;
  if (mem_ == nullptr || !mem_->CommonPrefix(&seen)) return;
  if (key_prefix_known_) seen.resize(Slice(seen).difference_offset(key_prefix_));
  key_prefix_ = std::move(seen);
  key_prefix_known_ = true;
}

// A memtable compares keys faster after their common prefix. The first memtable of a family has to
// learn it from its first keys; it is then still small, and is copied to one that knows the prefix.
// A failure is logged, and only costs speed.
void ColumnFamily::LearnKeyPrefix() {
  if (!ShouldLearnKeyPrefix()) return;
  // A copy, since MoveToLearned may replace mem_.
  const std::shared_ptr<MemTable> mem = mem_;
  const Status s = Guarded([&] {
    env_.db_mutex.get()->AssertHeld();
    NoteKeyPrefix();
    if (key_prefix_known_) {
      // These are the first of many keys: later ones may have a shorter common prefix.
      if (!key_prefix_.empty()) key_prefix_.pop_back();
      if (!key_prefix_.empty()) MoveToLearned();
    }
  });
  if (!s.ok()) LogWarn(env_.info_log, "[%s] %s", name_.c_str(), s.ToString().c_str());
  // In any case the memtable does not request this again at once.
  key_prefix_known_ ? mem->StopLearning() : mem->LearnLater();
}

void ColumnFamily::MoveToLearned() {
  std::shared_ptr<MemTable> fresh = NewMemTable(mem_->earliest_seq());
  bool copied = false;
  const Status s = mem_->CopyTo(fresh.get(), &copied);
  s.PermitUncheckedError();  // the copy is not used then
  if (!copied) return;
  // Room for the old memtable, and for all memtables that may move there from the other lists
  // later, without an allocation (SwitchMemTable).
  released_.reserve(released_.size() + history_.size() + immutables_.size() + 1);
  Activate(&fresh);
  AddReleased(fresh);  // the old memtable, for which Activate has exchanged the new one
}

// Requires the DB mutex and the commit path, except before there are readers, which the
// thread-safety analysis cannot express.
void ColumnFamily::Activate(std::shared_ptr<MemTable>* mem) VARVE_NO_THREAD_SAFETY_ANALYSIS {
  // The old memtable becomes immutable only after the installation: if that throws, it is written
  // to as before.
  mem_.swap(*mem);
  try {
    if (super_version_ != nullptr) InstallSuperVersion();
  } catch (...) {
    mem_.swap(*mem);
    throw;
  }
  (*mem)->Freeze();
}

void ColumnFamily::RenewEpochs() {
  for (ImmutableMemTable& imm : immutables_) imm.epoch_number = versions_->next_epoch_number++;
}

// Does the steps that may fail first: it reserves room in all lists that the old memtable will move
// through, adds it to immutables_, and calls Activate. Thread-safety analysis is off since an
// opening, which has exclusive use of the family, holds no mutex.
void ColumnFamily::SwitchMemTable(std::shared_ptr<MemTable> fresh,
                                  uint64_t log_number) VARVE_NO_THREAD_SAFETY_ANALYSIS {
  VARVE_ASSERT(fresh != nullptr && fresh->Empty());
  if (mem_ == nullptr) {
    mem_ = std::move(fresh);
    return;
  }
  // After this, moving the memtable through the lists needs no memory.
  history_.reserve(history_.size() + immutables_.size() + 1);
  released_.reserve(released_.size() + history_.size() + immutables_.size() + 1);
  // The epoch is assigned now, because a table that is ingested while this memtable waits is newer
  // than its entries.
  immutables_.push_back(ImmutableMemTable{mem_, versions_->next_epoch_number++});
  try {
    Activate(&fresh);
  } catch (...) {
    immutables_.pop_back();
    throw;
  }
  // After Activate `fresh` is the old memtable. Its entries are in logs below this number, which
  // its flush makes obsolete.
  fresh->set_next_log_number(log_number);
  if (fresh->has_unlogged()) {
    // A memtable does not know which of its writes were unlogged, so all of its numbers count.
    unlogged_numbers_.Add(fresh->earliest_seq(), mem_->earliest_seq() - 1);
  }
  TrimHistory();
}

bool ColumnFamily::MayHaveUnlogged(SequenceNumber first, SequenceNumber last) const {
  if (mem_->has_unlogged() && last >= mem_->earliest_seq()) return true;
  return unlogged_numbers_.MayHold(first, last);
}

size_t ColumnFamily::unpicked_count() const {
  return static_cast<size_t>(std::ranges::count(immutables_, false, &ImmutableMemTable::picked));
}

void ColumnFamily::DropFlushed(size_t n) {
  VARVE_ASSERT(n <= immutables_.size());
  // The switch has reserved room in the lists, so nothing here can fail: the tables are installed
  // already.
  const bool keep = options()->max_write_buffer_size_to_maintain > 0;
  for (size_t i = 0; i < n; i++) {
    if (keep) {
      history_.push_back(immutables_[i].mem);
    } else {
      AddReleased(immutables_[i].mem);
    }
  }
  immutables_.erase(immutables_.begin(), immutables_.begin() + static_cast<ptrdiff_t>(n));
  TrimHistory();
}

void ColumnFamily::TrimHistory(bool all) {
  if (history_.empty()) return;
  const auto limit = static_cast<uint64_t>(options()->max_write_buffer_size_to_maintain);
  // The limit is for all memtables together, so a large active one leaves less room for history.
  uint64_t bytes = MemTableBytes() + HistoryBytes();
  while (!history_.empty() && (all || bytes > limit)) {
    bytes -= history_.front()->MemoryUsage();
    AddReleased(history_.front());
    history_.erase(history_.begin());
  }
}

void ColumnFamily::AddReleased(const std::shared_ptr<MemTable>& mem) {
  // Expired entries are removed, so the list only grows with the memtables that readers keep alive.
  std::erase_if(released_, [](const auto& gone) { return gone.expired(); });
  released_.push_back(mem);
}

size_t ColumnFamily::PinnedMemTableBytes() {
  size_t bytes = 0;
  for (const auto& gone : released_) {
    const std::shared_ptr<const MemTable> mem = gone.lock();
    if (mem != nullptr) bytes += mem->MemoryUsage();
  }
  return bytes;
}

size_t ColumnFamily::HistoryBytes() const {
  size_t bytes = 0;
  for (const auto& mem : history_) bytes += mem->MemoryUsage();
  return bytes;
}

size_t ColumnFamily::MemTableBytes() const {
  size_t bytes = mem_->MemoryUsage();
  for (const ImmutableMemTable& imm : immutables_) bytes += imm.mem->MemoryUsage();
  return bytes;
}

uint64_t ColumnFamily::OldestLogNeeded(uint64_t current_log) const {
  // A family without data in memory needs no old log, even if its log number is still that of its
  // last flush.
  if (immutables_.empty() && mem_->Empty()) return current_log;
  return versions_->log_number;
}

LevelShape ColumnFamily::ComputeShape() const {
  ShapeMoment moment;
  if (env_.oldest_snapshot != nullptr) moment.oldest_snapshot = env_.oldest_snapshot();
  int64_t now = 0;
  if (env_.clock != nullptr && env_.clock->GetCurrentTime(&now).ok() && now > 0) {
    moment.now = static_cast<uint64_t>(now);
  }
  LevelShape shape = ComputeLevelShape(*versions_->current, *options(), moment);
  // With a limit of open files, tables do not stay open, so none are to be opened.
  if (table_cache_->options().limited != nullptr) shape.due.unopened.clear();
  return shape;
}

void ColumnFamily::MeasureShape() {
  shape_ = ComputeShape();
  // Some files may not be worth compacting before a snapshot is released: await_snapshots then
  // arranges another call. If it returns true, the snapshot was released meanwhile, so the shape is
  // computed again at once.
  while (shape_.due.waits_for_snapshot != kMaxSequenceNumber && env_.await_snapshots != nullptr &&
         env_.await_snapshots(shape_.due.waits_for_snapshot)) {
    shape_ = ComputeShape();
  }
}

// Makes the new super-version, replaces the old one, and invalidates the references to that in
// threads' slots. Readers that use the old one continue until they release it.
void ColumnFamily::InstallSuperVersion() {
  VARVE_ASSERT(mem_ != nullptr && versions_->current != nullptr);
  // All allocations come before the replacement, so that a failure leaves the old super-version in
  // place. Readers search the newest memtable first, while immutables_ begins with the oldest.
  std::vector<std::shared_ptr<MemTable>> immutables;
  immutables.reserve(immutables_.size());
  for (auto it = immutables_.rbegin(); it != immutables_.rend(); ++it)
    immutables.push_back(it->mem);
  std::shared_ptr<const ColumnFamilyOptions> cf_options = options();
  MeasureShape();
  const uint64_t number = super_version_number_.load(std::memory_order_relaxed) + 1;
  SuperVersion* old = super_version_;
  const MergeCaller merger(cf_options->merge_operator.get(), env_.info_log,
                           env_.table_cache.statistics, remembered_merge_operator_);
  super_version_ = new SuperVersion(number, mem_, std::move(immutables), versions_->current,
                                    std::move(cf_options), table_cache_, merger,
                                    versions_->full_history_ts_low, sequence_limit_);
  // Nothing throws from here on. Tables are not closed here, as the DB mutex is held and closing
  // one may take long.
  const ObsoleteFileQueue::LeaveOpen leave_open;
  // The number is stored before the slots are emptied: an iterator that compares numbers must not
  // take an old super-version for the newest when other threads cannot get it any more.
  super_version_number_.store(number, std::memory_order_release);
  slots_.Scrape();
  if (old != nullptr) old->Unref();
}

// Usually this is one exchange with the thread's slot. The DB mutex is taken only if a newer
// super-version was installed since the thread's last read.
SuperVersion* ColumnFamily::Borrow() {
  void* p = slots_.Exchange(kInUse);
  // kInUse means that the thread is in a read already: a merge operator or a comparator has called
  // the database. The inner read takes a counted reference under the mutex.
  if (p != nullptr && p != kInUse) return static_cast<SuperVersion*>(p);
  DbLock lock(env_.db_mutex.get());
  VARVE_ASSERT(super_version_ != nullptr);
  super_version_->Ref();
  return super_version_;
}

void ColumnFamily::Return(SuperVersion* super_version) {
  // If a newer super-version was installed meanwhile, the slot does not hold kInUse any more.
  if (!slots_.CompareExchange(kInUse, super_version)) super_version->Unref();
}

SuperVersion* ColumnFamily::AcquireAt(const Snapshot* snapshot) {
  if (snapshot != nullptr && keeps_past()) {
    DbLock lock(env_.db_mutex.get());
    // The first super-version whose limit is at or above the snapshot shows it. Older ones lack
    // entries of the snapshot, and newer ones may have lost some.
    const auto past = past_.lower_bound(snapshot->GetSequenceNumber());
    if (past != past_.end()) {
      past->second->Ref();
      return past->second;
    }
  }
  return AcquireSuperVersion();
}

// Each snapshot is served by the first kept super-version whose limit is at or above it
// (AcquireAt); those that serve no snapshot are released.
void ColumnFamily::KeepPast(const std::vector<SequenceNumber>& snapshots) {
  if (super_version_ != nullptr && !snapshots.empty()) {
    SuperVersion*& place = past_[super_version_->sequence_limit()];
    super_version_->Ref();
    // A kept one with the same limit shows the same state, with memtables from before a switch.
    if (place != nullptr) place->Unref();
    place = super_version_;
  }
  SequenceNumber from = 0;
  for (auto it = past_.begin(); it != past_.end();) {
    const SequenceNumber limit = it->first;
    // A super-version serves the snapshots above the previous limit, up to its own.
    const bool needed = std::ranges::any_of(
        snapshots, [&](SequenceNumber held) { return from <= held && held <= limit; });
    from = limit + 1;
    if (!needed) it->second->Unref();
    it = needed ? std::next(it) : past_.erase(it);
  }
  keeps_past_.store(!past_.empty(), std::memory_order_release);
}

SuperVersion* ColumnFamily::AcquireSuperVersion() {
  // Borrows from the thread's slot, so that short-lived iterators do not contend for the DB mutex.
  SuperVersion* const super_version = Borrow();
  super_version->Ref();
  Return(super_version);
  return super_version;
}

SequenceNumber ColumnFamily::VisibleSequence() {
  return env_.stable_sequence();
}

ColumnFamilyHandleImpl::ColumnFamilyHandleImpl(std::shared_ptr<ColumnFamily> family, bool counted)
    : family_(std::move(family)),
      db_mutex_(family_->db_mutex()),
      counted_(counted && family_->references() != nullptr) {
  if (counted_) family_->references()->handles.fetch_add(1, std::memory_order_relaxed);
}

ColumnFamilyHandleImpl::~ColumnFamilyHandleImpl() {
  if (!counted_) return;
  family_->TellHandleDeletion(this);
  family_->references()->handles.fetch_sub(1, std::memory_order_relaxed);
}

const std::string& ColumnFamilyHandleImpl::GetName() const {
  return family_->name();
}

uint32_t ColumnFamilyHandleImpl::GetID() const {
  return family_->id();
}

Status ColumnFamilyHandleImpl::GetDescriptor(ColumnFamilyDescriptor* descriptor) {
  *descriptor = ColumnFamilyDescriptor(family_->name(), *family_->options_as_set());
  return Status::OK();
}

const Comparator* ColumnFamilyHandleImpl::GetComparator() const {
  return family_->user_comparator();
}

void ColumnFamilySet::Add(std::shared_ptr<ColumnFamily> family) {
  MutexLock lock(&mu_);
  VARVE_ASSERT(!by_id_.contains(family->id()));
  if (family->id() == 0) default_ = family.get();
  by_id_[family->id()] = std::move(family);
}

void ColumnFamilySet::Remove(uint32_t id) {
  MutexLock lock(&mu_);
  VARVE_ASSERT(id != 0);
  // Both change in one hold of the lock, for callers that compare removals().
  by_id_.erase(id);
  removals_.fetch_add(1, std::memory_order_release);
}

void ColumnFamilySet::Clear() {
  std::map<uint32_t, std::shared_ptr<ColumnFamily>> going;  // freed after the lock is released
  MutexLock lock(&mu_);
  default_ = nullptr;
  going.swap(by_id_);
}

ColumnFamily* ColumnFamilySet::FindById(uint32_t id) const {
  if (id == 0) return default_;
  auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : it->second.get();
}

ColumnFamily* ColumnFamilySet::FindByName(const std::string& name) const {
  auto it = std::find_if(by_id_.begin(), by_id_.end(),
                         [&](const auto& entry) { return entry.second->name() == name; });
  return it == by_id_.end() ? nullptr : it->second.get();
}

MemTable* ColumnFamilySet::Find(uint32_t column_family) {
  ColumnFamily* family = FindById(column_family);
  if (family == nullptr || family->dropped()) return nullptr;
  if (family->mem()->NeedsAttention() || family->TooManyRangeDeletions()) {
    // The current write is still inserted into the full memtable. The flag makes a later write
    // switch it.
    full_.store(true, std::memory_order_relaxed);
  }
  return family->mem();
}

const Comparator* ColumnFamilySet::ComparatorOf(uint32_t column_family) {
  // The default family, to which most keys belong, is never removed, so its comparator needs no
  // lock.
  VARVE_ASSERT(default_ != nullptr);
  if (column_family == 0) return default_->user_comparator();
  MutexLock lock(&mu_);
  ColumnFamily* family = FindById(column_family);
  return family == nullptr || family->dropped() ? nullptr : family->user_comparator();
}

std::string ColumnFamilySet::NameOf(uint32_t column_family) {
  MutexLock lock(&mu_);
  const ColumnFamily* family = FindById(column_family);
  return family == nullptr ? MemTableResolver::NameOf(column_family) : family->name();
}

bool ColumnFamilySet::HasMergeOperator(uint32_t column_family) {
  if (column_family == 0) return default_->has_merge_operator();
  MutexLock lock(&mu_);
  ColumnFamily* family = FindById(column_family);
  return family != nullptr && family->has_merge_operator();
}

Status ColumnFamilySet::CheckRangeDeletions(uint32_t column_family) {
  MutexLock lock(&mu_);
  const ColumnFamily* const family = FindById(column_family);
  if (family == nullptr || family->takes_range_deletions()) return Status::OK();
  return Status::NotSupported("DeleteRange in column family " + family->name(),
                              "its table_factory makes tables that cannot hold range deletions");
}

// Thread-safety analysis is off since no other thread changes the log number during a replay.
bool ColumnFamilySet::IsAlreadyInTables(uint32_t column_family) VARVE_NO_THREAD_SAFETY_ANALYSIS {
  if (replayed_log_ == 0) return false;
  ColumnFamily* family = FindById(column_family);
  // An unknown family was dropped after the log was written, so its entries are skipped.
  return family == nullptr || replayed_log_ < family->versions()->log_number;
}

}  // namespace varve
