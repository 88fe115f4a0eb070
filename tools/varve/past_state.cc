// SPDX-License-Identifier: Apache-2.0

// Reads at a sequence number of the past through an ordinary snapshot that is taken late.
//
// A snapshot protects the versions that it needs only from the moment on at which it exists.
// Flushes and compactions before it were free to drop each version that a newer one covered, and a
// deletion together with what it deletes. A compaction into the last level also sets the sequence
// numbers of values to 0. Such a value shows at every number, even at one before it was written.
//
// So the past is known from the number on that the MANIFEST's newest record has: entries above it
// are in logs, and nothing has been dropped for their sake. Below it a note says what is in doubt:
// tables with newer entries, tables with entries of number 0, or, if there are neither, that a
// deletion may be gone with all that it deleted. The number is read after the opening, so that it
// is not lower than that of any table.

#include "tools/varve/past_state.h"

#include <string>
#include <vector>

#include "varve/metadata.h"

#include "db/copy/copy_host.h"
#include "db/engine/engine.h"
#include "tools/varve/console.h"
#include "tools/varve/manifest_state.h"
#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

// The number of no write, as they begin at 1: compactions give it to entries whose own number no
// snapshot needs any more.
constexpr SequenceNumber kNoNumber = 0;

// Returns what tables of the family leave in doubt at the number; empty: nothing.
std::string DoubtsOfTables(DB* db, const std::string& family, SequenceNumber sequence) {
  std::vector<LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  size_t newer = 0;
  size_t undated = 0;
  for (const LiveFileMetaData& file : files) {
    if (file.column_family_name != family) continue;
    if (file.largest_seqno > sequence) {
      newer++;
    } else if (file.smallest_seqno == kNoNumber) {
      undated++;
    }
  }
  std::string doubts;
  if (newer > 0) {
    doubts = std::to_string(newer) + " tables hold entries newer than " + std::to_string(sequence) +
             ": what these took the place of may be missing";
  }
  if (undated > 0) {
    doubts += (doubts.empty() ? "" : "; ") + std::to_string(undated) +
              " tables do not tell how old their entries are: these may be newer than " +
              std::to_string(sequence) + ", and what they took the place of may be missing";
  }
  return doubts;
}

}  // namespace

PastState::~PastState() {
  if (snapshot_ != nullptr) db_->ReleaseSnapshot(snapshot_);
}

Status PastState::Take(DB* db, const std::string& family, uint64_t sequence, ReadOptions* options) {
  const SequenceNumber newest = db->GetLatestSequenceNumber();
  if (sequence > newest) {
    return Status::InvalidArgument("--at " + std::to_string(sequence),
                                   "the newest sequence number is " + std::to_string(newest));
  }
  auto* const host = dynamic_cast<CopyHost*>(db->GetRootDB());
  if (host == nullptr) return Status::NotSupported("--at", "the database has no engine");
  db_ = db;
  // DB::GetSnapshot takes the newest number only. The list of snapshots accepts any: in a database
  // that is open for reading there is no other snapshot, and nothing that a number from the past
  // could upset.
  VARVE_RETURN_IF_ERROR(host->WithEngine([&](Engine* engine) {
    snapshot_ = engine->state.snapshots.Acquire(sequence, /*unix_seconds=*/0);
    return Status::OK();
  }));
  options->snapshot = snapshot_;
  ManifestSurvey survey;
  VARVE_RETURN_IF_ERROR(ReadManifestState(db->GetName(), &survey));
  if (sequence >= survey.last_sequence) return Status::OK();
  const std::string doubts = DoubtsOfTables(db, family, sequence);
  if (!doubts.empty()) {
    Console::Note("varve: " + doubts);
  } else {
    Console::Note("varve: entries up to number " + std::to_string(survey.last_sequence) +
                  " have come to tables: what was replaced or deleted since " +
                  std::to_string(sequence) + " may be missing");
  }
  return Status::OK();
}

}  // namespace varve::tool
