// SPDX-License-Identifier: Apache-2.0
#include "db/ttl/ttl_compaction_filter.h"

#include <utility>

#include "varve/db.h"

#include "db/ttl/ttl_stamp.h"

namespace varve {

namespace {

// Looks up the newest state of keys, for one compaction.
class ChainLookUp {
 public:
  ChainLookUp(const TtlState& state, uint32_t family)
      : db_(state.db()), handle_(state.host()->OpenFamily(family)) {
    // These look-ups are not for a user, so their blocks do not enter the block cache.
    read_options_.fill_cache = false;
  }

  // True if the key's newest value, with its operands merged, is expired at `horizon`. False also
  // if that is unknown.
  bool IsExpired(const Slice& key, int32_t ttl, uint32_t horizon) {
    if (handle_ == nullptr) return false;
    Slice value;
    uint32_t stamp = 0;
    found_.Reset();
    return db_->Get(read_options_, handle_.get(), key, &found_).ok() &&
           SplitStamp(found_, &value, &stamp) && varve::IsExpired(stamp, ttl, horizon);
  }

 private:
  DB* const db_;
  const std::unique_ptr<ColumnFamilyHandle> handle_;
  ReadOptions read_options_;
  PinnableSlice found_;
};

// Drops the values of one compaction that are expired at `horizon`, and asks the user's filter
// about the others.
class TtlCompactionFilter final : public CompactionFilter {
 public:
  // `horizon` is 0 if nothing may be dropped as expired. `chains` is null unless the family has a
  // merge operator. The user's filter is `made`, from the user's factory, or else `user`; both may
  // be null.
  TtlCompactionFilter(int32_t ttl, uint32_t horizon, std::unique_ptr<ChainLookUp> chains,
                      std::unique_ptr<CompactionFilter> made, const CompactionFilter* user)
      : ttl_(ttl),
        horizon_(horizon),
        chains_(std::move(chains)),
        made_(std::move(made)),
        user_(made_ == nullptr ? user : made_.get()) {}

  const char* Name() const override { return "TtlCompactionFilter"; }
  // Snapshots are respected by the horizon: what is expired by it is expired for each of them.
  bool IgnoreSnapshots() const override { return user_ == nullptr || user_->IgnoreSnapshots(); }

  // Entities have no stamps: they are kept, and a user's filter cannot make one.
  Decision FilterV3(int level, const Slice& key, ValueType type, const Slice* stored,
                    const WideColumns* /*columns*/, std::string* new_value,
                    std::vector<std::pair<std::string, std::string>>* new_columns,
                    std::string* skip_until) const override {
    Slice value;
    uint32_t stamp = 0;
    if (stored == nullptr || !SplitStamp(*stored, &value, &stamp)) return Decision::kKeep;
    // An expired value below live operands is still their base, so with a merge operator the key's
    // newest state decides.
    if (type == ValueType::kValue && IsExpired(stamp, ttl_, horizon_) &&
        (chains_ == nullptr || chains_->IsExpired(key, ttl_, horizon_))) {
      return Decision::kRemove;
    }
    if (user_ == nullptr) return Decision::kKeep;
    // The user's filter sees the value as the program wrote it, without the stamp.
    const Decision decision = user_->FilterV4(level, key, type, &value, nullptr, new_value,
                                              new_columns, skip_until, nullptr);
    // A changed value keeps the stamp of the old one: a change does not prolong its life.
    if (decision == Decision::kChangeValue) AppendStamp(new_value, stamp);
    // An entity in place of the value would have no stamp: kUndetermined, which is no decision
    // about a value that was passed, makes the compaction fail.
    return decision == Decision::kChangeWideColumnEntity ? Decision::kUndetermined : decision;
  }

 private:
  const int32_t ttl_;
  const uint32_t horizon_;
  const std::unique_ptr<ChainLookUp> chains_;
  const std::unique_ptr<CompactionFilter> made_;
  const CompactionFilter* const user_;
};

}  // namespace

TtlCompactionFilterFactory::TtlCompactionFilterFactory(
    const CompactionFilter* user_filter, std::shared_ptr<CompactionFilterFactory> user_factory,
    bool merges, std::shared_ptr<TtlState> state, std::shared_ptr<TtlFamily> family)
    : user_filter_(user_filter),
      user_factory_(std::move(user_factory)),
      merges_(merges),
      state_(std::move(state)),
      family_(std::move(family)) {}

bool TtlCompactionFilterFactory::ShouldFilterTableFileCreation(
    TableFileCreationReason reason) const {
  // Flushes drop no expired entries; they are filtered only if the user's factory asks for it.
  if (reason == TableFileCreationReason::kCompaction) return true;
  return user_filter_ == nullptr && user_factory_ != nullptr &&
         user_factory_->ShouldFilterTableFileCreation(reason);
}

// Lifetime and horizon are read once, so all entries of one compaction are judged alike.
std::unique_ptr<CompactionFilter> TtlCompactionFilterFactory::CreateCompactionFilter(
    const CompactionFilter::Context& context) {
  const int32_t ttl = family_->ttl.load(std::memory_order_relaxed);
  // While the database is being opened its snapshots cannot be asked for, so nothing expires.
  const bool ready = ttl > 0 && state_->db() != nullptr;
  const uint32_t horizon = ready ? state_->Horizon() : 0;
  std::unique_ptr<ChainLookUp> chains;
  if (ready && merges_) chains = std::make_unique<ChainLookUp>(*state_, context.column_family_id);
  std::unique_ptr<CompactionFilter> made;
  const bool by_factory = user_filter_ == nullptr && user_factory_ != nullptr &&
                          user_factory_->ShouldFilterTableFileCreation(context.reason);
  if (by_factory) made = user_factory_->CreateCompactionFilter(context);
  return std::make_unique<TtlCompactionFilter>(ttl, horizon, std::move(chains), std::move(made),
                                               user_filter_);
}

}  // namespace varve
