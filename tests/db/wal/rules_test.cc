// SPDX-License-Identifier: Apache-2.0

// Goal: a build with assertions stops a caller that breaks a rule of the logs.

#include "db/wal/buffered_log.h"
#include "db/wal/log_set.h"
#include "db/wal/synced_marks.h"
#include "db/wal/timestamp_sizes.h"
#include "tests/db/broken_rules.h"
#include "tests/db/wal/mapped_log_harness.h"

namespace varve::rules_of_wal {
namespace {

std::unique_ptr<wal::LogWriter> NewWriter(MemFileSystem* fs, uint64_t number = 1) {
  std::unique_ptr<WritableFileWriter> file;
  EXPECT_TRUE(WritableFileWriter::Create(fs, "/log", FileOptions(), {}, &file).ok());
  return std::make_unique<wal::LogWriter>(std::move(file), number);
}

struct Buffered {
  Buffered() : log(NewWriter(&fs)) { EXPECT_TRUE(log.Reserve(4, &place).ok()); }
  MemFileSystem fs;
  wal::BufferedLog log;
  wal::LogReservation place;
};

std::unique_ptr<wal::CommitLog> NewLog(MemFileSystem* fs, uint64_t number) {
  return std::make_unique<wal::BufferedLog>(NewWriter(fs, number));
}

struct Marks {
  Marks() : marks(std::make_shared<MemFileSystem>(), "/", SystemClock::Default().get()) {
    marks.NoteLog(5, 100);
    marks.NoteManifest(7, 100);
  }
  wal::SyncedMarks marks;
};

TEST(WalRules, BreakingOneEndsTheProcess) {
  ExpectDeaths({
      {"place.log == this",
       [] {
         Buffered other;
         Buffered().log.Fill(other.place, "data");
       }},
      {"place.ticket >= first_ticket_ && place.ticket <= LastTicket()",
       [] {
         Buffered b;
         b.place.ticket++;
         b.log.Fill(b.place, "data");
       }},
      {"bytes.size() == place.bytes",
       [] {
         Buffered b;
         b.log.Fill(b.place, "too much");
       }},
      {"!pending.filled",
       [] {
         Buffered b;
         b.log.Fill(b.place, "data");
         b.log.Fill(b.place, "data");
       }},
      {"place.ticket <= LastTicket()",
       [] {
         Buffered b;
         b.place.ticket++;
         (void)b.log.WaitWhole(b.place);
       }},
      {"slot.filled.load(std::memory_order_relaxed) < place.ticket",
       [] {
         MappedLogOnDisk m;
         wal::LogReservation place;
         EXPECT_TRUE(m.log->Reserve(4, &place).ok());
         m.log->Fill(place, "data");
         m.log->Fill(place, "data");
       }},
      {"head.size() + tail.size() == place.bytes",
       [] {
         MappedLogOnDisk m;
         wal::LogReservation place;
         EXPECT_TRUE(m.log->Reserve(4, &place).ok());
         m.log->Fill(place, "much");
         EXPECT_TRUE(m.log->Reserve(4, &place).ok());
         m.log->Fill(place, "more");
         EXPECT_TRUE(m.log->Reserve(4, &place).ok());
         m.log->Fill(place, "too much");
       }},
      {"place.ticket <= last_ticket()",
       [] {
         MappedLogOnDisk m;
         (void)m.log->WaitWhole(wal::LogReservation{m.log.get(), 1, 4});
       }},
      {"!sealed_",
       [] {
         MappedLogOnDisk m;
         wal::LogReservation place;
         EXPECT_TRUE(m.log->Seal().ok());
         (void)m.log->Reserve(4, &place);
       }},
      {"header + payload.size() <= kBlockBytes",
       [] {
         MemFileSystem fs;
         (void)NewWriter(&fs)->AddTimestampSizes(std::string(wal::kBlockBytes, 'x'));
       }},
      {"logs_.empty() || logs_.back().number < next->number()",
       [] {
         MemFileSystem fs;
         LogSet logs(false);
         logs.Switch(NewLog(&fs, 2), nullptr);
         logs.Switch(NewLog(&fs, 1), nullptr);
       }},
      {"current_ != nullptr",
       [] {
         wal::LogReservation place;
         (void)LogSet(false).Reserve(4, &place);
       }},
      {"current_ == nullptr",
       [] {
         MemFileSystem fs;
         LogSet logs(false);
         logs.Switch(NewLog(&fs, 2), nullptr);
         logs.AddRecovered(3, 10);
       }},
      {"log > mark_.log || (log == mark_.log && bytes >= mark_.log_bytes)",
       [] { Marks().marks.NoteLog(5, 99); }},
      {"manifest > mark_.manifest ||", [] { Marks().marks.NoteManifest(6, 200); }},
      {"size > 0 && size <= kTimestampBytesMax",
       [] {
         (void)wal::EncodeTimestampSizes({{1, 0}});
       }},
  });
}

}  // namespace
}  // namespace varve::rules_of_wal
