// SPDX-License-Identifier: Apache-2.0

// One thread reads the trace and waits until each record is due; it executes the record itself, or
// hands it to a player. The queue of players is bounded, so a database that is slower than the
// trace holds up the reader, which would otherwise have the whole trace in memory. With several
// players, calls that were in order in the trace may run side by side.
//
// A record does not end the replay: the error of a call is its result, and a type that cannot be
// replayed is reported to the callback. Only an error of the file, or damage in it, ends the
// replay.

#include "db/trace/replayer.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "varve/system_clock.h"
#include "varve/trace_record.h"
#include "varve/trace_record_result.h"

#include "db/trace/trace_format.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/sync/mutex.h"

namespace varve {

namespace {

using Record = std::unique_ptr<TraceRecord>;
using Result = std::unique_ptr<TraceRecordResult>;
using Callback = std::function<void(Status, Result&&)>;

constexpr uint32_t kThreadsMax = 1024;

// Says when each record is due: as long after the beginning of the replay as the call came after
// the beginning of the trace, divided by the speed.
class Pace {
 public:
  Pace(uint64_t trace_begin, double speed)
      : trace_begin_(trace_begin), speed_(speed), begin_(std::chrono::steady_clock::now()) {}

  // Sleeps until the record is due; at most a day after the beginning.
  void WaitFor(const TraceRecord& record) const {
    if (record.GetTimestamp() <= trace_begin_) return;
    const double micros = static_cast<double>(record.GetTimestamp() - trace_begin_) / speed_;
    // The time of a record may be damaged, so the wait is bounded.
    constexpr double kDay = 24 * 3600 * 1e6;
    const auto due = begin_ + std::chrono::microseconds(std::llround(std::min(micros, kDay)));
    if (due > std::chrono::steady_clock::now()) std::this_thread::sleep_until(due);
  }

 private:
  const uint64_t trace_begin_;
  const double speed_;
  const std::chrono::steady_clock::time_point begin_;
};

// Threads that take records from a queue of bounded length, and call `play` for each.
class Players {
 public:
  Players(uint32_t threads, std::function<void(const Record&)> play) : play_(std::move(play)) {
    threads_.reserve(threads);
    try {
      for (uint32_t i = 0; i < threads; i++) threads_.emplace_back([this] { Run(); });
    } catch (...) {
      End();
      throw;
    }
  }
  ~Players() { End(); }
  Players(const Players&) = delete;
  Players& operator=(const Players&) = delete;

  // Adds a record to the queue; waits while the queue is full.
  void Add(Record record) {
    const MutexLock lock(&mu_);
    while (queue_.size() >= kQueueMax) room_.Wait();
    queue_.push_back(std::move(record));
    work_.Signal();
  }

  // Ends the threads; returns when every record has been played.
  void End() {
    {
      const MutexLock lock(&mu_);
      ended_ = true;
      work_.SignalAll();
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  static constexpr size_t kQueueMax = 4096;

  void Run() {
    for (;;) {
      Record record;
      {
        const MutexLock lock(&mu_);
        while (queue_.empty() && !ended_) work_.Wait();
        if (queue_.empty()) return;
        record = std::move(queue_.front());
        queue_.pop_front();
        room_.Signal();
      }
      play_(record);
    }
  }

  const std::function<void(const Record&)> play_;
  Mutex mu_;  // A leaf: no other lock is taken under it.
  CondVar work_{&mu_};
  CondVar room_{&mu_};
  std::deque<Record> queue_ VARVE_GUARDED_BY(mu_);
  bool ended_ VARVE_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

// Replays the records of a reader, which it owns. The reader is used under mu_.
class DefaultReplayer final : public Replayer {
 public:
  DefaultReplayer(DB* db, const std::vector<ColumnFamilyHandle*>& handles,
                  std::unique_ptr<TraceReader> reader)
      : reader_(std::move(reader)), handler_(TraceRecord::NewExecutionHandler(db, handles)) {}
  ~DefaultReplayer() override { reader_->Close().PermitUncheckedError(); }

  Status Prepare() override try {
    const MutexLock lock(&mu_);
    state_ = State::kUnprepared;
    VARVE_RETURN_IF_ERROR(reader_->Reset());
    std::string bytes;
    Status s = reader_->Read(&bytes);
    if (s.IsIncomplete()) s = Status::Corruption("trace: the file is empty");
    if (!s.ok()) return s;
    trace::RawRecord raw;
    VARVE_RETURN_IF_ERROR(trace::ParseRecord(bytes, &raw));
    if (raw.type != kTraceBegin) {
      return Status::Corruption("trace: the first record is of type " +
                                std::to_string(static_cast<int>(raw.type)) +
                                ", and not the header");
    }
    VARVE_RETURN_IF_ERROR(trace::ParseHeader(raw.payload, &minor_));
    begin_.store(raw.micros, std::memory_order_relaxed);
    state_ = State::kReading;
    return Status::OK();
  } catch (...) {
    return CaughtException();
  }

  uint64_t GetHeaderTimestamp() const override { return begin_.load(std::memory_order_relaxed); }

  Status Next(Record* record) override try {
    if (record == nullptr) return Status::InvalidArgument("Next: the place for the record is null");
    record->reset();
    const MutexLock lock(&mu_);
    if (state_ == State::kUnprepared) return Status::Incomplete("Next: call Prepare first");
    if (state_ == State::kEnded) return Status::Incomplete("Next: the trace has ended");
    std::string bytes;
    VARVE_RETURN_IF_ERROR(reader_->Read(&bytes));
    trace::RawRecord raw;
    VARVE_RETURN_IF_ERROR(trace::ParseRecord(bytes, &raw));
    if (raw.type == kTraceEnd) {
      state_ = State::kEnded;
      return Status::Incomplete("Next: the trace has ended");
    }
    return trace::DecodeRecord(raw, minor_, record);
  } catch (...) {
    return CaughtException();
  }

  Status Execute(const Record& record, Result* result) override try {
    if (result != nullptr) result->reset();
    if (record == nullptr) return Status::InvalidArgument("Execute: the record is null");
    return record->Accept(handler_.get(), result);
  } catch (...) {
    return CaughtException();
  }

  Status Replay(const ReplayOptions& options, const Callback& callback) override try {
    if (!(options.fast_forward > 0)) {
      return Status::InvalidArgument("Replay: fast_forward must be positive");
    }
    if (options.num_threads > kThreadsMax) {
      return Status::InvalidArgument("Replay: num_threads must be at most " +
                                     std::to_string(kThreadsMax));
    }
    const Pace pace(GetHeaderTimestamp(), options.fast_forward);
    if (options.num_threads <= 1) {
      return ForEach(callback, [&](Record record) {
        pace.WaitFor(*record);
        Play(record, callback);
      });
    }
    Players players(options.num_threads, [&](const Record& record) { Play(record, callback); });
    return ForEach(callback, [&](Record record) {
      pace.WaitFor(*record);
      players.Add(std::move(record));
    });
  } catch (...) {
    return CaughtException();
  }

 private:
  enum class State : uint8_t { kUnprepared, kReading, kEnded };

  bool ended() {
    const MutexLock lock(&mu_);
    return state_ == State::kEnded;
  }

  // Passes all records that are left to `use`. Returns OK after the record that ends a trace,
  // otherwise the error that ended it. The callback gets an error for each record that cannot be
  // replayed.
  template <typename Use>
  Status ForEach(const Callback& callback, Use use) {
    for (;;) {
      Record record;
      const Status s = Next(&record);
      if (s.ok()) {
        use(std::move(record));
      } else if (s.IsNotSupported()) {
        if (callback) callback(s, nullptr);
      } else {
        return s.IsIncomplete() && ended() ? Status::OK() : s;
      }
    }
  }

  // Executes one record and passes its outcome to the callback, whose exceptions are dropped.
  void Play(const Record& record, const Callback& callback) {
    Result result;
    const Status s = Execute(record, callback ? &result : nullptr);
    if (callback) BestEffort([&] { callback(s, std::move(result)); });
  }

  Mutex mu_;  // Held over I/O of the reader.
  const std::unique_ptr<TraceReader> reader_;
  const std::unique_ptr<TraceRecord::Handler> handler_;
  std::atomic<uint64_t> begin_{0};
  uint32_t minor_ VARVE_GUARDED_BY(mu_) = 0;
  State state_ VARVE_GUARDED_BY(mu_) = State::kUnprepared;
};

}  // namespace

std::unique_ptr<Replayer> MakeReplayer(DB* db, const std::vector<ColumnFamilyHandle*>& handles,
                                       std::unique_ptr<TraceReader> reader) {
  return std::make_unique<DefaultReplayer>(db, handles, std::move(reader));
}

}  // namespace varve
