// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/c_read_options.h"

namespace varve::testing {

CReadOptions::CReadOptions(const CApi* api, const Line& line, const rocksdb_snapshot_t* snapshot)
    : api_(*api),
      options_(api->readoptions_create()),
      lower_(BytesOf(line.Option("lower"))),
      upper_(BytesOf(line.Option("upper"))) {
  constexpr unsigned char kYes = 1;
  if (snapshot != nullptr) api_.readoptions_set_snapshot(options_, snapshot);
  if (line.HasOption("lower")) {
    api_.readoptions_set_iterate_lower_bound(options_, lower_.data(), lower_.size());
  }
  if (line.HasOption("upper")) {
    api_.readoptions_set_iterate_upper_bound(options_, upper_.data(), upper_.size());
  }
  // Without either option, what a family with prefixes shows beyond the first prefix is undefined.
  if (line.Has("same")) {
    api_.readoptions_set_prefix_same_as_start(options_, kYes);
  } else {
    api_.readoptions_set_total_order_seek(options_, kYes);
  }
  if (line.Has("tailing")) api_.readoptions_set_tailing(options_, kYes);
  if (line.Has("ignore")) api_.readoptions_set_ignore_range_deletions(options_, kYes);
  if (line.HasOption("skippable")) {
    api_.readoptions_set_max_skippable_internal_keys(options_, NumberOf(line.Option("skippable")));
  }
}

CReadOptions::~CReadOptions() {
  api_.readoptions_destroy(options_);
}

}  // namespace varve::testing
