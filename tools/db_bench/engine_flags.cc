// SPDX-License-Identifier: Apache-2.0
// Defines the flags of engine_flags.inc.

#include "varve/options.h"
#include "varve/table.h"

#include "tools/db_bench/flags.h"

namespace {

const varve::Options& Library() {
  static const varve::Options options;
  return options;
}

const varve::BlockBasedTableOptions& LibraryTable() {
  static const varve::BlockBasedTableOptions options;
  return options;
}

}  // namespace

#define VARVE_FLAG(type, name, default_value, help) DEFINE_##type(name, default_value, help);
#include "tools/db_bench/engine_flags.inc"
#undef VARVE_FLAG
