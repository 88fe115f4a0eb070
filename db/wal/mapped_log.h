// SPDX-License-Identifier: Apache-2.0
#pragma once

// A commit log over a mapped file: a stored record survives the process at once. A writer needs no
// system call, no lock and no second copy. Large records are written by system calls, which then
// cost less than the pages of a mapping. db/wal/README.md shows why a reader sees a prefix at any
// moment.
//
//      file    [record 57][record 58][ hole 59 ][record 60][ zeros ...
//                                    ^ whole_ = 58          ^ end_: next place
//      slots_  57: filled, 58: filled, 59: -, 60: filled
//
// Reserve hands out places at end_, one thread at a time. Fill copies the record into the mapping,
// its header last, and sets Slot::filled. Whoever fills the place at the frontier advances whole_
// over all filled places, and wakes those who wait for them. A crash may leave the hole of 59; a
// reader stops there, and 60 is lost, although it was stored: its writer was still waiting for 59,
// so it had not returned.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "db/lock_ranks.h"
#include "db/wal/commit_log.h"
#include "db/wal/log_format.h"
#include "db/wal/log_segments.h"
#include "util/sync/mutex.h"

namespace varve::wal {

// Locking: as in CommitLog; Seal and Close must come after all other calls but Sync. Reserve waits
// while the last kPlacesMax places are not whole, so a thread must not reserve that many before it
// fills any.
class MappedLog final : public CommitLog {
 public:
  static constexpr size_t kPlacesMax = 2048;
  // Where the file has to grow for a record of at least this size, the new part is not mapped.
  static constexpr size_t kWrittenBytes = size_t{8} << 10;

  // Maps the file's first segment, and sets *log. NotSupported: this file cannot be mapped.
  static IOStatus Open(std::unique_ptr<MappedFile> file, uint64_t number,
                       std::unique_ptr<MappedLog>* log);
  ~MappedLog() override;

  IOStatus Reserve(size_t bytes, LogReservation* place) override;
  using CommitLog::Fill;
  using CommitLog::Sync;
  void Fill(const LogReservation& place, const Slice& head, const Slice& tail) override;
  IOStatus WaitWhole(const LogReservation& place) override;
  IOStatus AddTimestampSizes(const Slice& payload) override;
  IOStatus Flush() override { return CheckUsable(); }
  IOStatus HandOver(uint64_t* end) override;
  uint64_t WholeEnd() override { return AwaitReserved().bytes; }
  IOStatus Sync(bool use_fsync, LogExtent* covered) override;
  IOStatus Seal() override;
  IOStatus Close() override;

  uint64_t number() const override { return number_; }
  uint64_t size() const override { return end_.load(std::memory_order_acquire); }
  uint64_t last_ticket() const override { return last_ticket_.load(std::memory_order_acquire); }
  bool failed() const override { return state_.load(std::memory_order_acquire) != kUsable; }

 private:
  // Says what a failure leaves usable: everything, what was reserved before, or nothing.
  enum State : uint32_t { kUsable, kFull, kBroken };

  // A reserved record. Reserve sets the fields that are not atomic, and the thread that fills the
  // place reads them.
  struct Slot {
    // The ticket, once the record is in its place: publishes its bytes to the frontier.
    std::atomic<uint64_t> filled{0};
    // Changes when the frontier passes; used only by threads that sleep until then.
    std::atomic<uint32_t> passed{0};
    LogSegment* segment = nullptr;  // Segment where the record starts.
    uint64_t offset = 0;
  };

  MappedLog(std::unique_ptr<MappedFile> file, uint64_t number);

  // Returns the slot of a record; it is reused kPlacesMax records later.
  Slot& SlotOf(uint64_t ticket) { return slots_[ticket % kPlacesMax]; }
  // Reserves a place at `start`, which is not before the last record's end and has room for a
  // header.
  IOStatus ReserveAt(uint64_t start, size_t bytes, LogReservation* place);
  // Makes the file long enough for a record that ends at `end`, with a mapping or without one.
  IOStatus GrowTo(uint64_t end, bool mapped);
  // Goes on to the segment in which `start` lies, and gives back older ones if their records are
  // whole.
  void LeaveSegments(uint64_t start, uint64_t ticket);
  // Copies a record into its place, or writes it if the place is not mapped.
  IOStatus Store(const Slot& slot, Slice head, Slice tail) const;
  // Advances whole_ over filled slots, if no other thread does so already.
  void AdvanceFrontier();
  // Wakes the threads that sleep until these tickets are passed.
  void WakeThrough(uint64_t from, uint64_t to);
  // Sleeps until whole_ has reached the ticket.
  void SleepUntil(uint64_t ticket);
  // Waits until all that was reserved before the call is in its place, and returns how far that is.
  LogExtent AwaitReserved();
  // Returns the log's error, or OK if more can be reserved.
  IOStatus CheckUsable() const;
  // Returns the first failure, or OK.
  IOStatus Error() const;
  // Stores the first error and what it leaves usable. Returns that error.
  IOStatus Fail(State state, IOStatus error);

  const std::unique_ptr<MappedFile> file_;
  const uint64_t number_;
  std::array<uint32_t, kLastType + 1> type_crc_;  // CRC of the type byte alone.

  // --- Members of the reserving thread
  LogSegments source_;
  std::deque<std::unique_ptr<LogSegment>> segments_;  // In use, mapped or not; oldest first.
  LogSegment* tail_ = nullptr;                        // Segment where the last record starts.
  // End of the newest segment in the file, mapped or not: a record that ends there needs no more.
  uint64_t mapped_end_ = 0;
  bool sealed_ = false;
  // Bytes and records with places; published to threads that ask what a sync would cover. The
  // ticket is stored first (release): a thread that has read an end (acquire) then reads its
  // record's ticket, or a later one.
  std::atomic<uint64_t> end_{0};
  std::atomic<uint64_t> last_ticket_{0};

  // --- Members of all threads
  // All records with tickets up to this are in their places. Sequentially consistent together with
  // Slot::filled and sleepers_: of two threads that fill neighbours, or of one that fills and one
  // that goes to sleep, the later sees the earlier.
  alignas(64) std::atomic<uint64_t> whole_{0};
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> state_{kUsable};  // Publishes error_.
  mutable Mutex mu_{lock_ranks::kMappedLog};
  IOStatus error_ VARVE_GUARDED_BY(mu_);  // The first failure.
  const std::unique_ptr<Slot[]> slots_;
};

}  // namespace varve::wal
