// SPDX-License-Identifier: Apache-2.0

// Invariants
// 1. A level's iterator has at most one table open, besides those that pin_data keeps. Memory for a
//    scan thus does not grow with the number of tables.
// 2. The tombstones of a table are known before its first entry is shown. They are cut to the
//    bounds of the file, beyond which they delete nothing even if the table stores them longer.
// 3. A file is passed over without opening it if bounds, the prefix or known tombstones rule out
//    all its entries. Its own tombstones are not needed then: what they cover is ruled out for the
//    same reason.
// 4. An error stays in status_ until the next seek, and Valid is false meanwhile.

#include "db/read/version_iterators.h"

#include <string>
#include <utility>

#include "varve/slice_transform.h"

#include "db/version/file_bounds.h"
#include "table/iterator/merging_iterator.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/key/prefix_answer.h"

namespace varve {

namespace {

// True if the table stays open as long as the file's metadata, which the super-version keeps alive.
bool StaysOpen(const FileMetaData& file, const TableRef& table) {
  return file.reader.load(std::memory_order_acquire) == table.get();
}

// True if the table is to be skipped. Its tombstones are kept, as they concern other tables'
// entries. A filter that throws skips nothing.
bool FilteredOut(const ReadOptions& options, const TableReader& table) {
  try {
    return options.table_filter && !options.table_filter(*table.properties());
  } catch (...) {
    return false;
  }
}

// A table's iterator with the reference that keeps a table of the limited cache open.
class OpenTableIterator final : public InternalIterator {
 public:
  OpenTableIterator(TableRef table, std::unique_ptr<InternalIterator> iter)
      : table_(std::move(table)), iter_(std::move(iter)) {}

  void SeekToFirst() override {
    iter_->SeekToFirst();
    Publish();
  }
  void SeekToLast() override {
    iter_->SeekToLast();
    Publish();
  }
  void Seek(const Slice& target) override {
    iter_->Seek(target);
    Publish();
  }
  void PrefetchSeek(const Slice& target, SeekRound round) override {
    iter_->PrefetchSeek(target, round);
  }
  void SeekForPrev(const Slice& target) override {
    iter_->SeekForPrev(target);
    Publish();
  }
  void Next() override {
    iter_->Next();
    Publish();
  }
  void Prev() override {
    iter_->Prev();
    Publish();
  }
  size_t NextBatch(BatchEntry* out, size_t max) override {
    const size_t n = iter_->NextBatch(out, max);
    Publish();
    return n;
  }
  size_t PrevBatch(BatchEntry* out, size_t max) override {
    const size_t n = iter_->PrevBatch(out, max);
    Publish();
    return n;
  }
  Status status() const override { return iter_->status(); }

  // PinValue is refused: the bytes may be in a mapping that is removed with the table.
  bool IsValuePinned() const override { return iter_->IsValuePinned(); }
  bool IsKeyPinned() const override { return iter_->IsKeyPinned(); }

 private:
  void Publish() {
    valid_ = iter_->Valid();
    if (!valid_) return;
    key_ = iter_->key();
    value_ = iter_->value();
  }

  const TableRef table_;  // must outlive iter_
  const std::unique_ptr<InternalIterator> iter_;
};

// Walks the files of a level one after the other. index_ is the open file, or kNone; iter_ is over
// it, and key_ and value_ repeat iter_'s entry while valid_. Ahead and Behind go to the files after
// and before; Open replaces the open file.
class LevelIterator final : public InternalIterator {
 public:
  LevelIterator(const LevelFiles* files, int level, TableCache* table_cache,
                const InternalKeyComparator* icmp, const ReadOptions& options,
                const TableIterOptions& iter_options, TombstoneSet* tombstones)
      : files_(*files),
        level_(level),
        table_cache_(table_cache),
        icmp_(*icmp),
        options_(options),
        iter_options_(WithReadahead(iter_options)),
        extractor_(iter_options.prefix_mode
                       ? table_cache->options().cf_options->prefix_extractor.get()
                       : nullptr),
        tombstones_(tombstones) {}

  void SeekToFirst() override {
    Start();
    Ahead(0);
  }

  void SeekToLast() override {
    Start();
    Behind(files_.size());
  }

  void Seek(const Slice& target) override {
    Start();
    NotePrefix(target);
    const size_t i = files_.Find(target);
    if (!WithinUpper(i)) return;
    if (IsHidden(i)) [[unlikely]]
      return Ahead(i + 1);
    if (!Open(i)) return;
    iter_->Seek(target);
    if (!Publish()) Ahead(i + 1);
  }

  void PrefetchSeek(const Slice& target, SeekRound round) override {
    if (round == SeekRound::kIndex) {
      Start();
      const size_t i = files_.Find(target);
      prefetches_ = WithinUpper(i) && !IsHidden(i) && Open(i);
    }
    if (prefetches_) iter_->PrefetchSeek(target, round);
  }

  void SeekForPrev(const Slice& target) override {
    Start();
    size_t i = files_.Find(target);
    // In a gap between files, no entry of the later file is small enough.
    if (i < files_.size() && icmp_.Compare(files_[i]->smallest.Encode(), target) <= 0 &&
        !IsHidden(i)) {
      if (!Open(i)) return;
      iter_->SeekForPrev(target);
      if (Publish()) return;
    }
    Behind(i);
  }

  // From the current file on, passes over files whose entries are all older than `below`, the
  // sequence number of a tombstone that covers everything before the target. Goes to the first
  // entry of the first file that may have a newer one, or, if all files before the target's are
  // passed, to the target. Returns false, and stays, if the current file may have a newer entry.
  bool SkipOlder(const Slice& target, SequenceNumber below) override {
    VARVE_ASSERT(valid_ && index_ < files_.size());
    if (files_[index_]->largest_seq >= below) return false;
    valid_ = false;
    const size_t end = FindAfter(target);
    size_t i = index_;
    while (i < end && files_[i]->largest_seq < below) i++;
    if (!WithinUpper(i)) return true;
    if (i < end || files_[i]->largest_seq >= below) {
      Ahead(i);
    } else if (Open(i)) {
      iter_->Seek(target);
      if (!Publish()) Ahead(i + 1);
    }
    return true;
  }

  // Does the same backward: files that begin at the target or later are passed over.
  bool SkipOlderForPrev(const Slice& target, SequenceNumber below) override {
    VARVE_ASSERT(valid_ && index_ < files_.size());
    if (files_[index_]->largest_seq >= below) return false;
    valid_ = false;
    // Exactly the files after that one begin with the target or later.
    const size_t start = files_.Find(target);
    size_t i = index_;
    while (i > start && files_[i]->largest_seq < below) i--;
    if (files_[i]->largest_seq >= below) {
      Behind(i + 1);
      return true;
    }
    if (icmp_.Compare(files_[i]->smallest.Encode(), target) < 0 && WithinLower(i)) {
      if (!Open(i)) return true;
      iter_->SeekForPrev(target);
      if (Publish()) return true;
    }
    Behind(i);
    return true;
  }

  void Next() override {
    VARVE_ASSERT(valid_ && index_ < files_.size());
    iter_->Next();
    if (!Publish()) Ahead(index_ + 1);
  }

  void Prev() override {
    VARVE_ASSERT(valid_ && index_ < files_.size());
    iter_->Prev();
    if (!Publish()) Behind(index_);
  }

  // A batch never leaves its file. If the file has no further entry, the batch is the first entry
  // of the next file.
  size_t NextBatch(BatchEntry* out, size_t max) override {
    const size_t n = iter_->NextBatch(out, max);
    if (Publish()) [[likely]]
      return n;
    Ahead(index_ + 1);
    return WriteCurrent(out);
  }
  size_t PrevBatch(BatchEntry* out, size_t max) override {
    const size_t n = iter_->PrevBatch(out, max);
    if (Publish()) [[likely]]
      return n;
    Behind(index_);
    return WriteCurrent(out);
  }

  Status status() const override { return status_; }

  bool PinValue(Cleanable* pin) override {
    // A mapped file of the limited cache may be closed when the walk leaves it.
    return StaysOpen(*files_[index_], table_) && iter_->PinValue(pin);
  }
  bool IsValuePinned() const override { return valid_ && iter_->IsValuePinned(); }
  bool IsKeyPinned() const override { return valid_ && iter_->IsKeyPinned(); }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  TableIterOptions WithReadahead(TableIterOptions iter_options) {
    if (options_.adaptive_readahead) iter_options.readahead = &readahead_;
    return iter_options;
  }

  // A table that the walk has left but whose blocks still back keys and values (pin_data).
  struct KeptTable {
    TableRef table;
    std::unique_ptr<InternalIterator> iter;
  };

  void Start() {
    valid_ = false;
    has_prefix_ = false;
    readahead_ = 0;
    if (!status_.ok()) [[unlikely]]
      status_ = Status::OK();
  }

  // Publishes the table's position. Returns false if it is at its end or has failed.
  bool Publish() {
    if (iter_->Valid()) [[likely]] {
      key_ = iter_->key();
      value_ = iter_->value();
      valid_ = true;
      return true;
    }
    valid_ = false;
    status_ = iter_->status();
    return false;
  }

  // Moves to the first entry of file `i` or of the files after it. An empty file, or one that a
  // filter left out, ends at once, so the loop goes on to the next.
  void Ahead(size_t i) {
    for (; status_.ok() && WithinUpper(i) && WithinPrefix(i); i++) {
      if (IsHidden(i)) [[unlikely]]
        continue;
      if (!Open(i)) return;
      iter_->SeekToFirst();
      if (Publish()) return;
    }
  }

  // Moves to the last entry of the files before `i`.
  void Behind(size_t i) {
    readahead_ = 0;
    while (status_.ok() && i > 0 && WithinLower(i - 1)) {
      if (IsHidden(--i)) [[unlikely]]
        continue;
      if (!Open(i)) return;
      iter_->SeekToLast();
      if (Publish()) return;
    }
  }

  bool WithinUpper(size_t i) const {
    if (i >= files_.size()) return false;
    return options_.iterate_upper_bound == nullptr ||
           icmp_.CompareKey(icmp_.KeyOf(files_[i]->smallest), *options_.iterate_upper_bound) < 0;
  }

  bool WithinLower(size_t i) const {
    return options_.iterate_lower_bound == nullptr ||
           icmp_.CompareKey(icmp_.KeyOf(files_[i]->largest), *options_.iterate_lower_bound) >= 0;
  }

  // True if known tombstones delete everything in the file. The file's own tombstones are not known
  // before it is opened, and are not needed for this.
  bool IsHidden(size_t i) const {
    if (tombstones_ == nullptr || tombstones_->empty()) [[likely]]
      return false;
    const FileMetaData& file = *files_[i];
    return tombstones_->HidesAll(icmp_.KeyOf(file.smallest), icmp_.KeyOf(file.largest),
                                 LargestIsExclusive(file), file.largest_seq);
  }

  // Returns the first file that may have entries at or after the target, which comes before all
  // entries of its key.
  size_t FindAfter(const Slice& target) const {
    size_t i = files_.Find(target);
    while (i < files_.size() && LargestIsExclusive(*files_[i]) &&
           icmp_.CompareKey(icmp_.KeyOf(files_[i]->largest), icmp_.KeyOf(target)) <= 0) {
      i++;
    }
    return i;
  }

  void NotePrefix(const Slice& target) {
    if (extractor_ == nullptr || !iter_options_.WantsPrefix()) return;
    const Slice key = icmp_.KeyOf(target);
    Slice prefix;
    has_prefix_ = AskPrefix(*extractor_, key, &prefix) == PrefixAnswer::kPrefix;
    if (has_prefix_) prefix_ = prefix.ToString();
  }

  // After a seek in prefix mode, files that start with another prefix need not be opened.
  bool WithinPrefix(size_t i) const {
    if (!has_prefix_) [[likely]]
      return true;
    const Slice key = icmp_.KeyOf(files_[i]->smallest);
    Slice prefix;
    return AskPrefix(*extractor_, key, &prefix) != PrefixAnswer::kPrefix ||
           prefix == Slice(prefix_);
  }

  // Makes file `i` the open one, and adds its tombstones before any entry of it can be seen
  // (invariant 2). A table that the user's table_filter refuses is opened too, for its tombstones,
  // and then walked as an empty one. Returns false, with status_ set, if the table cannot be
  // opened; then no file is open.
  bool Open(size_t i) {
    VARVE_ASSERT(i < files_.size());
    if (i == index_) return true;
    Leave();
    FileMetaData* const file = files_[i];
    Status s = table_cache_->Find(file, level_, options_, &table_);
    if (!s.ok()) [[unlikely]] {
      status_ = std::move(s);
      return false;
    }
    AddTombstones(i);
    if (FilteredOut(options_, *table_.get())) {
      iter_ = NewEmptyInternalIterator();
    } else {
      iter_ = table_->NewIterator(options_, iter_options_);
    }
    index_ = i;
    return true;
  }

  // Closes the open file, but keeps table and iterator if pin_data promised that their bytes stay.
  void Leave() {
    valid_ = false;
    index_ = kNone;
    if (options_.pin_data && iter_ != nullptr) {
      kept_.push_back(KeptTable{std::move(table_), std::move(iter_)});
    }
    iter_.reset();
    table_.Reset();
  }

  void AddTombstones(size_t i) {
    if (tombstones_ == nullptr || table_->tombstones() == nullptr) return;
    if (tombstones_added_.empty()) tombstones_added_.resize(files_.size());
    if (tombstones_added_[i]) return;
    AddFileTombstones(*files_[i], *table_.get(), icmp_, tombstones_);
    tombstones_added_[i] = true;  // not reached if a comparator threw
  }

  const LevelFiles& files_;
  const int level_;
  TableCache* const table_cache_;
  const InternalKeyComparator& icmp_;
  const ReadOptions& options_;
  size_t readahead_ = 0;  // the current scan's, with adaptive_readahead
  const TableIterOptions iter_options_;
  const SliceTransform* const extractor_;  // null unless in prefix mode
  TombstoneSet* const tombstones_;         // may be null
  std::vector<bool> tombstones_added_;     // indexed by file; empty until a file has any
  bool has_prefix_ = false;                // the last seek's
  std::string prefix_;
  Status status_;
  std::vector<KeptTable> kept_;
  size_t index_ = kNone;     // the open file
  bool prefetches_ = false;  // true: it is the file of the prepared seek
  TableRef table_;           // must outlive iter_
  std::unique_ptr<InternalIterator> iter_;
};

// Sets *successor to the key immediately after `key`. Returns false if the order has no such key.
bool ImmediateSuccessor(const InternalKeyComparator& icmp, const Slice& key,
                        std::string* successor) {
  if (!BytesDecide(icmp.order()) || IsReverse(icmp.order())) return false;
  successor->assign(key.data(), key.size());
  successor->push_back('\0');
  return true;
}

bool OutsideBounds(const ReadOptions& options, const FileMetaData& file,
                   const InternalKeyComparator& icmp) {
  return (options.iterate_upper_bound != nullptr &&
          icmp.CompareKey(icmp.KeyOf(file.smallest), *options.iterate_upper_bound) >= 0) ||
         (options.iterate_lower_bound != nullptr &&
          icmp.CompareKey(icmp.KeyOf(file.largest), *options.iterate_lower_bound) < 0);
}

TableIterOptions IterOptionsFor(const ReadOptions& options, const SuperVersion& super_version,
                                const bool* prefix_wanted) {
  TableIterOptions iter_options;
  // Filters answer for one prefix, so they may be used only if the walk ends with it, and only if
  // the tables were opened with the extractor that ends it. In auto_prefix_mode a bound may end it.
  const SliceTransform* const extractor = super_version.options().prefix_extractor.get();
  iter_options.prefix_mode =
      (options.prefix_same_as_start || options.auto_prefix_mode) && !options.total_order_seek &&
      extractor != nullptr &&
      extractor == super_version.table_cache()->options().cf_options->prefix_extractor.get();
  if (!options.prefix_same_as_start) iter_options.prefix_wanted = prefix_wanted;
  return iter_options;
}

// Files of L0 overlap, so each is a source of its own, unless they form chains, which are walked as
// levels are. Each file is opened here, because its tombstones may cover entries of any older
// source, and have to be known before the first of them is shown.
Status AddLevelZero(const ReadOptions& options, const SuperVersion& super_version,
                    const TableIterOptions& iter_options, TombstoneSet* tombstones,
                    std::vector<std::unique_ptr<InternalIterator>>* iterators) {
  const Version& version = super_version.version();
  const InternalKeyComparator& icmp = *version.icmp();
  for (const L0Chain& chain : version.l0_chains()) {
    iterators->push_back(NewLevelIterator(&chain.files, 0, super_version.table_cache(), &icmp,
                                          options, iter_options, tombstones));
  }
  if (!version.l0_chains().empty()) return Status::OK();
  const LevelFiles& files = version.level(0);
  for (size_t i = 0; i < files.size(); i++) {
    FileMetaData* const file = files[i];
    if (OutsideBounds(options, *file, icmp)) continue;
    TableRef table;
    VARVE_RETURN_IF_ERROR(super_version.table_cache()->Find(file, 0, options, &table));
    if (tombstones != nullptr) AddFileTombstones(*file, *table.get(), icmp, tombstones);
    if (FilteredOut(options, *table.get())) continue;
    std::unique_ptr<InternalIterator> iter = table->NewIterator(options, iter_options);
    if (!StaysOpen(*file, table)) {
      iter = std::make_unique<OpenTableIterator>(std::move(table), std::move(iter));
    }
    iter->SetNewest(file->largest_seq);
    iterators->push_back(std::move(iter));
  }
  return Status::OK();
}

}  // namespace

std::unique_ptr<InternalIterator> NewLevelIterator(
    const LevelFiles* files, int level, TableCache* table_cache, const InternalKeyComparator* icmp,
    const ReadOptions& options, const TableIterOptions& iter_options, TombstoneSet* tombstones) {
  return std::make_unique<LevelIterator>(files, level, table_cache, icmp, options, iter_options,
                                         tombstones);
}

// The order, newest first, is what the merging iterator needs of sources with equal keys.
// Tombstones of the memtables are added here, those of tables by AddTableIterators.
Status AddSuperVersionIterators(const ReadOptions& options, const SuperVersion& super_version,
                                TombstoneSet* tombstones,
                                std::vector<std::unique_ptr<InternalIterator>>* iterators,
                                const bool* prefix_wanted, size_t* memtables) {
  if (options.ignore_range_deletions) tombstones = nullptr;
  iterators->reserve(1 + super_version.immutables().size() +
                     super_version.version().level(0).size() +
                     static_cast<size_t>(super_version.version().non_empty_levels()));
  const auto add_memtable = [&](const MemTable& mem) {
    if (mem.Empty()) return;
    if (tombstones != nullptr && mem.range_deletion_count() != 0) {
      for (auto& list : mem.RangeTombstones()) tombstones->Add(std::move(list));
    }
    iterators->push_back(mem.NewIterator());
  };
  add_memtable(*super_version.mem());
  for (const std::shared_ptr<MemTable>& mem : super_version.immutables()) add_memtable(*mem);
  *memtables = iterators->size();
  if (options.read_tier == kMemtableTier) return Status::OK();
  return AddTableIterators(options, super_version, tombstones, iterators, prefix_wanted);
}

Status AddTableIterators(const ReadOptions& options, const SuperVersion& super_version,
                         TombstoneSet* tombstones,
                         std::vector<std::unique_ptr<InternalIterator>>* iterators,
                         const bool* prefix_wanted) {
  const Version& version = super_version.version();
  if (version.non_empty_levels() == 0) return Status::OK();
  const TableIterOptions iter_options = IterOptionsFor(options, super_version, prefix_wanted);
  VARVE_RETURN_IF_ERROR(AddLevelZero(options, super_version, iter_options, tombstones, iterators));
  for (int level = 1; level < version.non_empty_levels(); level++) {
    const LevelFiles& files = version.level(level);
    if (files.empty()) continue;
    iterators->push_back(NewLevelIterator(&files, level, super_version.table_cache(),
                                          version.icmp(), options, iter_options, tombstones));
  }
  return Status::OK();
}

// The upper bound is the largest key, which the file's range includes or excludes. Bounds of a
// TombstoneSet are exclusive; so an included largest key is cut off only if a tombstone really
// reaches beyond it.
void AddFileTombstones(const FileMetaData& file, const TableReader& reader,
                       const InternalKeyComparator& icmp, TombstoneSet* tombstones) {
  const std::shared_ptr<const FragmentedTombstones>& all = reader.tombstones();
  if (all == nullptr || all->empty()) return;
  const Slice lower = icmp.KeyOf(file.smallest);
  const Slice largest = icmp.KeyOf(file.largest);
  if (LargestIsExclusive(file)) {
    tombstones->Add(all, &lower, &largest);
    return;
  }
  if (icmp.CompareKey(all->bound(all->size()), largest) <= 0) {
    tombstones->Add(all, &lower);
    return;
  }
  // Happens only in files of other engines that split a key's versions: the largest key itself is
  // covered, those after it are not.
  std::string successor;
  if (ImmediateSuccessor(icmp, largest, &successor)) {
    const Slice upper(successor);
    tombstones->Add(all, &lower, &upper);
    return;
  }
  // The order has no next key: the fragment that holds the largest key stays whole.
  const size_t at = all->LowerBound(largest);
  const FragmentedTombstones::Fragment fragment = all->fragment(at);
  const bool covers = fragment.covered && icmp.CompareKey(fragment.start, largest) <= 0;
  const Slice upper = covers ? fragment.end : largest;
  tombstones->Add(all, &lower, &upper);
}

}  // namespace varve
