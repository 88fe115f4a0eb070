// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a MANIFEST up to its first damage, as the starting point of a repair, without checking
// whether a database can be opened with it.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "varve/file_system.h"

#include "db/version/version_edit.h"

namespace varve {

// One family as the readable part of a MANIFEST describes it.
struct SurveyedFamily {
  std::string name;
  std::string comparator;  // Empty: the MANIFEST does not say.
  std::optional<bool> persist_timestamps;
  std::string merge_operator;
  std::string full_history_ts_low;
  uint64_t log_number = 0;
  std::map<uint64_t, NewFile> files;  // Keyed by number; bounds as they are stored.
  // All that were ever added, keyed by number, and the sums of their garbage.
  std::map<uint64_t, BlobFileFacts> blob_files;
  std::map<uint64_t, BlobGarbage> blob_garbage;
};

// Holds the readable part of a MANIFEST, and says if that is all of it.
struct ManifestSurvey {
  uint64_t number = 0;  // 0: there is no readable MANIFEST.
  // True if nothing is damaged, and the MANIFEST has everything that an opening needs. A record cut
  // off by the end of the file is not damage.
  bool whole = false;
  bool current_lost = false;  // CURRENT does not name it.
  std::string damage;         // Reason why it is not whole.
  uint64_t end = 0;           // End of its last whole record.
  std::map<uint32_t, SurveyedFamily> families;
  std::set<uint64_t> deleted_files;
  std::string db_id;
  uint64_t next_file_number = 0;
  SequenceNumber last_sequence = 0;
  uint64_t min_log_number_to_keep = 0;
  uint32_t max_family_id = 0;
  uint64_t ttl_clock = 0;  // 0: none
};

// Reads MANIFEST-<number>. Returns only I/O errors, and NotSupported for what no version of this
// engine can open.
Status SurveyManifest(FileSystem* fs, const std::string& db_name, uint64_t number,
                      ManifestSurvey* survey);

// Finds the MANIFEST to start from: the one that CURRENT names, or else the newest usable one. If
// it had to choose among several, the result is not whole.
Status FindManifest(FileSystem* fs, const std::string& db_name,
                    const std::vector<std::string>& entries, ManifestSurvey* survey);

// Returns the oldest log that the MANIFEST needs.
uint64_t OldestLogWanted(const ManifestSurvey& survey);

}  // namespace varve
