// SPDX-License-Identifier: Apache-2.0

// An acknowledgement moves the position in memory at once. Before a log is released the position is
// stored in the MANIFEST, since after a crash the logs from the MANIFEST's position on are needed.
//
// There are three positions, in ascending order: the one stored in the MANIFEST, the one that the
// user has acknowledged, and the one up to which the reader has returned records. Logs are kept
// from the first one on; after a crash the stream begins there. A position also names the log in
// which a reader has to begin; `needed_` has that log for each sequence number from the position
// on.

#include "db/follow/change_stream.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>
#include <utility>

#include "db/background/jobs.h"
#include "db/engine/engine.h"
#include "db/follow/update_reader.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

constexpr size_t kStreamNameBytesMax = 256;
// A reader that has just run out of records looks again after this time: a busy writer has written
// more by then, and need not wake the reader.
constexpr std::chrono::nanoseconds kNap = std::chrono::microseconds(20);
// Longest sleep if visible records could not be read yet, since not every event that makes them
// readable wakes the reader.
constexpr std::chrono::nanoseconds kLongestSleepBehind = std::chrono::milliseconds(10);
constexpr std::chrono::nanoseconds kLongestSleep = std::chrono::hours(1);
constexpr uint64_t kLongestWaitMicros = uint64_t{365} * 24 * 3600 * 1000 * 1000;

Status ExpiredStream(const ChangePosition& position) {
  return Status::Expired("change stream '" + position.name + "'",
                         "the logs of sequence numbers " + std::to_string(position.first_lost) +
                             " to " + std::to_string(position.last_lost) +
                             " are gone, as its bounds or the state of the database said; drop it "
                             "and open a new one, with a copy of the database");
}

// Returns seconds since 1970, or 0 if the clock fails. A position that was last moved at 0 does not
// expire by time.
uint64_t SecondsNow(const Engine& engine) {
  int64_t time = 0;
  return engine.context.clock()->GetCurrentTime(&time).ok() && time > 0
             ? static_cast<uint64_t>(time)
             : 0;
}

// Writes the position to the MANIFEST. If it has expired meanwhile, stores nothing and returns
// Expired, since a stored position would hide that its logs are gone.
Status Store(Engine* engine, const ChangePosition& position) {
  DbLock lock(&engine->state.mu);
  ChangePosition now;
  if (!position.dropped && engine->state.positions.Get(position.name, &now) && now.expired()) {
    return ExpiredStream(now);
  }
  return engine->state.versions->StoreChangePosition(position, engine->context.directory());
}

// Thread safety: none, except that the position may expire at any time.
class NamedStream final : public ChangeStream {
 public:
  // Requires that the caller has claimed the position. The destructor releases the claim if Begin
  // or Resume has succeeded; otherwise the caller must.
  NamedStream(std::shared_ptr<Engine> engine, ChangePosition position, SequenceNumber from,
              const ChangeStreamOptions& options)
      : engine_(std::move(engine)),
        position_(std::move(position)),
        given_out_(from - 1),
        reader_(engine_, {.from = from,
                          .durable_only = options.durable_only,
                          .held_by_others = true,
                          .first_log = position_.log,
                          // True for a new position (log 0) that begins after the last write:
                          // MakePosition has read `from` after all logs were kept.
                          .all_held = position_.log == 0 && options.from == 0}) {}
  ~NamedStream() override {
    if (!begun_) return;
    BestEffort([this] { Save().PermitUncheckedError(); });
    engine_->state.positions.GiveBack(position_.name);
  }

  // Starts a new position, and stores it in the MANIFEST.
  Status Begin();
  // Continues an existing position at `from`, and acknowledges the numbers before. An error leaves
  // the stored position as it was.
  Status Resume(SequenceNumber from);

  Status Next(ChangeRecord* record) override try { return ReadNext(record); } catch (...) {
    return CaughtException();
  }
  Status WaitNext(uint64_t timeout_micros, ChangeRecord* record) override;
  Status Acknowledge(SequenceNumber last, bool durably) override;
  SequenceNumber position() const override { return position_.next; }

 private:
  Status ReadNext(ChangeRecord* record);
  // Returns Expired if the position has expired.
  Status CheckNotExpired() const;
  // Adds the families that may have unlogged writes in the gap; leaves record->families unset if
  // they are not known.
  void NameFamilies(const UpdateReader::Update& gap, ChangeRecord* record);
  // Notes that a reader which begins at `first` needs the logs from `log` on.
  void NoteNeeded(SequenceNumber first, uint64_t log) {
    if (needed_.back().second != log) needed_.emplace_back(first, log);
  }
  // Returns true if a visible record has not been read.
  bool IsBehind() const { return reader_.position() <= engine_->state.versions->last_sequence(); }
  // Moves the position in memory: everything before `next` is acknowledged.
  void MoveTo(SequenceNumber next);
  // Stores the position in the MANIFEST, and then allows the deletion of older logs.
  Status Save();

  const std::shared_ptr<Engine> engine_;
  ChangePosition position_;
  // True once the destructor has to release the claim.
  bool begun_ = false;
  uint64_t stored_log_ = 0;  // The MANIFEST's log and position.
  SequenceNumber stored_next_ = 0;
  // The last number that Next has given out, in a batch or in a gap.
  SequenceNumber given_out_;
  UpdateReader reader_;
  // The reader's last result. While pending_ is true, it was not returned to the user yet.
  UpdateReader::Met met_ = UpdateReader::Met::kNothing;
  UpdateReader::Update update_;
  bool pending_ = false;
  // Pairs of a sequence number and a log: a reader that begins at the number needs the logs from
  // this one on. Both ascend. The first number is at or before the position.
  std::deque<std::pair<SequenceNumber, uint64_t>> needed_;
};

Status NamedStream::Begin() {
  // The list of positions keeps all logs from deletion meanwhile.
  VARVE_RETURN_IF_ERROR(reader_.Start());
  if (reader_.begins_late()) {
    return Status::NotFound("change stream '" + position_.name + "'",
                            "the log that had sequence number " + std::to_string(position_.next) +
                                " is not there any more");
  }
  // Only now, when the reader has found the first record, is it known which logs the position
  // needs. Until here the list of positions kept all logs for it.
  position_.log = reader_.OldestLogNeeded();
  needed_.emplace_back(position_.next, position_.log);
  engine_->state.positions.Move(position_.name, position_.next, position_.log,
                                SecondsNow(*engine_));
  Status s = Save();
  begun_ = s.ok();
  return s;
}

Status NamedStream::Resume(SequenceNumber from) {
  VARVE_RETURN_IF_ERROR(CheckNotExpired());
  stored_log_ = position_.log;
  stored_next_ = position_.next;
  needed_.emplace_back(position_.next, position_.log);
  VARVE_RETURN_IF_ERROR(reader_.Start());
  // The logs were lost, but the position is not marked as expired yet. The error is the same.
  if (reader_.begins_late()) {
    ChangePosition lost = position_;
    lost.first_lost = position_.next;
    lost.last_lost = engine_->state.versions->last_sequence();
    return ExpiredStream(lost);
  }
  if (from != position_.next) {
    needed_.emplace_back(from, reader_.OldestLogNeeded());
    MoveTo(from);
  }
  begun_ = true;
  return Status::OK();
}

Status NamedStream::CheckNotExpired() const {
  ChangePosition now;
  if (engine_->state.positions.Get(position_.name, &now) && now.expired()) {
    return ExpiredStream(now);
  }
  return Status::OK();
}

void NamedStream::NameFamilies(const UpdateReader::Update& gap, ChangeRecord* record) {
  DbLock lock(&engine_->state.mu);
  // An earlier opening used these numbers, and which families did so is not stored.
  if (gap.first < engine_->state.families_known_from) return;
  record->families.emplace();
  for (const auto& [id, family] : engine_->state.families.all()) {
    if (family->MayHaveUnlogged(gap.first, gap.last)) record->families->push_back(family->name());
  }
  std::ranges::sort(*record->families);
}

// Checks the expiry before and after reading, as a record must not be returned that was read from a
// log while it was deleted. After an error the next call returns the same record.
Status NamedStream::ReadNext(ChangeRecord* record) {
  if (record == nullptr) return Status::InvalidArgument("change stream: the place is null");
  *record = ChangeRecord();
  VARVE_RETURN_IF_ERROR(CheckNotExpired());
  // A pending result, which an error kept from being returned, comes first.
  if (!pending_) met_ = reader_.Next(&update_);
  pending_ = met_ == UpdateReader::Met::kBatch || met_ == UpdateReader::Met::kGap;
  const UpdateReader::Update& update = update_;
  // If the position expired meanwhile, its logs may have been reused.
  VARVE_RETURN_IF_ERROR(CheckNotExpired());
  switch (met_) {
    case UpdateReader::Met::kNothing:
      // If everything is acknowledged, a reader would begin after the last record, and logs before
      // the reader's are not needed any more. MoveTo then changes only the position's log.
      NoteNeeded(given_out_ + 1, reader_.OldestLogNeeded());
      if (position_.next == given_out_ + 1) MoveTo(position_.next);
      return Status::OK();
    case UpdateReader::Met::kLater:
      return Status::OK();
    case UpdateReader::Met::kFailed:
      return reader_.status();
    case UpdateReader::Met::kBatch:
      record->kind = ChangeRecord::Kind::kBatch;
      record->batch = WriteBatch(update.batch.ToString());
      // A reader that begins at this number needs that log, so an acknowledgement up to there
      // releases those before it.
      NoteNeeded(update.first, update.log);
      break;
    case UpdateReader::Met::kGap:
      record->kind = ChangeRecord::Kind::kGap;
      record->gap = update.lost ? ChangeRecord::Gap::kLost : ChangeRecord::Gap::kNotLogged;
      if (!update.lost) NameFamilies(update, record);
      break;
  }
  record->first = update.first;
  record->last = update.last;
  given_out_ = update.last;
  pending_ = false;
  return Status::OK();
}

// Tries to read, sleeps shortly, tries again, and then sleeps until a writer signals. Returns OK
// with kNothing when the time is over.
Status NamedStream::WaitNext(uint64_t timeout_micros, ChangeRecord* record) {
  using std::chrono::nanoseconds;
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::microseconds(std::min(timeout_micros, kLongestWaitMicros));
  WakeSignal& updates = engine_->state.updates;
  for (bool napped = false;; napped = true) {
    // The signal is armed before reading, so that a write that becomes visible between the read and
    // the sleep ends the sleep at once.
    const uint32_t round = napped ? updates.Arm() : 0;
    VARVE_RETURN_IF_ERROR(Next(record));
    if (record->kind != ChangeRecord::Kind::kNothing) return Status::OK();
    const nanoseconds left = end - std::chrono::steady_clock::now();
    if (left <= nanoseconds::zero()) return Status::OK();
    // A read and a short sleep are cheaper than arming the signal: while records keep arriving, no
    // writer has to wake this thread.
    if (!napped) {
      std::this_thread::sleep_for(std::min(left, kNap));
      continue;
    }
    const nanoseconds most = std::min(left, IsBehind() ? kLongestSleepBehind : kLongestSleep);
    updates.Sleep(round, static_cast<uint64_t>(most.count()));
  }
}

void NamedStream::MoveTo(SequenceNumber next) {
  // The last entry at or before the position has the log that it needs.
  while (needed_.size() > 1 && needed_[1].first <= next) needed_.pop_front();
  position_.next = next;
  position_.log = needed_.front().second;
  engine_->state.positions.Move(position_.name, next, position_.log, SecondsNow(*engine_));
}

// Acknowledges in memory first. If storing fails, the acknowledgement in memory stays, and the next
// call tries to store it again.
Status NamedStream::Acknowledge(SequenceNumber last, bool durably) try {
  if (last > given_out_) {
    return Status::InvalidArgument(
        "change stream '" + position_.name + "'",
        "sequence number " + std::to_string(last) + " has not been given out");
  }
  VARVE_RETURN_IF_ERROR(CheckNotExpired());
  if (last >= position_.next) MoveTo(last + 1);
  // Unless `durably` is set, an acknowledgement is stored only if it releases a log, as each store
  // is a write to the MANIFEST.
  const bool must = durably ? stored_next_ != position_.next : stored_log_ != position_.log;
  return must ? Save() : Status::OK();
} catch (...) {
  return CaughtException();
}

// Does nothing if the MANIFEST has the position already. After an error the stored position is
// unchanged, and the logs from there on are kept.
Status NamedStream::Save() {
  if (stored_next_ == position_.next && stored_log_ == position_.log) return Status::OK();
  const OpenCall call(&engine_->lifecycle);
  if (!call.inside()) return engine_->lifecycle.CheckOpen();
  // The MANIFEST is written before logs are released: after a crash in between, no position may
  // lack its logs.
  VARVE_RETURN_IF_ERROR(Store(engine_.get(), position_));
  stored_next_ = position_.next;
  stored_log_ = position_.log;
  engine_->state.positions.SetStored(position_);
  return Status::OK();
}

Status CheckStreamOptions(const Engine& engine, const ChangeStreamOptions& options) {
  if (options.name.empty() || options.name.size() > kStreamNameBytesMax) {
    return Status::InvalidArgument("OpenChangeStream", "a name has 1 to 256 bytes");
  }
  if (engine.context.read_only()) {
    return Status::NotSupported("OpenChangeStream: a position of a database that is read only");
  }
  return Status::OK();
}

// Creates a position and its stream. From Add on the list of positions keeps all logs, until Begin
// knows which ones the position needs. A failure removes the position again.
Status MakePosition(const std::shared_ptr<Engine>& engine, const ChangeStreamOptions& options,
                    std::unique_ptr<ChangeStream>* stream) {
  const SequenceNumber written = engine->state.versions->last_sequence();
  ChangePosition position;
  position.name = options.name;
  position.next = options.from == 0 ? written + 1 : options.from;
  position.max_bytes = options.max_retained_bytes;
  position.max_seconds = options.max_idle_seconds;
  // A position beyond the next number would skip writes that are still to come.
  if (position.next > written + 1) {
    return Status::NotFound("OpenChangeStream: sequence number " + std::to_string(options.from) +
                            " is not written yet; the last one is " + std::to_string(written));
  }
  const uint64_t now = SecondsNow(*engine);
  VARVE_RETURN_IF_ERROR(engine->state.positions.Add(position, engine->state.logs.get(), now));
  // The stream begins after the last write. The number is read again now that no log can be
  // deleted, since logs of writes before Add might be gone.
  if (options.from == 0) position.next = engine->state.versions->last_sequence() + 1;
  Status s = Guarded([&] {
    auto made = std::make_unique<NamedStream>(engine, position, position.next, options);
    Status begun = made->Begin();
    if (begun.ok()) *stream = std::move(made);
    return begun;
  });
  if (s.ok()) {
    // The bounds of the position may ask for a shorter period of deletion than the timer waits.
    engine->jobs->periodic.Wake();
  } else {
    engine->state.positions.Remove(position.name);
  }
  return s;
}

// Continues a position that the caller has claimed, at `options.from` if that is set; everything
// before it is acknowledged.
Status ResumePosition(const std::shared_ptr<Engine>& engine, const ChangeStreamOptions& options,
                      const ChangePosition& position, std::unique_ptr<ChangeStream>* stream) {
  const SequenceNumber from = options.from == 0 ? position.next : options.from;
  const SequenceNumber written = engine->state.versions->last_sequence();
  const SequenceNumber first = position.next;
  // The maximum lets an unchanged position pass in any case.
  if (from < first || from > std::max(written + 1, first)) {
    return Status::InvalidArgument("OpenChangeStream: from is " + std::to_string(from) +
                                   ", the position '" + options.name + "' is at " +
                                   std::to_string(first) + ", and the last sequence number is " +
                                   std::to_string(written));
  }
  auto made = std::make_unique<NamedStream>(engine, position, from, options);
  VARVE_RETURN_IF_ERROR(made->Resume(from));
  *stream = std::move(made);
  return Status::OK();
}

}  // namespace

// Claims and continues an existing position, or creates a missing one if the options allow that.
Status OpenNamedStream(const std::shared_ptr<Engine>& engine, const ChangeStreamOptions& options,
                       std::unique_ptr<ChangeStream>* stream) {
  if (stream == nullptr) return Status::InvalidArgument("OpenChangeStream: the place is null");
  VARVE_RETURN_IF_ERROR(CheckStreamOptions(*engine, options));
  ChangePosition position;
  Status s = engine->state.positions.Claim(options.name, &position);
  if (s.ok()) {
    // Until a stream exists this call has the claim, and must release it after any failure.
    s = Guarded([&] { return ResumePosition(engine, options, position, stream); });
    if (!s.ok()) engine->state.positions.GiveBack(options.name);
    return s;
  }
  if (!s.IsNotFound() || !options.create_if_missing) return s;
  return MakePosition(engine, options, stream);
}

// Returns Busy while a stream has the position. After an error the position still exists.
Status DropNamedStream(Engine* engine, const std::string& name) {
  ChangePosition position;
  VARVE_RETURN_IF_ERROR(engine->state.positions.Claim(name, &position));
  // The position is removed from the MANIFEST first. If that fails, it is unchanged and can be
  // claimed again.
  position.dropped = true;
  Status s = Guarded([&] { return Store(engine, position); });
  if (s.ok()) {
    engine->state.positions.Remove(name);
  } else {
    engine->state.positions.GiveBack(name);
  }
  return s;
}

}  // namespace varve
