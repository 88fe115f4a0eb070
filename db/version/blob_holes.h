// SPDX-License-Identifier: Apache-2.0
#pragma once

// Knows which bytes of blob files are garbage, and when they may be given back to the file system
// (ColumnFamilyOptions::punch_holes_in_blob_files).
//
//      compaction in force    Add: records that no output refers to
//          |                  wait while an older version has the blob file
//      purge                  TakeReady: whole blocks of garbage that are not punched yet
//          |
//      FileSystem::PunchHole  without the DB mutex; Return if it fails
//
// Why it is safe
// 1. A file is looked at only if each of its records has at most one reference in any version
//    (BlobFileFacts::referred_once). So the version that a compaction leads to, and all later ones,
//    have none to what the compaction has dropped.
// 2. A version that is older may have the reference in a table that the compaction did not read: in
//    one of which an input was made. It is not enough that the inputs are gone; all versions older
//    than the compaction's that have the blob file must be. Whoever reads a value holds its
//    version, and so do iterators, running compactions and copies; a copy by names alone forbids
//    the deletion of files, and then nothing is purged. The release of such a version makes a table
//    obsolete, and so causes the next purge.
// 3. A hole consists of blocks whose every byte is garbage: a neighbour that is alive, the header
//    and the footer of the file do not change. Neighbours that become garbage one after the other,
//    even by different compactions, are punched as one, with the block on their border, unless the
//    database was opened in between or memory was short: then that block stays.
// 4. Nothing is punched while a copy of the database is made, or file deletions are disabled: the
//    copy is safe by 2, but a backup reads a file twice, and expects the same bytes.
//
// Nothing of this is stored. What waits when the database is closed, or crashes, stays as it is
// until garbage collection removes the file. The same goes for what does not fit into the memory
// that this may take.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "db/blob/byte_ranges.h"
#include "db/db_mutex.h"
#include "db/version/blob_file.h"
#include "db/version/version.h"

namespace varve {

// Thread safety: none; guarded by the DB mutex. Methods that take no memory leave everything as it
// is; after an exception of another one some garbage may be forgotten.
class BlobHoles {
 public:
  // So many ranges are kept, about 8 MiB; the garbage of the oldest files is forgotten first.
  static constexpr size_t kMostRanges = size_t{1} << 17;

  // Holes that may be punched into one file; may be none.
  struct Task {
    std::shared_ptr<const BlobFile> file;
    std::vector<ByteRange> holes;
  };

  BlobHoles() = default;
  BlobHoles(const BlobHoles&) = delete;
  BlobHoles& operator=(const BlobHoles&) = delete;

  // Takes records of a file of this family to which the version `without`, and those with larger
  // numbers, do not refer.
  void Add(uint32_t family, const std::shared_ptr<const BlobFile>& file, uint64_t without,
           ByteRanges records) VARVE_REQUIRES(kDbMutex);
  // True if TakeReady would find nothing.
  [[nodiscard]] bool empty() const VARVE_REQUIRES(kDbMutex) {
    return waiting_.empty() || holds_ > 0;
  }
  // Sets *tasks, which must be empty, to what may be punched now, and counts it as punched. `live`
  // are all versions that may have readers. Garbage of a family that does not want holes any more
  // is forgotten. The tasks must be released without the DB mutex, also after an exception.
  void TakeReady(const std::vector<VersionRef>& live,
                 const std::function<bool(uint32_t family)>& wanted, std::vector<Task>* tasks)
      VARVE_REQUIRES(kDbMutex);
  // Takes back a hole that could not be punched. It is returned again with further garbage of the
  // file.
  void Return(uint64_t number, const ByteRange& hole) VARVE_REQUIRES(kDbMutex);

  // From Hold on until EndHold, TakeReady finds nothing: somebody reads whole files, and compares
  // what he has read at different times.
  void Hold() VARVE_REQUIRES(kDbMutex) { holds_++; }
  void EndHold() VARVE_REQUIRES(kDbMutex) { holds_--; }
  // Begin and end the carrying out of tasks.
  void BeginPunching() VARVE_REQUIRES(kDbMutex) { punching_++; }
  void EndPunching() VARVE_REQUIRES(kDbMutex) { punching_--; }
  // True in between: then files may still change, although nothing more is taken.
  [[nodiscard]] bool is_punching() const VARVE_REQUIRES(kDbMutex) { return punching_ > 0; }

  // Count what was punched, and what failed, since the opening.
  void CountPunched(uint64_t bytes) VARVE_REQUIRES(kDbMutex) { punched_bytes_ += bytes; }
  void CountError() VARVE_REQUIRES(kDbMutex) { errors_++; }
  [[nodiscard]] uint64_t punched_bytes() const VARVE_REQUIRES(kDbMutex) { return punched_bytes_; }
  [[nodiscard]] uint64_t errors() const VARVE_REQUIRES(kDbMutex) { return errors_; }

 private:
  // The records of one file that one compaction has dropped.
  struct Waiting {
    uint32_t family = 0;
    uint64_t number = 0;   // of the blob file
    uint64_t without = 0;  // number of the first version that does not refer to the records
    ByteRanges records;
  };
  struct File {
    std::weak_ptr<const BlobFile> file;
    ByteRanges garbage;  // without readers
    ByteRanges punched;
  };

  // Returns, for each blob file whose garbage waits, the number of the oldest of the live versions
  // that have it. Versions are searched once for each file, however many compactions dropped of it.
  [[nodiscard]] std::map<uint64_t, uint64_t> OldestWith(const std::vector<VersionRef>& live) const
      VARVE_REQUIRES(kDbMutex);
  // Forgets files that no version has any more, and the oldest ones if there are too many ranges.
  void Limit() VARVE_REQUIRES(kDbMutex);
  // Returns the number of ranges that all members hold.
  [[nodiscard]] size_t Ranges() const VARVE_REQUIRES(kDbMutex);

  std::list<Waiting> waiting_ VARVE_GUARDED_BY(kDbMutex);
  std::map<uint64_t, File> files_ VARVE_GUARDED_BY(kDbMutex);  // by number
  int holds_ VARVE_GUARDED_BY(kDbMutex) = 0;
  int punching_ VARVE_GUARDED_BY(kDbMutex) = 0;
  uint64_t punched_bytes_ VARVE_GUARDED_BY(kDbMutex) = 0;
  uint64_t errors_ VARVE_GUARDED_BY(kDbMutex) = 0;
};

}  // namespace varve
