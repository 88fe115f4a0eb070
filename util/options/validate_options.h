// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the validation of options, and the values that a zero or -1 in them stands for.

#include "varve/options.h"
#include "varve/status.h"

namespace varve {

// Return InvalidArgument for invalid values, NotSupported for what the engine lacks; the message
// names the option. They depend on nothing but the options and the codecs that are built in.
Status ValidateDbOptions(const DBOptions& db_options);
Status ValidateColumnFamilyOptions(const ColumnFamilyOptions& cf_options);
Status ValidateOptions(const DBOptions& db_options, const ColumnFamilyOptions& cf_options);

// Returns valid options with derived values filled in and contradictions resolved, as the engine
// uses them. Fills: arena_block_size, max_compaction_bytes, write_buffer_size (64 KiB or more),
// max_write_buffer_number (2 or more), min_write_buffer_number_to_merge,
// max_write_buffer_size_to_maintain, L0 triggers and pending-bytes limits in ascending order,
// max_bytes_for_level_multiplier_additional (one for each level), ages (0). Deriving from derived
// options changes nothing.
ColumnFamilyOptions DeriveColumnFamilyOptions(const ColumnFamilyOptions& cf_options);

// Does the same for the options of a database. Fills: delayed_write_rate, bytes_per_sync if there
// is a rate limiter, max_background_flushes and max_background_compactions (at least 1).
DBOptions DeriveDbOptions(const DBOptions& db_options);

// True if a family is compacted automatically.
inline bool CompactsUnasked(const ColumnFamilyOptions& options) {
  return !options.disable_auto_compactions && options.compaction_style != kCompactionStyleNone;
}

// Return the options with defaults for what only writes, flushes and compactions use, so that a
// reader is not refused for it.
DBOptions ForReading(const DBOptions& given);
ColumnFamilyOptions ForReading(const ColumnFamilyOptions& given);

}  // namespace varve
