// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes the state that the records of a MANIFEST describe.
//
// A MANIFEST is a log whose records are version edits. It begins with edits that describe a whole
// state, and each later edit is a change. Replay applies them in order:
//
//      record --DecodeFrom--> VersionEdit --group complete?--> TakeRecord
//                                   |  no: kept in group_ until the last record of the group
//                                   v
//               ApplyGlobals (numbers, id, positions)   ApplyToFamily -> VersionBuilder
//
// A version is built only once, from what all edits leave: building one for each record would cost
// as much as the database has edits times files. Records of an atomic group take effect together
// or, if the last one is missing, not at all.
//
// Three callers share this: openings, which read a MANIFEST once and refuse damage; repairs, which
// go as far as they can; and followers of another process's database, which read on from time to
// time (Succeed, Take).

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "db/version/comparator_change.h"
#include "db/version/manifest_point.h"
#include "db/version/version_builder.h"
#include "db/version/version_edit.h"
#include "db/version/version_set.h"

namespace varve {

// Largest number of a file in a MANIFEST. It is far from where the counter would wrap around.
inline constexpr uint64_t kMaxFileNumber = uint64_t{1} << 62;
// Largest number of a found file that raises the counter: the counter must never reach the limit
// above.
inline constexpr uint64_t kMaxFoundFileNumber = kMaxFileNumber / 2;

// Sets *manifest_number to that of the MANIFEST which CURRENT names. Corruption, naming the
// MANIFESTs that exist: CURRENT is not exactly the name of an existing one and a newline.
Status ReadCurrent(FileSystem* fs, const std::string& db_name, uint64_t* manifest_number);

// Used once: constructed, told what to report (TellGoneAmong, GoBackTo, Succeed), then Read, or
// Begin and Take. Writes nothing. After an error its results have no meaning.
//
// Thread safety: none. Ownership: the families that it returns are shared with whoever takes them;
// its builders live as long as the replay.
class ManifestReplay {
 public:
  struct Family {
    std::shared_ptr<FamilyVersions> versions;
    std::string context;  // "<manifest>: column family <name>"
    // Null if the opener did not name the family: then its files are ignored.
    std::unique_ptr<VersionBuilder> builder;
    TimestampSwitch timestamps = TimestampSwitch::kSame;
    std::set<uint64_t> tables;  // requested tables that belong to it
    // Not OK: the reason why the family does not fit what the opener wants for its name. The rest
    // of it is ignored. If the family still exists at the end, the opening fails; but the name may
    // have passed to another family.
    Status refusal;
  };

  // `wanted` is borrowed and names the families whose trees are to be built.
  ManifestReplay(std::string path, const std::vector<FamilyToOpen>* wanted,
                 std::shared_ptr<ObsoleteFileQueue> queue);

  // Makes TakeGoneTables return those of `tables` that edits, or the drop of their family, remove.
  // `tables` are the numbers of the files on disk; borrowed. Without this call none is returned, as
  // a MANIFEST may name many that are long gone.
  void TellGoneAmong(const std::set<uint64_t>* tables) { present_ = tables; }

  // Applies no more than `point`, an earlier state of the database, allows. `point` is borrowed.
  // Damage after it is ignored.
  void GoBackTo(const ManifestPoint* point) { point_ = point; }

  // Continues an earlier replay: known families keep their comparators, and the metadata of
  // unchanged files in `files` are reused, since they may be open.
  void Succeed(std::map<uint32_t, std::shared_ptr<FamilyVersions>> families, ReusableFiles files) {
    before_ = std::move(families);
    reused_ = std::move(files);
  }

  // Drops the files that were not reused, as they would stay open without need.
  void EndSucceeding() { reused_ = {}; }

  // Reads the whole file. Returns Corruption, naming the file and the offset, for damage.
  Status Read(FileSystem* fs, const FileOptions& file_options);
  // Alternative to Read for a caller that reads records itself: call Begin, then Take for each
  // record with its offset. Records of an atomic group take effect with its last one.
  Status Begin();
  Status Take(const Slice& record, uint64_t offset);
  // Checks what only a database to be opened must meet. Corruption: the MANIFEST lacks a number of
  // the database. Otherwise returns the refusal of a family that exists at the end.
  Status CheckComplete() const;

  // Returns the families that exist, by id, with the builders of the wanted ones.
  std::map<uint32_t, Family>& families() { return families_; }
  const std::optional<std::string>& db_id() const { return db_id_; }
  // Return numbers of the database; 0 if the MANIFEST has not said them.
  uint64_t next_file_number() const { return next_file_number_.value_or(0); }
  SequenceNumber last_sequence() const { return last_sequence_.value_or(0); }
  uint64_t min_log_number_to_keep() const { return min_log_number_to_keep_; }
  uint32_t max_family_id() const { return max_family_id_; }
  uint64_t largest_number() const { return largest_number_; }  // largest number of any file named
  uint64_t end() const { return end_; }                        // end of the last record
  // Returns, once, the tables whose files may still exist although no version has them.
  std::set<uint64_t> TakeGoneTables() { return std::move(gone_tables_); }
  // Adds the blob files of a family that its version, which was built, does not keep.
  void NoteUnreferenced(const VersionBuilder& built);
  // Returns ranges [first, end) of logs that openings have not found (VersionSet::NoteUnreadLogs).
  const std::vector<std::pair<uint64_t, uint64_t>>& unread_logs() const { return unread_logs_; }
  // Returns the latest time that databases with lifetimes have stored; seconds since 1970, 0: none.
  uint64_t ttl_clock() const { return ttl_clock_; }
  // Returns the stored positions of change streams, by name.
  const std::map<std::string, ChangePosition>& change_positions() const {
    return change_positions_;
  }

 private:
  // Applies an edit, or adds it to an incomplete group.
  Status TakeRecord(VersionEdit edit);
  // Applies one edit to the database's numbers and to its family.
  Status Apply(const VersionEdit& edit);
  // Takes over what an edit says of the whole database: numbers, id, positions.
  Status ApplyGlobals(const VersionEdit& edit);
  // Begins a family. Corruption if the id or the name is in use.
  Status AddFamily(uint32_t id, const std::string& name);
  // Applies what an edit says of its family, files included.
  Status ApplyToFamily(const VersionEdit& edit, Family* family);
  // Applies what GoBackTo allows of an edit.
  Status ApplyUpToPoint(VersionEdit edit, Family* family);
  // Applies an edit to a family that was not refused; makes an edit that does not fit the opener's
  // wishes the reason of a refusal.
  Status ApplyUnlessRefused(const VersionEdit& edit, Family* family);
  [[nodiscard]] bool IsPresent(uint64_t table) const {
    return present_ != nullptr && present_->contains(table);
  }
  // Notes which of the files on disk (TellGoneAmong) the edit adds to the family or removes.
  void NoteTables(const VersionEdit& edit, Family* family);
  // Raises the family's full_history_ts_low. InvalidArgument: it has not the size of timestamps.
  Status TakeFullHistoryTsLow(const std::string& low, const Family& family) const;
  // Checks the number of a file that an edit names, and raises largest_number.
  Status NoteNumber(uint64_t number);
  // Returns Corruption that names the MANIFEST and the record's offset.
  Status Bad(const std::string& what) const;

  const std::string path_;
  const std::vector<FamilyToOpen>* const wanted_;
  const std::shared_ptr<ObsoleteFileQueue> queue_;
  const std::set<uint64_t>* present_ = nullptr;
  const ManifestPoint* point_ = nullptr;  // set by GoBackTo
  // Families that were added and not dropped.
  std::map<uint32_t, Family> families_;
  // Set by Succeed: the families of the earlier replay, and files that may be reused.
  std::map<uint32_t, std::shared_ptr<FamilyVersions>> before_;
  ReusableFiles reused_;
  // Names of the families in families_.
  std::set<std::string> names_;
  std::vector<VersionEdit> group_;  // records of an incomplete atomic group
  uint64_t record_offset_ = 0;
  uint64_t end_ = 0;

  std::optional<std::string> db_id_;
  std::optional<uint64_t> log_number_;  // of any family; an opening only needs that there is one
  std::optional<uint64_t> next_file_number_;
  std::optional<SequenceNumber> last_sequence_;
  uint64_t min_log_number_to_keep_ = 0;
  uint32_t max_family_id_ = 0;
  uint64_t largest_number_ = 0;
  std::set<uint64_t> gone_tables_;
  std::vector<std::pair<uint64_t, uint64_t>> unread_logs_;
  uint64_t ttl_clock_ = 0;
  std::map<std::string, ChangePosition> change_positions_;
};

}  // namespace varve
