// SPDX-License-Identifier: Apache-2.0
#include "db/backup/live_tables.h"

#include <memory>

#include "varve/options.h"
#include "varve/table_properties.h"

#include "db/recovery/table_survey.h"
#include "util/base/status_macros.h"

namespace varve {

Status LiveTables::SessionOf(FileSystem* fs, const std::string& path, uint64_t number,
                             std::string* id) {
  Facts& facts = Of(number);
  if (!facts.session_id.has_value()) {
    static const ColumnFamilyOptions* const kOptions =
        std::make_unique<ColumnFamilyOptions>().release();
    static const InternalKeyComparator* const kOrder =
        std::make_unique<InternalKeyComparator>(BytewiseComparator()).release();
    TableSurveyContext context;
    context.fs = fs;
    context.options = kOptions;
    context.icmp = kOrder;
    std::shared_ptr<const TableProperties> properties;
    VARVE_RETURN_IF_ERROR(ReadTableProperties(context, path, &properties));
    facts.session_id = properties->db_session_id;
  }
  *id = *facts.session_id;
  return Status::OK();
}

}  // namespace varve
