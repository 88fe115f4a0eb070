// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether options make sense and are supported, and what a zero or -1 in them stands for.

#include "varve/options.h"
#include "varve/status.h"

namespace varve {

// InvalidArgument for values without sense, NotSupported for what the engine lacks; the message
// names the option. Pure: asks nothing of the system but which codecs are built in.
Status ValidateDbOptions(const DBOptions& db_options);
Status ValidateColumnFamilyOptions(const ColumnFamilyOptions& cf_options);
Status ValidateOptions(const DBOptions& db_options, const ColumnFamilyOptions& cf_options);

// Valid options with derived values filled in and contradictions smoothed out: what the engine
// works with. Fills: arena_block_size, max_compaction_bytes, write_buffer_size (64 KiB or more),
// max_write_buffer_number (2 or more), min_write_buffer_number_to_merge,
// max_write_buffer_size_to_maintain, L0 triggers and pending-bytes limits in ascending order,
// max_bytes_for_level_multiplier_additional (one for each level), ages (0). Deriving from derived
// options changes nothing.
ColumnFamilyOptions DeriveColumnFamilyOptions(const ColumnFamilyOptions& cf_options);

// Whether a family is compacted with nobody asking.
inline bool CompactsUnasked(const ColumnFamilyOptions& options) {
  return !options.disable_auto_compactions && options.compaction_style != kCompactionStyleNone;
}

// The options with defaults for what only writing, flushes and compactions would ask of, so that a
// reader is not refused for it.
DBOptions ForReading(const DBOptions& given);
ColumnFamilyOptions ForReading(const ColumnFamilyOptions& given);

// Fills: delayed_write_rate, bytes_per_sync where a rate limiter is given, max_background_flushes
// and max_background_compactions (at least 1).
DBOptions DeriveDbOptions(const DBOptions& db_options);

}  // namespace varve
