// SPDX-License-Identifier: Apache-2.0
#include "db/wal/synced_marks.h"

#include <array>
#include <utility>

#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/coding/crc32c.h"
#include "util/coding/fixed.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"

namespace varve::wal {

namespace {

constexpr uint64_t kMagic = 0x6b72616d65767261;  // "arvemark".
constexpr size_t kFields = 6;
constexpr size_t kSlotBytes = kFields * sizeof(uint64_t) + sizeof(uint32_t);
// There are two slots, written in turn, because a kill inside a note corrupts one of them. Each has
// its own sector.
constexpr uint64_t kSlotStep = 512;
// Bounds what is read; the two slots take less.
constexpr uint64_t kFileBytesMax = 4096;

std::array<char, kSlotBytes> Encode(const SyncedMark& mark, uint64_t round) {
  std::array<char, kSlotBytes> slot;
  char* end = slot.data();
  for (const uint64_t field :
       {kMagic, round, mark.log, mark.log_bytes, mark.manifest, mark.manifest_bytes}) {
    EncodeFixed64(end, field);
    end += sizeof(field);
  }
  EncodeFixed32(end, crc32c::Mask(crc32c::Value(slot.data(), kFields * sizeof(uint64_t))));
  return slot;
}

// Returns false if the slot has no whole mark.
bool Decode(const char* slot, uint64_t* round, SyncedMark* mark) {
  const size_t fields = kFields * sizeof(uint64_t);
  if (crc32c::Unmask(DecodeFixed32(slot + fields)) != crc32c::Value(slot, fields)) return false;
  std::array<uint64_t, kFields> values;
  for (size_t i = 0; i < kFields; i++) values[i] = DecodeFixed64(slot + i * sizeof(uint64_t));
  if (values[0] != kMagic) return false;
  *round = values[1];
  *mark = SyncedMark{values[2], values[3], values[4], values[5]};
  return true;
}

}  // namespace

// Returns the mark of the whole slot that was written last.
SyncedMark ReadSyncedMark(FileSystem* fs, const std::string& db_name) {
  SyncedMark newest;
  std::string bytes;
  if (!ReadFileToString(fs, SyncedMarksFileName(db_name), kFileBytesMax, &bytes).ok()) {
    return newest;
  }
  uint64_t newest_round = 0;
  for (uint64_t at = 0; at + kSlotBytes <= bytes.size(); at += kSlotStep) {
    uint64_t round = 0;
    SyncedMark mark;
    if (!Decode(bytes.data() + at, &round, &mark) || round < newest_round) continue;
    newest_round = round;
    newest = mark;
  }
  return newest;
}

SyncedMarks::SyncedMarks(std::shared_ptr<FileSystem> fs, std::string db_name, SystemClock* clock)
    : fs_(std::move(fs)), db_name_(std::move(db_name)), clock_(clock) {}

SyncedMarks::~SyncedMarks() = default;

// Without the file nothing is marked, as after a failure of Write.
void SyncedMarks::Begin() {
  const std::string path = SyncedMarksFileName(db_name_);
  // Replaces the contents, which are from before; a file for random writes must exist.
  std::unique_ptr<FSWritableFile> empty;
  IOStatus s = fs_->NewWritableFile(path, FileOptions(), &empty, nullptr);
  if (s.ok()) s = empty->Close(IOOptions(), nullptr);
  IoMutexLock lock(&mu_);
  if (s.ok()) s = fs_->NewRandomRWFile(path, FileOptions(), &file_, nullptr);
  if (!s.ok()) file_.reset();
  Write();
}

void SyncedMarks::NoteLog(uint64_t log, uint64_t bytes, bool last) {
  IoMutexLock lock(&mu_);
  VARVE_ASSERT(log > mark_.log || (log == mark_.log && bytes >= mark_.log_bytes));
  mark_.log = log;
  mark_.log_bytes = bytes;
  // The last mark is written whatever the time is, so the clock is not asked.
  const uint64_t now = last ? 0 : clock_->NowNanos();
  if (last || now - written_nanos_ >= kBetweenNotesNanos) {
    Write();
    written_nanos_ = now;
  }
}

void SyncedMarks::NoteManifest(uint64_t manifest, uint64_t bytes) {
  IoMutexLock lock(&mu_);
  VARVE_ASSERT(manifest > mark_.manifest ||
               (manifest == mark_.manifest && bytes >= mark_.manifest_bytes));
  mark_.manifest = manifest;
  mark_.manifest_bytes = bytes;
  Write();
}

// An error ends the marks for good: a missing mark only weakens what a later opening can prove, so
// it must not fail a write.
void SyncedMarks::Write() {
  if (file_ == nullptr) return;
  const auto bytes = Encode(mark_, ++written_);
  const Slice slot(bytes.data(), bytes.size());
  const Status s = Guarded([&slot, file = file_.get(), place = written_ % 2 * kSlotStep] {
    return file->Write(place, slot, IOOptions(), nullptr);
  });
  if (!s.ok()) file_.reset();
}

}  // namespace varve::wal
