// SPDX-License-Identifier: Apache-2.0

// An acknowledgement moves the position in memory at once. The MANIFEST gets it before a log is
// released that a crash might need: logs are held from the MANIFEST's position on.

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
constexpr uint64_t kLongestNapMicros = 1000;

Status ExpiredStream(const ChangePosition& position) {
  return Status::Expired("change stream '" + position.name + "'",
                         "the logs of sequence numbers " + std::to_string(position.first_lost) +
                             " to " + std::to_string(position.last_lost) +
                             " are gone, as its bounds or the state of the database said; drop it "
                             "and open a new one, with a copy of the database");
}

uint64_t SecondsNow(const Engine& engine) {
  int64_t time = 0;
  return engine.context.clock()->GetCurrentTime(&time).ok() && time > 0
             ? static_cast<uint64_t>(time)
             : 0;
}

// A stream that expires before this is not stored.
Status Store(Engine* engine, const ChangePosition& position) {
  DbLock lock(&engine->state.mu);
  ChangePosition now;
  if (!position.dropped && engine->state.positions.Get(position.name, &now) && now.expired()) {
    return ExpiredStream(now);
  }
  return engine->state.versions->StoreChangePosition(position, engine->context.directory());
}

class NamedStream final : public ChangeStream {
 public:
  // The position is claimed, and released with the stream.
  NamedStream(std::shared_ptr<Engine> engine, ChangePosition position, SequenceNumber from,
              bool durable_only)
      : engine_(std::move(engine)),
        position_(std::move(position)),
        given_out_(from - 1),
        reader_(engine_, {.from = from,
                          .durable_only = durable_only,
                          .held_by_others = true,
                          .first_log = position_.log}) {}
  ~NamedStream() override {
    if (begun_) BestEffort([this] { Save().PermitUncheckedError(); });
    engine_->state.positions.GiveBack(position_.name);
  }

  // Starts a new position; it is in the MANIFEST afterwards.
  Status Begin();
  // Continues an existing position. Numbers before `from` are acknowledged.
  Status Resume(SequenceNumber from);

  Status Next(ChangeRecord* record) override try { return ReadNext(record); } catch (...) {
    return CaughtException();
  }
  Status WaitNext(uint64_t timeout_micros, ChangeRecord* record) override;
  Status Acknowledge(SequenceNumber last, bool durably) override;
  SequenceNumber position() const override { return position_.next; }

 private:
  Status ReadNext(ChangeRecord* record);
  Status CheckNotExpired() const;
  void NoteNeeded(SequenceNumber first, uint64_t log) {
    if (needed_.back().second != log) needed_.emplace_back(first, log);
  }
  void MoveTo(SequenceNumber next);
  // Stores the position, and releases older logs.
  Status Save();

  const std::shared_ptr<Engine> engine_;
  ChangePosition position_;
  bool begun_ = false;
  uint64_t stored_log_ = 0;  // The MANIFEST's log and position.
  SequenceNumber stored_next_ = 0;
  SequenceNumber given_out_;
  UpdateReader reader_;
  // A reader that begins at the first number needs the logs from the second on; both ascend. The
  // first entry is at or before the position.
  std::deque<std::pair<SequenceNumber, uint64_t>> needed_;
};

Status NamedStream::Begin() {
  VARVE_RETURN_IF_ERROR(reader_.Start());
  if (reader_.begins_late()) {
    return Status::NotFound("change stream '" + position_.name + "'",
                            "the log that had sequence number " + std::to_string(position_.next) +
                                " is not there any more");
  }
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
  if (reader_.begins_late()) {
    ChangePosition lost = position_;
    lost.first_lost = position_.next;
    lost.last_lost = engine_->state.versions->last_sequence();
    return ExpiredStream(lost);
  }
  begun_ = true;
  if (from == position_.next) return Status::OK();
  needed_.emplace_back(from, reader_.OldestLogNeeded());
  MoveTo(from);
  return Status::OK();
}

Status NamedStream::CheckNotExpired() const {
  ChangePosition now;
  if (engine_->state.positions.Get(position_.name, &now) && now.expired()) {
    return ExpiredStream(now);
  }
  return Status::OK();
}

Status NamedStream::ReadNext(ChangeRecord* record) {
  if (record == nullptr) return Status::InvalidArgument("change stream: the place is null");
  *record = ChangeRecord();
  VARVE_RETURN_IF_ERROR(CheckNotExpired());
  UpdateReader::Update update;
  const UpdateReader::Met met = reader_.Next(&update);
  // If the position expired meanwhile, its logs may have been overwritten.
  VARVE_RETURN_IF_ERROR(CheckNotExpired());
  switch (met) {
    case UpdateReader::Met::kNothing:
      // Logs before this one are not needed any more, if all is acknowledged.
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
      NoteNeeded(update.first, update.log);
      break;
    case UpdateReader::Met::kGap:
      record->kind = ChangeRecord::Kind::kGap;
      record->gap = update.lost ? ChangeRecord::Gap::kLost : ChangeRecord::Gap::kNotLogged;
      break;
  }
  record->first = update.first;
  record->last = update.last;
  given_out_ = update.last;
  return Status::OK();
}

Status NamedStream::WaitNext(uint64_t timeout_micros, ChangeRecord* record) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(timeout_micros);
  for (uint64_t nap = 20;; nap = std::min(nap * 2, kLongestNapMicros)) {
    VARVE_RETURN_IF_ERROR(Next(record));
    if (record->kind != ChangeRecord::Kind::kNothing) return Status::OK();
    const auto now = std::chrono::steady_clock::now();
    if (now >= end) return Status::OK();
    std::this_thread::sleep_for(
        std::min<std::chrono::nanoseconds>(end - now, std::chrono::microseconds(nap)));
  }
}

void NamedStream::MoveTo(SequenceNumber next) {
  while (needed_.size() > 1 && needed_[1].first <= next) needed_.pop_front();
  position_.next = next;
  position_.log = needed_.front().second;
  engine_->state.positions.Move(position_.name, next, position_.log, SecondsNow(*engine_));
}

Status NamedStream::Acknowledge(SequenceNumber last, bool durably) try {
  if (last > given_out_) {
    return Status::InvalidArgument(
        "change stream '" + position_.name + "'",
        "sequence number " + std::to_string(last) + " has not been given out");
  }
  VARVE_RETURN_IF_ERROR(CheckNotExpired());
  if (last >= position_.next) MoveTo(last + 1);
  const bool must = durably ? stored_next_ != position_.next : stored_log_ != position_.log;
  return must ? Save() : Status::OK();
} catch (...) {
  return CaughtException();
}

Status NamedStream::Save() {
  if (stored_next_ == position_.next && stored_log_ == position_.log) return Status::OK();
  const OpenCall call(&engine_->lifecycle);
  if (!call.inside()) return engine_->lifecycle.CheckOpen();
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

Status MakePosition(const std::shared_ptr<Engine>& engine, const ChangeStreamOptions& options,
                    std::unique_ptr<ChangeStream>* stream) {
  const SequenceNumber written = engine->state.versions->last_sequence();
  ChangePosition position;
  position.name = options.name;
  position.next = options.from == 0 ? written + 1 : options.from;
  position.max_bytes = options.max_retained_bytes;
  position.max_seconds = options.max_idle_seconds;
  if (position.next > written + 1) {
    return Status::NotFound("OpenChangeStream: sequence number " + std::to_string(options.from) +
                            " is not written yet; the last one is " + std::to_string(written));
  }
  const uint64_t now = SecondsNow(*engine);
  VARVE_RETURN_IF_ERROR(engine->state.positions.Add(position, engine->state.logs.get(), now));
  Status s = Guarded([&] {
    auto made =
        std::make_unique<NamedStream>(engine, position, position.next, options.durable_only);
    Status begun = made->Begin();
    if (begun.ok()) *stream = std::move(made);
    return begun;
  });
  if (s.ok()) {
    engine->jobs->periodic.Wake();
  } else {
    engine->state.positions.GiveBack(position.name);
    engine->state.positions.Remove(position.name).PermitUncheckedError();
  }
  return s;
}

Status ResumePosition(const std::shared_ptr<Engine>& engine, const ChangeStreamOptions& options,
                      const ChangePosition& position, std::unique_ptr<ChangeStream>* stream) {
  const SequenceNumber from = options.from == 0 ? position.next : options.from;
  const SequenceNumber written = engine->state.versions->last_sequence();
  const SequenceNumber first = position.next;
  auto made = std::make_unique<NamedStream>(engine, position, from, options.durable_only);
  if (from < first || from > std::max(written + 1, first)) {
    return Status::InvalidArgument("OpenChangeStream: from is " + std::to_string(from) +
                                   ", the position '" + options.name + "' is at " +
                                   std::to_string(first) + ", and the last sequence number is " +
                                   std::to_string(written));
  }
  VARVE_RETURN_IF_ERROR(made->Resume(from));
  *stream = std::move(made);
  return Status::OK();
}

}  // namespace

Status OpenNamedStream(const std::shared_ptr<Engine>& engine, const ChangeStreamOptions& options,
                       std::unique_ptr<ChangeStream>* stream) {
  if (stream == nullptr) return Status::InvalidArgument("OpenChangeStream: the place is null");
  VARVE_RETURN_IF_ERROR(CheckStreamOptions(*engine, options));
  ChangePosition position;
  Status s = engine->state.positions.Claim(options.name, &position);
  if (s.ok()) {
    s = Guarded([&] { return ResumePosition(engine, options, position, stream); });
    if (!s.ok()) engine->state.positions.GiveBack(options.name);
    return s;
  }
  if (!s.IsNotFound() || !options.create_if_missing) return s;
  return MakePosition(engine, options, stream);
}

Status DropNamedStream(Engine* engine, const std::string& name) {
  ChangePosition position;
  VARVE_RETURN_IF_ERROR(engine->state.positions.Claim(name, &position));
  position.dropped = true;
  Status s = Guarded([&] { return Store(engine, position); });
  engine->state.positions.GiveBack(name);
  return s.ok() ? engine->state.positions.Remove(name) : s;
}

}  // namespace varve
