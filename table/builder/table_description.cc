// SPDX-License-Identifier: Apache-2.0
#include "table/builder/table_description.h"

#include "varve/comparator.h"
#include "varve/slice_transform.h"

namespace varve {

void DescribeTable(const TableBuildOptions& options, TableProperties* properties) {
  TableProperties& p = *properties;
  p.column_family_id = options.column_family_id;
  p.column_family_name = options.column_family_name;
  p.comparator_name = options.comparator_name.empty() ? options.icmp->user_comparator()->Name()
                                                      : options.comparator_name;
  p.merge_operator_name = options.merge_operator_name;
  p.prefix_extractor_name =
      options.prefix_extractor == nullptr ? "nullptr" : options.prefix_extractor->AsString();
  p.user_defined_timestamps_persisted = options.persist_timestamps ? 1 : 0;
  p.creation_time = options.creation_time;
  p.oldest_key_time = options.oldest_key_time;
  p.file_creation_time = options.file_creation_time;
  p.orig_file_number = options.file_number;
  p.db_id = options.db_id;
  p.db_session_id = options.db_session_id;
  p.db_host_id = options.db_host_id;
}

}  // namespace varve
