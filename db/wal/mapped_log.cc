// SPDX-License-Identifier: Apache-2.0

// Stores records into a mapped file so that, at any moment at which the process may be killed, the
// file holds whole records only, in order, up to some point.
//
//    Reserve (under the caller's lock)   assigns the place: offset, size, ticket
//    Fill    (any thread, in parallel)   1. payloads of all fragments
//                                        2. headers, the record's first one last
//    frontier                            end of the last record that has no hole before it
//
// Invariants:
//
// 1. A record's first header is stored after everything else of the record, with one store, so it
//    is there whole or not at all. Before that the place reads as zeros, which a reader takes for
//    the end.
// 2. Stores of one thread reach the file in program order, as a killed thread stops between two
//    instructions (KeepStoreOrder keeps the compiler from changing it). Between threads the
//    frontier synchronises: WaitWhole returns when every record before this one is filled.
// 3. A place is always filled, whatever happens to its write: a hole would hide all later records.
//    So Fill cannot fail, and everything that may fail is in Reserve.
// 4. A record that is too large for the mapped part is written by calls (GatherFragment), in the
//    same order: first header last.
// 5. A power loss may take any page that was not synced, in any order; what remains is judged by
//    the reader (log_reader.cc). Sync covers what was whole when it began.
// 6. After a failure the log accepts nothing more (kFull), or nothing in it counts any more
//    (kBroken); earlier records stay valid in the first case.

#include "db/wal/mapped_log.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "db/wal/gathered_write.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/coding/crc32c.h"
#include "util/coding/fixed.h"
#include "util/metrics/iostats.h"

namespace varve::wal {

namespace {

constexpr size_t kPayloadBytes = kBlockBytes - kHeaderBytes;  // In a fragment that fills a block.

static_assert(LogSegments::kFirstBytes % kBlockBytes == 0);

// Returns the start of a record that follows `offset`: always where a header fits.
uint64_t StartAt(uint64_t offset) {
  const uint64_t room = kBlockBytes - offset % kBlockBytes;
  return room < kHeaderBytes ? offset + room : offset;
}

// Returns the end, with all headers, of a record of n bytes that starts at `start`.
uint64_t EndOf(uint64_t start, size_t n) {
  const uint64_t room = kBlockBytes - start % kBlockBytes - kHeaderBytes;
  if (n <= room) return start + kHeaderBytes + n;
  const uint64_t rest = n - room;
  const uint64_t whole_blocks = rest / kPayloadBytes;
  const uint64_t last = rest % kPayloadBytes;
  return start + kHeaderBytes + room + whole_blocks * kBlockBytes +
         (last > 0 ? kHeaderBytes + last : 0);
}

// Keeps earlier stores before later ones in the instruction order. A killed thread stops between
// two instructions, so this suffices; other threads are synchronised by the frontier.
void KeepStoreOrder() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Copies the first n bytes of `part` and removes them from it.
void MoveFront(Slice* part, size_t n, char* to) {
  if (n == 0) return;
  std::memcpy(to, part->data(), n);
  part->remove_prefix(n);
}

// The header of a fragment, which is stored after the payload.
struct Header {
  char* at = nullptr;  // Where it goes; null if the place is not mapped.
  size_t payload = 0;
  uint64_t bits = 0;  // In memory order; the eighth byte is unused.
};

// Returns the bytes of a header in memory order. `crc`, of the type and the payload, is not masked.
uint64_t HeaderBits(uint32_t crc, size_t payload, RecordType type) {
  char bytes[sizeof(uint64_t)] = {};
  EncodeFixed32(bytes, crc32c::Mask(crc));
  EncodeFixed16(bytes + 4, static_cast<uint16_t>(payload));
  bytes[6] = static_cast<char>(type);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, sizeof(bytes));
  return bits;
}

// Writes a header with one store, so that it is all zeros or whole: seven bytes, and the payload's
// first byte again. After an empty fragment other bytes begin; there the type is stored last,
// without which the rest is not a record.
void StoreHeader(const Header& header) {
  KeepStoreOrder();
  if (header.payload > 0) [[likely]] {
    char bytes[8];
    std::memcpy(bytes, &header.bits, kHeaderBytes);
    bytes[kHeaderBytes] = header.at[kHeaderBytes];
    uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof(word));
    std::memcpy(header.at, &word, sizeof(word));
  } else {
    std::memcpy(header.at, &header.bits, kHeaderBytes - 1);
    KeepStoreOrder();
    header.at[kHeaderBytes - 1] = reinterpret_cast<const char*>(&header.bits)[kHeaderBytes - 1];
  }
  KeepStoreOrder();
}

// Stores the payload, from the fronts of `head` and `tail`, which it removes. Sets header->bits;
// `crc` is that of the type.
[[gnu::always_inline]] inline void StorePayload(uint32_t crc, RecordType type, Slice* head,
                                                Slice* tail, Header* header) {
  char* const payload = header->at + kHeaderBytes;
  const size_t of_head = std::min(head->size(), header->payload);
  MoveFront(head, of_head, payload);
  MoveFront(tail, header->payload - of_head, payload + of_head);
  // Computed over the copy, which is contiguous.
  header->bits = HeaderBits(crc32c::Extend(crc, payload, header->payload), header->payload, type);
}

// Does the work of StorePayload for a fragment in a part of the file that is not mapped. Adds the
// payload to `written`, and the header unless the fragment is its record's first: that header comes
// last, when the rest of the record is in the file. `offset` is where the fragment begins.
IOStatus GatherFragment(uint64_t offset, uint32_t crc, RecordType type, Slice* head, Slice* tail,
                        Header* header, GatheredWrite* written) {
  const Slice of_head(head->data(), std::min(head->size(), header->payload));
  const Slice of_tail(tail->data(), header->payload - of_head.size());
  crc = crc32c::Extend(crc, of_head.data(), of_head.size());
  crc = crc32c::Extend(crc, of_tail.data(), of_tail.size());
  header->bits = HeaderBits(crc, header->payload, type);
  head->remove_prefix(of_head.size());
  tail->remove_prefix(of_tail.size());
  const bool is_first = type == kFullType || type == kFirstType;
  return written->Add(offset, is_first ? nullptr : reinterpret_cast<const char*>(&header->bits),
                      of_head, of_tail);
}

}  // namespace

MappedLog::MappedLog(std::unique_ptr<MappedFile> file, uint64_t number)
    : file_(std::move(file)),
      number_(number),
      type_crc_(),
      source_(file_.get()),
      slots_(std::make_unique<Slot[]>(kPlacesMax)) {
  for (uint8_t type = 0; type <= kLastType; type++) {
    const char byte = static_cast<char>(type);
    type_crc_[type] = crc32c::Value(&byte, 1);
  }
}

IOStatus MappedLog::Open(std::unique_ptr<MappedFile> file, uint64_t number,
                         std::unique_ptr<MappedLog>* log) {
  std::unique_ptr<MappedLog> opened(new MappedLog(std::move(file), number));
  VARVE_RETURN_IF_ERROR(opened->GrowTo(1, /*mapped=*/true));
  opened->tail_ = opened->segments_.front().get();
  *log = std::move(opened);
  return IOStatus::OK();
}

MappedLog::~MappedLog() {
  source_.Stop();
  for (auto& segment : segments_) source_.Return(std::move(segment));
}

// Runs for every write, so it must not be a function call of its own.
[[gnu::always_inline]] inline IOStatus MappedLog::ReserveAt(uint64_t start, size_t bytes,
                                                            LogReservation* place) {
  if (failed()) [[unlikely]]
    return Error();
  VARVE_ASSERT(!sealed_);
  VARVE_ASSERT(start >= size() && kBlockBytes - start % kBlockBytes >= kHeaderBytes);
  const uint64_t ticket = last_ticket_.load(std::memory_order_relaxed) + 1;
  const uint64_t end = EndOf(start, bytes);
  if (end > mapped_end_) [[unlikely]] {
    IOStatus s = GrowTo(end, /*mapped=*/bytes < kWrittenBytes);
    if (!s.ok()) return Fail(kFull, std::move(s));
  }
  if (start >= tail_->end()) [[unlikely]]
    LeaveSegments(start, ticket);
  // The place that used the slot before must be whole, or its waiters would not be woken.
  if (whole_.load(std::memory_order_acquire) + kPlacesMax < ticket) [[unlikely]] {
    SleepUntil(ticket - kPlacesMax);
  }
  Slot& slot = SlotOf(ticket);
  VARVE_ASSERT(slot.filled.load(std::memory_order_relaxed) % kPlacesMax == ticket % kPlacesMax ||
               ticket <= kPlacesMax);
  VARVE_ASSERT(start >= tail_->begin && start < tail_->end());
  slot.segment = tail_;
  slot.offset = start;
  place->log = this;
  place->ticket = ticket;
  place->bytes = bytes;
  last_ticket_.store(ticket, std::memory_order_release);
  end_.store(end, std::memory_order_release);
  return IOStatus::OK();
}

IOStatus MappedLog::Reserve(size_t bytes, LogReservation* place) {
  return ReserveAt(StartAt(end_.load(std::memory_order_relaxed)), bytes, place);
}

// Does what Reserve, Fill and WaitWhole do, for a record that has its own type and is never split.
// Its place is filled whatever fails, as others wait for it.
IOStatus MappedLog::AddTimestampSizes(const Slice& payload) {
  uint64_t start = StartAt(end_.load(std::memory_order_relaxed));
  const uint64_t room = kBlockBytes - start % kBlockBytes;
  if (room < kHeaderBytes + payload.size()) start += room;  // It is never split.
  LogReservation place;
  VARVE_RETURN_IF_ERROR(ReserveAt(start, payload.size(), &place));
  Slot& slot = SlotOf(place.ticket);
  if (state_.load(std::memory_order_acquire) != kBroken) {
    const char type = kTimestampSizeType;
    Header header;
    header.payload = payload.size();
    Slice head = payload;
    Slice tail;
    if (slot.segment->base != nullptr) {
      header.at = slot.segment->base + (slot.offset - slot.segment->begin);
      StorePayload(crc32c::Value(&type, 1), kTimestampSizeType, &head, &tail, &header);
      StoreHeader(header);
    } else {
      GatheredWrite written(file_.get());
      IOStatus s = GatherFragment(slot.offset, crc32c::Value(&type, 1), kTimestampSizeType, &head,
                                  &tail, &header, &written);
      if (s.ok()) s = written.Write();
      if (!s.ok()) Fail(kBroken, std::move(s)).PermitUncheckedError();
    }
  }
  slot.filled.store(place.ticket, std::memory_order_seq_cst);
  AdvanceFrontier();
  return WaitWhole(place);
}

// Takes segments until they reach `end`. They are linked, so that a record which continues in the
// next one finds it.
IOStatus MappedLog::GrowTo(uint64_t end, bool mapped) {
  while (mapped_end_ < end) {
    std::unique_ptr<LogSegment> segment;
    VARVE_RETURN_IF_ERROR(source_.Take(mapped ? 0 : end - mapped_end_, &segment));
    LogSegment* const taken = segment.get();
    LogSegment* const before = segments_.empty() ? nullptr : segments_.back().get();
    try {
      segments_.push_back(std::move(segment));
    } catch (...) {
      // The file would have a hole there, so it counts as full.
      source_.Return(std::move(segment));
      return status_to_io_status(CaughtException());
    }
    VARVE_ASSERT(taken->begin == mapped_end_);
    if (before != nullptr) before->next = taken;
    mapped_end_ = taken->end();
  }
  return IOStatus::OK();
}

// The record with this ticket starts after the tail. Unmaps segments that all records have left.
void MappedLog::LeaveSegments(uint64_t start, uint64_t ticket) {
  while (start >= tail_->end()) {
    VARVE_ASSERT(tail_->next != nullptr);
    tail_->last_ticket = ticket - 1;
    tail_ = tail_->next;
  }
  const uint64_t whole = whole_.load(std::memory_order_acquire);
  while (segments_.front().get() != tail_ && segments_.front()->last_ticket <= whole) {
    source_.Return(std::move(segments_.front()));
    segments_.pop_front();
  }
}

// Stores the record, beside other threads that store theirs, and marks the place as filled. A
// failure breaks the log, and WaitWhole returns it.
void MappedLog::Fill(const LogReservation& place, const Slice& head, const Slice& tail) {
  Slot& slot = SlotOf(place.ticket);
  VARVE_ASSERT(place.log == this);
  VARVE_ASSERT(head.size() + tail.size() == place.bytes);
  VARVE_ASSERT(slot.filled.load(std::memory_order_relaxed) < place.ticket);
  // A log that lost something is not written any more; the frontier still moves, so that all
  // waiters learn of it.
  if (state_.load(std::memory_order_acquire) != kBroken) [[likely]] {
    IOStatus s = Store(slot, head, tail);
    if (!s.ok()) [[unlikely]]
      Fail(kBroken, std::move(s)).PermitUncheckedError();
  }
  AddIOCount<&IOStatsContext::bytes_written>(place.bytes);
  slot.filled.store(place.ticket, std::memory_order_seq_cst);
  AdvanceFrontier();
}

// Puts payloads into the file first, then the headers, the first fragment's last of all: until then
// the place begins with zeros, at which a reader stops.
IOStatus MappedLog::Store(const Slot& slot, Slice head, Slice tail) const {
  const LogSegment* segment = slot.segment;
  uint64_t offset = slot.offset;
  size_t left = head.size() + tail.size();
  Header first;
  std::optional<GatheredWrite> written;  // The fragments in segments that are not mapped.
  do {
    if (offset >= segment->end()) segment = segment->next;
    VARVE_ASSERT(segment != nullptr && offset >= segment->begin && offset < segment->end());
    const bool is_first = offset == slot.offset;
    Header header;
    header.payload = std::min<size_t>(left, kBlockBytes - offset % kBlockBytes - kHeaderBytes);
    const RecordType type = FragmentType(is_first, header.payload == left);
    if (segment->base != nullptr) [[likely]] {
      header.at = segment->base + (offset - segment->begin);
      StorePayload(type_crc_[type], type, &head, &tail, &header);
      if (!is_first) StoreHeader(header);
    } else {
      if (!written.has_value()) written.emplace(file_.get());
      VARVE_RETURN_IF_ERROR(
          GatherFragment(offset, type_crc_[type], type, &head, &tail, &header, &*written));
    }
    if (is_first) first = header;
    left -= header.payload;
    offset += kHeaderBytes + header.payload;
  } while (left > 0);
  VARVE_ASSERT(head.empty() && tail.empty());
  if (written.has_value()) VARVE_RETURN_IF_ERROR(written->Write());
  if (first.at != nullptr) [[likely]] {
    StoreHeader(first);
    return IOStatus::OK();
  }
  const Slice bytes(reinterpret_cast<const char*>(&first.bits), kHeaderBytes);
  return file_->Write(slot.offset, &bytes, 1);
}

// The thread that fills the place at the frontier moves it over all following filled places. Of two
// threads that see the same frontier one moves it, and the other looks again; so no filled place is
// left behind, whichever of them saw it.
void MappedLog::AdvanceFrontier() {
  for (;;) {
    uint64_t from = whole_.load(std::memory_order_seq_cst);
    uint64_t to = from;
    while (SlotOf(to + 1).filled.load(std::memory_order_seq_cst) == to + 1) to++;
    if (to == from) return;
    VARVE_ASSERT(to <= last_ticket());
    if (!whole_.compare_exchange_strong(from, to, std::memory_order_seq_cst)) continue;
    if (sleepers_.load(std::memory_order_seq_cst) > 0) [[unlikely]]
      WakeThrough(from, to);
  }
}

void MappedLog::WakeThrough(uint64_t from, uint64_t to) {
  for (uint64_t ticket = from + 1; ticket <= to; ticket++) {
    Slot& slot = SlotOf(ticket);
    slot.passed.fetch_add(1, std::memory_order_release);
    slot.passed.notify_all();
  }
}

// The slot may be reused by the time its old sleepers wake; some threads then wake too early.
void MappedLog::SleepUntil(uint64_t ticket) {
  Slot& slot = SlotOf(ticket);
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  for (;;) {
    const uint32_t before = slot.passed.load(std::memory_order_acquire);
    if (whole_.load(std::memory_order_seq_cst) >= ticket) break;
    slot.passed.wait(before, std::memory_order_acquire);  // Spins a little before it sleeps.
  }
  sleepers_.fetch_sub(1, std::memory_order_release);
}

IOStatus MappedLog::WaitWhole(const LogReservation& place) {
  VARVE_ASSERT(place.ticket <= last_ticket());
  if (whole_.load(std::memory_order_acquire) < place.ticket) SleepUntil(place.ticket);
  // Checked after the frontier: a thread that passed a place without storing has seen the failure.
  if (state_.load(std::memory_order_acquire) == kBroken) [[unlikely]]
    return Error();
  return IOStatus::OK();
}

// The end is read before the ticket, so every byte before that end is of a record that is waited
// for.
LogExtent MappedLog::AwaitReserved() {
  const uint64_t end = size();
  const uint64_t ticket = last_ticket();
  if (whole_.load(std::memory_order_acquire) < ticket) SleepUntil(ticket);
  return LogExtent{ticket, end};
}

IOStatus MappedLog::HandOver(uint64_t* end) {
  VARVE_RETURN_IF_ERROR(CheckUsable());
  // VARVE_CANARY: a bug that only test builds plant (util/base/canary.h).
  if (VARVE_CANARY(kSkipFrontierWait)) {
    *end = size();
    return IOStatus::OK();
  }
  const LogExtent whole = AwaitReserved();
  VARVE_RETURN_IF_ERROR(CheckUsable());
  *end = whole.bytes;
  return IOStatus::OK();
}

// Determines what is whole before the sync of the file begins, since only that is surely covered. A
// failed sync breaks the log: nobody knows what of it is durable.
IOStatus MappedLog::Sync(bool use_fsync, LogExtent* covered) {
  VARVE_RETURN_IF_ERROR(CheckUsable());
  const LogExtent whole = AwaitReserved();
  const IOTimer<&IOStatsContext::fsync_nanos> timer;
  IOStatus s = file_->Sync(use_fsync);
  if (!s.ok()) return Fail(kBroken, std::move(s));
  VARVE_RETURN_IF_ERROR(CheckUsable());
  *covered = whole;
  return s;
}

// Unmaps everything before the file is truncated, as an access behind its end would be a fault.
IOStatus MappedLog::Seal() {
  if (sealed_) return CheckUsable();
  sealed_ = true;
  source_.Stop();
  for (auto& segment : segments_) source_.Return(std::move(segment));
  segments_.clear();
  // The log ends where the first place starts that was never filled.
  const uint64_t whole = whole_.load(std::memory_order_acquire);
  const uint64_t end = whole < last_ticket() ? SlotOf(whole + 1).offset : size();
  VARVE_ASSERT(end <= size());
  IOStatus s = file_->Truncate(end);
  return s.ok() ? CheckUsable() : Fail(kBroken, std::move(s));
}

IOStatus MappedLog::Close() {
  IOStatus s = Seal();
  IOStatus closed = file_->Close();
  return s.ok() ? closed : s;
}

IOStatus MappedLog::CheckUsable() const {
  return failed() ? Error() : IOStatus::OK();
}

IOStatus MappedLog::Error() const {
  MutexLock lock(&mu_);
  return error_;
}

IOStatus MappedLog::Fail(State state, IOStatus error) {
  MutexLock lock(&mu_);
  if (error_.ok()) error_ = std::move(error);
  if (state_.load(std::memory_order_relaxed) < state) {
    state_.store(state, std::memory_order_release);
  }
  return error_;
}

}  // namespace varve::wal
