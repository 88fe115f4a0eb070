// SPDX-License-Identifier: Apache-2.0

// Implements one pass over the merged input of a flush or a compaction.
//
//      FindNext
//        TakeKey          order and form are checked; a new key restarts the rules
//        JudgeEntry       hidden, covered by a tombstone, expired deletion, filter
//          JudgeSingleDelete     looks at the next entry of the key
//          JudgeMerge            collects operands down to a base
//        SetLastTrailer   sequence number 0 where no reader can tell
//
// The input is at the entry that is being judged, or already behind it (in_place_ is false, or
// input_is_ahead_): a step that looks at the following entry has moved on, and the entry's key is a
// copy in key_.

#include "db/compaction/compaction_iterator.h"

#include <exception>
#include <utility>

#include "db/version/blob_source.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/env/info_log.h"
#include "util/key/entity.h"
#include "util/metrics/statistics.h"
#include "util/sync/give_way.h"

namespace varve {

namespace {

// Number of entries that may pass before a cancellation is noticed.
constexpr uint32_t kEntriesPerPoll = 512;

}  // namespace

void CompactionCounts::Add(const CompactionCounts& other) {
  entries_in += other.entries_in;
  entries_out += other.entries_out;
  dropped_hidden += other.dropped_hidden;
  dropped_covered += other.dropped_covered;
  dropped_expired += other.dropped_expired;
  expired_deletions += other.expired_deletions;
  expired_tombstones += other.expired_tombstones;
  dropped_by_filter += other.dropped_by_filter;
  merged += other.merged;
  failed_merges += other.failed_merges;
  single_delete_mismatches += other.single_delete_mismatches;
  skipped |= other.skipped;
  jumped |= other.jumped;
}

// *filter stays null if the factory wants no filter for such files. An exception of the user's code
// becomes Aborted, which ends the job.
Status MakeCompactionFilter(CompactionFilterFactory* factory,
                            const CompactionFilter::Context& context,
                            std::unique_ptr<CompactionFilter>* filter) {
  if (factory == nullptr) return Status::OK();
  const auto threw = [factory](const char* what) {
    return Status::Aborted(std::string("compaction filter factory ") + factory->Name() + " threw",
                           what);
  };
  try {
    if (!factory->ShouldFilterTableFileCreation(context.reason)) return Status::OK();
    *filter = factory->CreateCompactionFilter(context);
  } catch (const std::exception& e) {
    return threw(e.what());
  } catch (...) {
    return threw("");
  }
  return Status::OK();
}

CompactionIterator::CompactionIterator(InternalIterator* input, TombstoneSet* tombstones,
                                       const CompactionIteratorOptions& options)
    : input_(input),
      tombstones_(tombstones),
      options_(options),
      rules_({options_.snapshots, options_.bottommost, options_.conflict_check_floor}),
      has_tombstones_(tombstones != nullptr && !tombstones->empty()),
      timestamp_bytes_(options.icmp->timestamp_size()) {
  VARVE_ASSERT(std::ranges::is_sorted(options_.snapshots));
  jump_.Init(options_.icmp, tombstones_);
  LimitToPast();
  if (options_.merge.has_operator() || options_.filter != nullptr) {
    collected_ = std::make_unique<MergeCollector>(&options_.merge);
  }
}

void CompactionIterator::Start(const Slice* begin) {
  VARVE_ASSERT(!has_key_ && !valid_);
  if (options_.filter != nullptr && !options_.filter->IgnoreSnapshots()) {
    Fail(Status::NotSupported("CompactionFilter::IgnoreSnapshots",
                              std::string("false is not supported: ") + options_.filter->Name()));
    return;
  }
  if (begin == nullptr) {
    input_.SeekToFirst();
  } else {
    input_.Seek(options_.icmp->FirstInternalKey(*begin).Encode());
  }
  FindNext();
}

CompactionIterator::Step CompactionIterator::Fail(Status status) {
  VARVE_ASSERT(!status.ok());
  status_ = std::move(status);
  valid_ = false;
  return Step::kStop;
}

// Takes one entry after the other until one survives, the input ends, or the walk fails. Each pass
// of the loop begins with the input on the entry to be judged; a step that has moved the input
// itself says so by in_place_, so that the loop does not move it again.
void CompactionIterator::FindNext() {
  valid_ = false;
  while (input_.Valid()) {
    GiveWay::Step();  // yields the processor now and then, if the job may be slow
    // Asking costs a clock or shared memory, so it is not done for each entry.
    if (until_poll_-- == 0) [[unlikely]] {
      until_poll_ = kEntriesPerPoll;
      if (Cancelled()) return;
    }
    const Slice key = input_.key();
    // Trimmed entries are left out before the rules see them, as if they had never been written.
    if (timestamp_bytes_ != 0 && Trims(key)) [[unlikely]] {
      counts_.dropped_hidden++;
      Advance();
      continue;
    }
    if (!TakeKey(key)) return;
    const uint64_t trailer = last_trailer_;
    // Steps that move the input set this to false.
    in_place_ = true;
    switch (JudgeEntry(UnpackSequence(trailer), UnpackType(trailer))) {
      case Step::kEmit:
        is_newest_ = false;
        counts_.entries_out++;
        valid_ = true;
        return;
      case Step::kDropped:
        is_newest_ = false;
        if (in_place_) Advance();
        break;
      case Step::kUnseen:
        break;
      case Step::kStop:
        return;
    }
  }
  status_ = input_.status();
}

// Returns false with a status of OK if the key is beyond options_.end: then the walk has ended
// well.
bool CompactionIterator::TakeKey(const Slice& key) {
  // Everything after this relies on the form of keys, and input comes from files that may be
  // damaged.
  if (key.size() < kInternalKeyTrailerBytes + timestamp_bytes_) [[unlikely]] {
    Fail(key.size() < kInternalKeyTrailerBytes
             ? DescribeBadInternalKey(key, "compaction input")
             : Status::Corruption("compaction input", "a key is shorter than its timestamp"));
    return false;
  }
  const uint64_t trailer = ExtractTrailer(key);
  if (!IsEntryType(static_cast<uint8_t>(trailer))) [[unlikely]] {
    Fail(DescribeBadInternalKey(key, "compaction input"));
    return false;
  }
  const Slice new_key = options_.icmp->KeyOf(key);
  const int order = has_key_ ? options_.icmp->CompareKey(new_key, key_without_timestamp()) : 1;
  if (order > 0) [[likely]] {
    // Only a new key can be beyond the end, since the end is a key and all versions of a key are on
    // one side of it.
    if (IsBeyondEnd(key)) return false;
    has_key_ = true;
    starts_user_key_ = true;
    StartKey(key);
  } else if (order < 0 || !TakeVersion(key, trailer)) {
    // Writing such entries would hide some of them in the output for ever.
    Fail(Status::Corruption("compaction input is not in the order of comparator",
                            options_.icmp->user_comparator()->Name()));
    return false;
  }
  last_trailer_ = trailer;
  return true;
}

void CompactionIterator::StartKey(const Slice& key) {
  key_.assign(key.data(), key.size());
  is_newest_ = true;
  // The rules remember which stripes of the key have a hiding entry.
  rules_.StartKey();
  if (timestamp_bytes_ == 0) [[likely]]
    return;
  const Slice timestamp = options_.icmp->TimestampOf(ExtractUserKey(key));
  last_timestamp_.assign(timestamp.data(), timestamp.size());
  in_past_ = InPast(timestamp);
}

// With timestamps, DropRules treats another timestamp as another key, unless both are below
// full_history_ts_low (invariant 9). The timestamp is then replaced in key_, because the surviving
// entry keeps its own.
bool CompactionIterator::TakeVersion(const Slice& key, uint64_t trailer) {
  // Equal trailers are in order: an entry may be there twice.
  if (timestamp_bytes_ == 0) [[likely]]
    return trailer <= last_trailer_;
  const Slice timestamp = options_.icmp->TimestampOf(ExtractUserKey(key));
  const int order = options_.icmp->CompareTimestamp(timestamp, last_timestamp_);
  if (order > 0 || (order == 0 && trailer > last_trailer_)) return false;
  if (order != 0 && !in_past_) {
    StartKey(key);
    return true;
  }
  last_timestamp_.assign(timestamp.data(), timestamp.size());
  key_.replace(key_without_timestamp().size(), timestamp_bytes_, timestamp.data(),
               timestamp.size());
  return true;
}

bool CompactionIterator::InPast(const Slice& timestamp) const {
  return !options_.history.full_history_ts_low.empty() &&
         options_.icmp->CompareTimestamp(timestamp, options_.history.full_history_ts_low) < 0;
}

// A key that is too short is left to TakeKey, which reports it. Keys beyond the end belong to
// another sub-compaction, which counts them.
bool CompactionIterator::Trims(const Slice& key) const {
  const size_t tail = kInternalKeyTrailerBytes + timestamp_bytes_;
  if (options_.history.trim_ts.empty() || key.size() < tail || IsBeyondEnd(key)) {
    return false;
  }
  const Slice timestamp = options_.icmp->TimestampOf(ExtractUserKey(key));
  return options_.icmp->CompareTimestamp(timestamp, options_.history.trim_ts) > 0;
}

bool CompactionIterator::IsOlder(const Slice& internal_key) const {
  if (!options_.icmp->EqualKey(options_.icmp->KeyOf(internal_key), key_without_timestamp()))
    return false;
  return !KeepsHistory() ||
         options_.icmp->TimestampOf(ExtractUserKey(internal_key)) == Slice(last_timestamp_);
}

// Limits tombstones to those before full_history_ts_low: readers as of a time between an entry and
// its tombstone still see the entry.
void CompactionIterator::LimitToPast() {
  if (timestamp_bytes_ == 0 || !has_tombstones_) return;
  tombstones_->SetTimestampLimit({options_.history.full_history_ts_low, /*inclusive=*/false});
}

// Considers the tombstones that readers as of the current timestamp or a later one see.
SequenceNumber CompactionIterator::CoveringSeqOfMoment(size_t stripe) {
  tombstones_->SetTimestampLimit({last_timestamp_, /*inclusive=*/true});
  const SequenceNumber newest =
      tombstones_->MaxCoveringSeq(key_without_timestamp(), rules_.StripeTop(stripe));
  LimitToPast();
  return newest;
}

// Considers tombstones of all timestamps: some readers of an entry do not see what a later
// tombstone covers below it; others do.
SequenceNumber CompactionIterator::CoveringSeqOfAnyTime(SequenceNumber newest) {
  const Slice latest = options_.icmp->user_comparator()->GetMaxTimestamp();
  tombstones_->SetTimestampLimit({latest, /*inclusive=*/true});
  const SequenceNumber covering = tombstones_->MaxCoveringSeq(key_without_timestamp(), newest);
  LimitToPast();
  return covering;
}

// Asks the rules about the input's entry in the order that the header shows, cheapest first; each
// rule may rely on the ones before it. Whoever returns kEmit has set key_ and value_ to what comes
// out.
CompactionIterator::Step CompactionIterator::JudgeEntry(SequenceNumber sequence, ValueType type) {
  const size_t stripe = rules_.StripeOf(sequence);
  // If older timestamps may be read too, a SingleDelete hides them as a Delete does. But under a
  // newer value it is not hidden as a Delete is: its own value may lie deeper, at an older
  // timestamp, and would reappear once a later SingleDelete is dropped together with the newer
  // value. VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
  const bool single_delete =
      type == kTypeSingleDeletion &&
      (!KeepsHistory() || (rules_.BuriedByValue(stripe) && !VARVE_CANARY(kForgetBuriedDelete)));
  const bool deletes = type == kTypeDeletionWithTimestamp || type == kTypeSingleDeletion;
  const ValueType judged = deletes ? kTypeDeletion : type;
  // With timestamps a tombstone may cover a newer entry of an older stripe, which then hides
  // nothing (DropRules::HidesInStripe).
  const bool in_stripe_only =
      timestamp_bytes_ != 0 && has_tombstones_ && CoveringSeqOfAnyTime(kMaxSequenceNumber) != 0;
  if (!single_delete &&
      (in_stripe_only ? rules_.HidesInStripe(stripe, judged) : rules_.Hides(stripe, judged))) {
    counts_.dropped_hidden++;
    return Step::kDropped;
  }
  // Only tombstones that readers of the same stripe see count: a snapshot between an entry and its
  // tombstone still reads the entry.
  if (has_tombstones_ && CoveringSeq(stripe) > sequence) {
    counts_.dropped_covered++;
    // Every reader sees a tombstone of stripe 0, so all that it covers may be passed unread.
    if (stripe == 0 || VARVE_CANARY(kJumpOverSnapshot)) {
      if (WantsJump()) return LeaveCovered(stripe);
    }
    return Step::kDropped;
  }
  if (single_delete) [[unlikely]]
    return JudgeSingleDelete(sequence, stripe);
  if (type == kTypeMerge) [[unlikely]]
    return JudgeMerge(sequence, stripe);
  if (rules_.Judge(stripe, judged, [this] { return MayExistDeeper(); }) !=
      DropRules::Verdict::kKeep) {
    counts_.dropped_expired++;
    counts_.expired_deletions++;
    return Step::kDropped;
  }
  value_ = input_.value();
  SetTrailer(sequence, type);
  if (options_.filter != nullptr && is_newest_ && !KeepsHistory() &&
      (type == kTypeValue || type == kTypeBlobIndex || type == kTypeWideColumnEntity))
      [[unlikely]] {
    const Step step = AskFilter(sequence, type, stripe);
    if (step != Step::kEmit) return step;
  }
  SetLastTrailer(stripe, sequence, UnpackType(ExtractTrailer(key_)));
  return Step::kEmit;
}

// Counts covered entries under one fragment of the tombstones; bounds are told apart by their
// addresses. If nothing came out since the last jump, the next fragment adjoins it: the count goes
// on, so that a range that was deleted in many parts is left with one jump after the other.
bool CompactionIterator::WantsJump() {
  if (options_.covered_before_jump == 0 || timestamp_bytes_ != 0) return false;
  const char* const until = tombstones_->NextBoundary()->data();
  if (until != covered_until_) {
    covered_until_ = until;
    if (counts_.entries_out != out_at_jump_) covered_here_ = 0;
  }
  return ++covered_here_ >= options_.covered_before_jump && input_.NextMoves();
}

// Requires that a tombstone of stripe 0 covers the current entry. Every reader sees the tombstone,
// and entries that are older than it are of stripe 0, too, so none of those up to its end is
// needed. CoveredJump moves the sorted runs that have only such entries there:
//
//   kNone    no run could move. The walk goes on entry by entry, and counts anew.
//   kBeyond  the entry's own run moved, so the input has left the entry without Advance. The entry
//            is counted here, as Advance would have done, and in_place_ is false: FindNext must not
//            step again.
//   kBeside  other runs moved, but the input is still at the entry. FindNext calls Advance, as for
//            every dropped entry, which also counts it.
//
// Entries that are jumped over are not counted at all; counts_.jumped says that some were. After
// kBeyond, out_at_jump_ lets WantsJump see whether anything has come out since.
CompactionIterator::Step CompactionIterator::LeaveCovered(size_t stripe) {
  VARVE_ASSERT(timestamp_bytes_ == 0 && has_tombstones_);  // Invariant 8.
  CoveredJump::Place place;
  place.key = key_without_timestamp();
  place.internal = input_.key();
  place.bound = options_.end;
  switch (jump_.Leave(input_.source(), place, rules_.StripeTop(stripe))) {
    case CoveredJump::Result::kNone:
      covered_here_ = 0;
      out_at_jump_ = UINT64_MAX;
      break;
    case CoveredJump::Result::kBeyond:
      counts_.entries_in++;
      counts_.jumped = true;
      out_at_jump_ = counts_.entries_out;
      input_.TakePlace();
      in_place_ = false;
      break;
    case CoveredJump::Result::kBeside:
      counts_.jumped = true;
      covered_here_ = 0;
      out_at_jump_ = UINT64_MAX;
      input_.TakePlace();
      break;
    case CoveredJump::Result::kOutOfOrder:
      return Fail(Status::Corruption("compaction input is not in the order of comparator",
                                     options_.icmp->user_comparator()->Name()));
  }
  return Step::kDropped;
}

DropRules::Follower CompactionIterator::PeekFollower() const {
  DropRules::Follower next;
  if (!input_.Valid() || input_.key().size() < kInternalKeyTrailerBytes) return next;
  if (!IsOlder(input_.key())) return next;
  next.present = true;
  next.sequence = ExtractSequence(input_.key());
  next.type = ExtractValueType(input_.key());
  if (next.type == kTypeDeletionWithTimestamp) next.type = kTypeDeletion;
  return next;
}

// A SingleDelete is judged together with the next entry of its key, so the input moves to that
// first; key_ keeps the SingleDelete. If it is kept, the input is one entry ahead of what comes out
// (input_is_ahead_). A pair that stays as conflict evidence comes out as two entries, the second
// one without its value (empties_next_, EmitEmptied).
CompactionIterator::Step CompactionIterator::JudgeSingleDelete(SequenceNumber sequence,
                                                               size_t stripe) {
  SetTrailer(sequence, kTypeSingleDeletion);
  value_ = Slice();
  Advance();
  in_place_ = false;
  const DropRules::Follower next = PeekFollower();
  // A failed input may hold the value that belongs to this entry, so nothing can be decided.
  if (!input_.Valid() && !input_.status().ok()) return Fail(input_.status());
  switch (rules_.JudgeSingleDelete(sequence, stripe, next, [this] { return MayExistDeeper(); })) {
    case DropRules::Verdict::kKeep:
      input_is_ahead_ = true;
      return Step::kEmit;
    case DropRules::Verdict::kHidden:
      if (next.present && next.type == kTypeSingleDeletion) counts_.single_delete_mismatches++;
      counts_.dropped_hidden++;
      return Step::kDropped;
    case DropRules::Verdict::kExpired:
      counts_.dropped_expired++;
      counts_.expired_deletions++;
      return Step::kDropped;
    case DropRules::Verdict::kDropPair:
      counts_.dropped_expired += 2;
      last_trailer_ = ExtractTrailer(input_.key());
      Advance();
      return Step::kDropped;
    case DropRules::Verdict::kKeepPair:
      input_is_ahead_ = true;
      empties_next_ = true;
      return Step::kEmit;
    case DropRules::Verdict::kBroken:
      break;
  }
  counts_.single_delete_mismatches++;
  if (options_.checks.enforce_single_del_contracts) {
    std::string which;
    if (options_.checks.allow_data_in_errors)
      which = " (0x" + key_without_timestamp().ToString(/*hex=*/true) + ")";
    return Fail(Status::Corruption(
        "SingleDelete of a key" + which + " that was deleted by Delete before",
        "use one kind of deletion for a key, or turn enforce_single_del_contracts off"));
  }
  counts_.dropped_hidden++;  // the Delete beneath deletes more
  return Step::kDropped;
}

// Collects the key's operands from this one down to the last of the stripe, merges them with their
// base if it is known, and emits the first of the resulting entries; EmitCollected emits the
// others. Collecting moves the input behind the operands, on the base if there is one: the base is
// judged next, and is hidden if the operands became a value. Without an operator and a filter,
// operands pass through one by one.
CompactionIterator::Step CompactionIterator::JudgeMerge(SequenceNumber sequence, size_t stripe) {
  if (collected_ == nullptr) {
    // A repeated entry counts as one operand.
    if (!is_newest_ && ExtractTrailer(key_) == last_trailer_) {
      counts_.dropped_hidden++;
      return Step::kDropped;
    }
    value_ = input_.value();
    SetTrailer(sequence, kTypeMerge);
    return Step::kEmit;
  }
  const SequenceNumber covered = SeparatingSeq(sequence, stripe);
  if (options_.filter == nullptr && StandsAlone() && !collected_->wants_single_operand()) {
    return JudgeLoneOperand(sequence, stripe, covered);
  }
  in_place_ = false;
  DropRules::Follower next;
  const Step step = CollectOperands(stripe, covered, &next);
  if (step != Step::kEmit) {
    collected_->Start();  // the collected operands must not come out later
    return step;
  }
  // The collector shrinks when operands are merged; the difference is counted.
  const size_t operands = collected_->size();
  // A filter removed all of them: the entry beneath is now the key's newest.
  if (operands == 0) return Step::kUnseen;

  if (operand_stays_) {
    collected_->Leave();
  } else if (!MergeCollected(next, stripe, covered)) {
    return Step::kStop;
  }
  counts_.merged += operands - collected_->size();
  // An entry that was made from operands with a known base is a value, and hides what is beneath
  // it.
  if (collected_->type() != kTypeMerge) rules_.BecameValue(stripe);
  input_is_ahead_ = collected_->Take(&sequence, &value_);
  SetLastTrailer(stripe, sequence, collected_->type());
  return Step::kEmit;
}

// `next` is the entry after the operands. An operator that fails leaves the operands as they are,
// which is noted and is no error; a base in a blob file that cannot be read ends the walk.
bool CompactionIterator::MergeCollected(const DropRules::Follower& next, size_t stripe,
                                        SequenceNumber covered) {
  const MergeCollector::Base base = BaseOf(next, stripe, covered);
  const bool has_base =
      base == MergeCollector::Base::kValue || base == MergeCollector::Base::kEntity;
  Slice base_value = has_base ? input_.value() : Slice();
  if (base == MergeCollector::Base::kValue && next.type == kTypeBlobIndex) {
    // The operands are kept, so that the value can be had again if the blob file comes back.
    if (IsLost(base_value)) {
      NoteFailedMerge(
          BlobErrorOfKey(Status::Corruption("merge", "the base of operands is in a lost blob file"),
                         ExtractUserKey(input_.key()), options_.checks.allow_data_in_errors));
      collected_->Leave();
      return true;
    }
    if (!FetchBlob(ExtractUserKey(input_.key()), base_value)) {
      collected_->Start();  // the collected operands must not come out later
      return false;
    }
    base_value = blob_value_;
  }
  const Status s = collected_->Merge(key_without_timestamp(), base, base_value);
  if (!s.ok()) NoteFailedMerge(s);
  return true;
}

bool CompactionIterator::FetchBlob(const Slice& user_key, const Slice& encoded_reference) {
  blob_value_.Reset();
  const Status s = options_.blobs == nullptr
                       ? Status::Corruption("compaction input",
                                            "a reference to a blob file in a table that has none")
                       : options_.blobs->Get(user_key, encoded_reference, &blob_value_);
  if (!s.ok()) Fail(s);
  return s.ok();
}

void CompactionIterator::NoteFailedMerge(const Status& s) {
  // One line tells of it; a damaged operand per key would fill the LOG.
  if (counts_.failed_merges++ > 0) return;
  LogWarn(options_.info_log, "%s; operands stay as they are", NameTable(s).ToString().c_str());
}

Status CompactionIterator::NameTable(const Status& s) const {
  return options_.name_table ? options_.name_table(s, key_without_timestamp()) : s;
}

bool CompactionIterator::StandsAlone() const {
  // The batch usually has the next entry decoded, so that looking ahead moves nothing.
  const BatchEntry* const next = input_.Ahead();
  return next != nullptr && next->key_size >= kInternalKeyTrailerBytes &&
         (next->same_key == SameKey::kNo || !IsOlder(next->key()));
}

// Judges an operand that has no older entry of its key in the input, without collecting it. It is
// merged, and becomes a value, only if nothing deeper can be its base.
CompactionIterator::Step CompactionIterator::JudgeLoneOperand(SequenceNumber sequence,
                                                              size_t stripe,
                                                              SequenceNumber covered) {
  value_ = input_.value();
  SetTrailer(sequence, kTypeMerge);
  const bool mergeable =
      options_.merge.has_operator() &&
      BaseOf(DropRules::Follower(), stripe, covered) == MergeCollector::Base::kNone;
  if (!mergeable) return Step::kEmit;
  Slice result;
  ValueType type = kTypeValue;
  const Status s = collected_->MergeAlone(key_without_timestamp(), value_, &result, &type);
  if (!s.ok()) {
    NoteFailedMerge(s);
    return Step::kEmit;
  }
  value_ = result;
  rules_.BecameValue(stripe);
  SetLastTrailer(stripe, sequence, type);
  return Step::kEmit;
}

// Collects from the operand at the input to the last one of the stripe, but none that is older than
// `covered` (SeparatingSeq), and leaves the input behind them. Returns kEmit, and sets *next to the
// key's entry there, if it has one; kDropped if the filter drops the rest of the key; kStop if the
// walk has failed.
CompactionIterator::Step CompactionIterator::CollectOperands(size_t stripe, SequenceNumber covered,
                                                             DropRules::Follower* next) {
  const bool filtered =
      options_.filter != nullptr && rules_.NoSnapshotSees(stripe) && !KeepsHistory();
  collected_->Start();
  operand_stays_ = false;
  for (;;) {
    VARVE_ASSERT(UnpackType(last_trailer_) == kTypeMerge);
    value_ = input_.value();
    if (!filtered) {
      collected_->Add(UnpackSequence(last_trailer_), value_);
    } else {
      const Step step = FilterOperand();
      if (step == Step::kEmit) collected_->AddCopy(UnpackSequence(last_trailer_), value_);
      if (step == Step::kDropped || step == Step::kStop) return step;
    }
    for (bool again = true; again;) {
      // A move to the next batch frees the memory in which the operands lie, so they are copied
      // before.
      if (input_.NextMoves()) collected_->Own();
      Advance();
      *next = PeekFollower();
      if (!next->present || next->type != kTypeMerge || next->sequence < covered ||
          rules_.StripeOf(next->sequence) != stripe) {
        return Step::kEmit;
      }
      // A repeated entry counts as one operand.
      again = ExtractTrailer(input_.key()) == last_trailer_;
      if (again) counts_.dropped_hidden++;
    }
    if (ExtractTrailer(input_.key()) > last_trailer_) return Step::kEmit;  // TakeKey reports it
    last_trailer_ = ExtractTrailer(input_.key());
    if (until_poll_-- == 0) {
      until_poll_ = kEntriesPerPoll;
      if (Cancelled()) return Step::kStop;
    }
  }
}

// Tells what operands of the stripe apply to. The entry of the same stripe that follows them, if no
// tombstone separates it from them, is their base. Otherwise there is none if a tombstone of the
// stripe covers what is beneath, or if no entry of the key follows and no deeper level can have
// one. In all other cases the base is unknown: for instance, it may lie in an older stripe, whose
// snapshot must still see it alone.
MergeCollector::Base CompactionIterator::BaseOf(const DropRules::Follower& next, size_t stripe,
                                                SequenceNumber covered) {
  using Base = MergeCollector::Base;
  if (next.present && next.sequence >= covered && rules_.StripeOf(next.sequence) == stripe) {
    switch (next.type) {
      case kTypeValue:
      case kTypeBlobIndex:
        return Base::kValue;
      case kTypeWideColumnEntity:
        return Base::kEntity;
      case kTypeDeletion:
      case kTypeSingleDeletion:
        return Base::kNone;
      default:
        return Base::kUnknown;
    }
  }
  // With timestamps, there may be versions that are not covered, or not for all readers.
  if (timestamp_bytes_ == 0 && covered != 0 && rules_.StripeOf(covered) == stripe) {
    return Base::kNone;
  }
  return !next.present && !MayExistDeeper() ? Base::kNone : Base::kUnknown;
}

bool CompactionIterator::EmitCollected() {
  SequenceNumber sequence = 0;
  if (collected_ == nullptr || !collected_->Take(&sequence, &value_)) return false;
  SetTrailer(sequence, collected_->type());
  counts_.entries_out++;
  return true;
}

bool CompactionIterator::EmitEmptied() {
  if (!empties_next_) return false;
  empties_next_ = false;
  input_is_ahead_ = false;
  // The value stays as a mark for the SingleDelete above it, but nobody can read its bytes.
  valid_ = TakeKey(input_.key());
  if (!valid_) return true;  // The walk has failed, and Next must not go on.
  value_ = Slice();
  SetTrailer(UnpackSequence(last_trailer_), kTypeValue);
  counts_.entries_out++;
  return true;
}

// Calls the user's filter with empty outputs. Returns its decision; kUndetermined, and fails the
// walk, if it throws. So callers look at status_ before the decision.
template <typename Call>
CompactionFilter::Decision CompactionIterator::CallFilter(const Call& call) {
  filter_value_.clear();
  filter_columns_.clear();
  skip_until_.clear();
  const TickerTimer timer(options_.statistics, FILTER_OPERATION_TOTAL_TIME, kExceptTimeForMutex);
  try {
    return call();
  } catch (const std::exception& e) {
    Fail(Status::Aborted(std::string("compaction filter ") + options_.filter->Name() + " threw",
                         e.what()));
  } catch (...) {
    Fail(Status::Aborted(std::string("compaction filter ") + options_.filter->Name() + " threw"));
  }
  return CompactionFilter::Decision::kUndetermined;
}

CompactionFilter::Decision CompactionIterator::FilterValue(CompactionFilter::ValueType type,
                                                           const Slice& value) {
  return CallFilter([&] {
    return options_.filter->FilterV4(options_.filter_level, key_without_timestamp(), type, &value,
                                     nullptr, &filter_value_, &filter_columns_, &skip_until_,
                                     nullptr);
  });
}

CompactionFilter::Decision CompactionIterator::FilterEntity(const Slice& entity) {
  if (const Status s = DecodeEntity(entity, &columns_); !s.ok()) {
    Fail(NameTable(Status::CopyAppendMessage(
        s, "; ", "met by a compaction filter, of key " + key_without_timestamp().ToString(true))));
    return CompactionFilter::Decision::kUndetermined;
  }
  return CallFilter([&] {
    return options_.filter->FilterV4(options_.filter_level, key_without_timestamp(),
                                     CompactionFilter::kWideColumnEntity, nullptr, &columns_,
                                     &filter_value_, &filter_columns_, &skip_until_, nullptr);
  });
}

bool CompactionIterator::TakeFilterColumns(SequenceNumber sequence) {
  columns_.clear();
  for (const auto& [name, value] : filter_columns_) columns_.emplace_back(name, value);
  filter_value_.clear();
  const Status s = EncodeEntity(columns_, &filter_value_);
  if (!s.ok()) {
    Fail(Status::CopyAppendMessage(
        s, "; ", std::string("from compaction filter ") + options_.filter->Name()));
    return false;
  }
  value_ = Slice(filter_value_);
  SetTrailer(sequence, kTypeWideColumnEntity);
  return true;
}

CompactionFilter::Decision CompactionIterator::CallFilterFor(ValueType type) {
  switch (type) {
    case kTypeBlobIndex:
      return FilterBlob();
    case kTypeWideColumnEntity:
      return FilterEntity(value_);
    default:
      return FilterValue(CompactionFilter::kValue, value_);
  }
}

// A value in a blob file is first judged by its key alone; it is read only if the filter answers
// kUndetermined. A value that cannot be read any more is kept (IsLost).
CompactionFilter::Decision CompactionIterator::FilterBlob() {
  using Decision = CompactionFilter::Decision;
  const Decision decision = CallFilter([&] {
    return options_.filter->FilterBlobByKey(options_.filter_level, key_without_timestamp(),
                                            &filter_value_, &skip_until_);
  });
  if (decision == Decision::kChangeWideColumnEntity) {
    Fail(Status::NotSupported("compaction filter",
                              "FilterBlobByKey returned kChangeWideColumnEntity: it gets no place "
                              "for columns"));
  }
  if (!status_.ok() || decision != Decision::kUndetermined) return decision;
  if (IsLost(value_)) return Decision::kKeep;
  if (!FetchBlob(Slice(key_.data(), key_.size() - kInternalKeyTrailerBytes), value_)) {
    return decision;
  }
  return FilterValue(CompactionFilter::kValue, blob_value_);
}

// Asks the filter about the operand in value_, and acts on its decision. Returns kEmit if the
// operand stays, possibly with a new value_; kUnseen if it alone is dropped; kDropped if the filter
// skips to a later key, and the input has moved there; kStop if the walk has failed.
CompactionIterator::Step CompactionIterator::FilterOperand() {
  using Decision = CompactionFilter::Decision;
  const Decision decision = FilterValue(CompactionFilter::kMergeOperand, value_);
  if (!status_.ok()) return Step::kStop;
  switch (decision) {
    case Decision::kKeep:
      return Step::kEmit;
    case Decision::kChangeValue:
      value_ = Slice(filter_value_);
      return Step::kEmit;
    case Decision::kRemove:
    case Decision::kPurge:
      return RemoveOperand();
    case Decision::kRemoveAndSkipUntil:
      if (!MaySkip()) return Step::kEmit;
      if (KeepsEvidence()) return RemoveOperand();
      counts_.dropped_by_filter += collected_->size();
      return SkipUntil();
    default:
      return Refuse(decision);
  }
}

// Drops the operand in value_, unless it is conflict evidence: then it stays as it is, and so do
// all operands collected with it (operand_stays_), because a later compaction will ask the filter
// about it again, and could not if it were merged.
CompactionIterator::Step CompactionIterator::RemoveOperand() {
  if (UnpackSequence(last_trailer_) > options_.conflict_check_floor) {
    operand_stays_ = true;
    return Step::kEmit;
  }
  counts_.dropped_by_filter++;
  return Step::kUnseen;
}

// Asks the filter about the newest entry of a key, a value of some form that the rules would keep.
// A removal becomes a deletion, which is written unless nothing deeper can have the key.
CompactionIterator::Step CompactionIterator::AskFilter(SequenceNumber sequence, ValueType type,
                                                       size_t stripe) {
  using Decision = CompactionFilter::Decision;
  const Decision decision = CallFilterFor(type);
  if (!status_.ok()) return Step::kStop;
  switch (decision) {
    case Decision::kKeep:
      return Step::kEmit;
    case Decision::kRemove:
    case Decision::kPurge:
      return RemoveByFilter(
          sequence, decision == Decision::kPurge ? kTypeSingleDeletion : kTypeDeletion, stripe);
    case Decision::kChangeValue:
      value_ = Slice(filter_value_);
      if (type != kTypeValue) SetTrailer(sequence, kTypeValue);
      return Step::kEmit;
    case Decision::kChangeWideColumnEntity:
      return TakeFilterColumns(sequence) ? Step::kEmit : Step::kStop;
    case Decision::kRemoveAndSkipUntil:
      if (!MaySkip()) return Step::kEmit;
      // Skipped entries leave no conflict evidence, so the filter is called for each key.
      if (KeepsEvidence()) return RemoveByFilter(sequence, kTypeDeletion, stripe);
      return SkipUntil();
    default:
      return Refuse(decision);
  }
}

// Ends the walk: the filter has reported an I/O error, or made a decision that is unknown or does
// not fit what it was asked about.
CompactionIterator::Step CompactionIterator::Refuse(CompactionFilter::Decision decision) {
  if (decision == CompactionFilter::Decision::kIOError) {
    return Fail(
        Status::IOError("compaction filter reported an I/O error", options_.filter->Name()));
  }
  return Fail(Status::NotSupported(
      "decision " + std::to_string(static_cast<int>(decision)) + " of a compaction filter",
      options_.filter->Name()));
}

// Turns the current entry into a deletion of type `marker`, with the entry's own sequence number,
// or drops it if such a deletion would have nothing to delete.
CompactionIterator::Step CompactionIterator::RemoveByFilter(SequenceNumber sequence,
                                                            ValueType marker, size_t stripe) {
  value_ = Slice();
  if (rules_.BecameDeletion(stripe, [this] { return MayExistDeeper(); }) !=
      DropRules::Verdict::kKeep) {
    counts_.dropped_by_filter++;
    return Step::kDropped;
  }
  // The entry written in its place counts as written; an entry counts once.
  if (VARVE_CANARY(kFilterCountsTwice)) counts_.dropped_by_filter++;
  SetTrailer(sequence, marker);
  return Step::kEmit;
}

// A filter that names a key up to the current one as the place to go on keeps the entry instead.
bool CompactionIterator::MaySkip() const {
  return options_.icmp->CompareKey(skip_until_, key_without_timestamp()) > 0;
}

// Moves the input to the first key at or after skip_until_, which the filter has set. What is
// passed is dropped without being judged or counted, deletions included.
CompactionIterator::Step CompactionIterator::SkipUntil() {
  VARVE_ASSERT(MaySkip());
  // Advance, which counts entries, is not called for the one that the walk leaves.
  counts_.dropped_by_filter++;
  counts_.entries_in++;
  counts_.skipped = true;
  in_place_ = false;
  // Without blob files nothing has to be counted, so the input may seek.
  if (options_.blobs == nullptr) {
    input_.Seek(options_.icmp->FirstInternalKey(skip_until_).Encode());
    return Step::kDropped;
  }
  // Each reference that is passed is counted.
  while (input_.Valid() && input_.key().size() >= kInternalKeyTrailerBytes + timestamp_bytes_ &&
         options_.icmp->CompareKey(options_.icmp->KeyOf(input_.key()), skip_until_) < 0 &&
         !IsBeyondEnd(input_.key())) {
    input_.Next();
    if (until_poll_-- == 0) {
      until_poll_ = kEntriesPerPoll;
      if (Cancelled()) return Step::kStop;
    }
  }
  return Step::kDropped;
}

bool CompactionIterator::MayExistDeeper() {
  // The input may have older timestamps of the key, which DropRules takes for other keys; a
  // deletion that was dropped would bring them back for readers as of its time.
  if (KeepsHistory()) return true;
  if (options_.bottommost || VARVE_CANARY(kDropTombstoneEarly)) return false;
  return options_.deeper == nullptr || options_.deeper->MayHold(key_without_timestamp());
}

bool CompactionIterator::Cancelled() {
  Status why = options_.cancel.Check();
  if (why.ok()) return false;
  Fail(std::move(why));
  return true;
}

void CompactionIterator::SetTrailer(SequenceNumber sequence, ValueType type) {
  VARVE_ASSERT(key_.size() >= kInternalKeyTrailerBytes + timestamp_bytes_);
  EncodeFixed64(key_.data() + key_.size() - kInternalKeyTrailerBytes,
                PackSequenceAndType(sequence, type));
}

void CompactionIterator::SetLastTrailer(size_t stripe, SequenceNumber sequence, ValueType type) {
  const size_t judged = VARVE_CANARY(kZeroUnderSnapshot) ? 0 : stripe;
  // A tombstone with a later timestamp may have been written earlier: it must not cover the entry.
  // A value in a blob file lies there with the timestamp that its key has now.
  const bool zero =
      rules_.MayZero(judged, type) && !KeepsHistory() &&
      (timestamp_bytes_ == 0 || type != kTypeBlobIndex) &&
      (timestamp_bytes_ == 0 || !has_tombstones_ || CoveringSeqOfAnyTime(kMaxSequenceNumber) == 0);
  VARVE_ASSERT(!zero || (options_.bottommost && judged == 0));  // Invariant 4.
  SetTrailer(zero ? 0 : sequence, type);
  if (!zero || timestamp_bytes_ == 0) [[likely]]
    return;
  const Slice oldest = options_.icmp->user_comparator()->GetMinTimestamp();
  key_.replace(key_without_timestamp().size(), timestamp_bytes_, oldest.data(), oldest.size());
}

}  // namespace varve
