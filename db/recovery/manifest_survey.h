// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a MANIFEST up to its first damage, as the starting point of a repair. It need not be one
// with which a database can be opened.

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
  std::string comparator;  // Empty if the MANIFEST does not have it.
  std::optional<bool> persist_timestamps;
  std::string merge_operator;
  std::string full_history_ts_low;
  uint64_t log_number = 0;
  std::map<uint64_t, NewFile> files;  // Keyed by number; bounds as they are stored.
  // All blob files that were ever added, keyed by number, and the sums of their garbage.
  std::map<uint64_t, BlobFileFacts> blob_files;
  std::map<uint64_t, BlobGarbage> blob_garbage;
};

// The readable part of a MANIFEST.
struct ManifestSurvey {
  uint64_t number = 0;  // 0 if there is no readable MANIFEST.
  // True if nothing is damaged, and the MANIFEST has all that an opening needs. An incomplete
  // record at the end of the file is not damage.
  bool whole = false;
  bool current_lost = false;  // CURRENT could not be read or used.
  std::string damage;         // Reason why it is not whole.
  uint64_t end = 0;           // End of its last whole record.
  std::map<uint32_t, SurveyedFamily> families;
  // Numbers of tables and blob files that the MANIFEST once had and has removed.
  std::set<uint64_t> deleted_files;
  std::string db_id;
  uint64_t next_file_number = 0;
  SequenceNumber last_sequence = 0;
  uint64_t min_log_number_to_keep = 0;
  uint32_t max_family_id = 0;
  uint64_t ttl_clock = 0;  // 0: none
};

// Reads MANIFEST-<number>, and sets *survey. Returns only I/O errors, and NotSupported for a
// MANIFEST that no version of this engine can open.
Status SurveyManifest(FileSystem* fs, const std::string& db_name, uint64_t number,
                      ManifestSurvey* survey);

// Reads the MANIFEST to start from, and sets *survey: the one that CURRENT names, or else the
// newest usable one. If there were several to choose from, survey->whole is false. If there is
// none, the survey has number 0, and the default family alone.
Status FindManifest(FileSystem* fs, const std::string& db_name,
                    const std::vector<std::string>& entries, ManifestSurvey* survey);

// Returns the number of the oldest log that the MANIFEST needs.
uint64_t OldestLogWanted(const ManifestSurvey& survey);

}  // namespace varve
