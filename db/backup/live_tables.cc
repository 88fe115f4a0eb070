// SPDX-License-Identifier: Apache-2.0
#include "db/backup/live_tables.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "varve/options.h"
#include "varve/table_properties.h"
#include "varve/utilities/backup_engine.h"

#include "db/recovery/table_survey.h"
#include "table/format/unique_id.h"
#include "util/base/status_macros.h"

namespace varve {

// The MANIFEST has the four bytes of a CRC-32C with the most significant one first.
std::optional<uint32_t> ChecksumInManifest(const FileMetaData& table) {
  const std::string& value = table.checksum.value;
  if (table.checksum.function != kDbFileChecksumFuncName || value.size() != 4) return std::nullopt;
  uint32_t checksum = 0;
  for (const char c : value) checksum = checksum << 8 | static_cast<unsigned char>(c);
  return checksum;
}

// File numbers are never reused, so within one opening the cached facts stay valid. After another
// opening nothing is assumed: the directory may have been restored in between.
void LiveTables::Begin(const std::string& db_id, const std::string& opening) {
  if (opening != opening_ || db_id != db_id_) facts_.clear();
  db_id_ = db_id;
  opening_ = opening;
  sessions_.clear();
  KnowSession(opening);
}

void LiveTables::KnowSession(const std::string& session_id) {
  if (session_id.empty() || std::ranges::find(sessions_, session_id) != sessions_.end()) return;
  sessions_.push_back(session_id);
}

// A unique id is computed from the database, the session and the number, so each known session can
// be tested. The one that matches moves to the front, as the next table is probably of the same
// session.
bool LiveTables::FindSession(uint64_t number, const std::string& unique_id,
                             std::string* session_id) {
  if (unique_id.empty()) return false;
  for (size_t i = 0; i < sessions_.size(); i++) {
    if (TableUniqueId(db_id_, sessions_[i], number) != unique_id) continue;
    *session_id = sessions_[i];
    std::swap(sessions_[0], sessions_[i]);
    return true;
  }
  return false;
}

Status LiveTables::SessionOf(FileSystem* fs, const std::string& path, uint64_t number,
                             const std::string& unique_id, std::string* session_id) {
  Facts& facts = Of(number);
  if (!facts.session_id.has_value() && FindSession(number, unique_id, session_id)) {
    facts.session_id = *session_id;
  }
  if (!facts.session_id.has_value()) {
    // These two are never destroyed, as other threads may use them while the process ends.
    static const ColumnFamilyOptions* const kOptions =
        std::make_unique<ColumnFamilyOptions>().release();
    static const InternalKeyComparator* const kOrder =
        std::make_unique<InternalKeyComparator>(BytewiseComparator()).release();
    // The block of properties can be read without the family's options, as it needs neither
    // comparator nor filter.
    TableSurveyContext context;
    context.fs = fs;
    context.options = kOptions;
    context.icmp = kOrder;
    std::shared_ptr<const TableProperties> properties;
    VARVE_RETURN_IF_ERROR(ReadTableProperties(context, path, &properties));
    facts.session_id = properties->db_session_id;
    KnowSession(properties->db_session_id);
  }
  *session_id = *facts.session_id;
  return Status::OK();
}

}  // namespace varve
