// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the gflags that code reads: those of workload_flags.inc and engine_flags.inc. The ones
// of refused_flags.cc are only defined, as no code reads them.

#include <gflags/gflags.h>

#include <cstdint>
#include <string>

namespace varve::bench {

// Returns false, with a line on stderr that names the flag, if a flag was set that asks for an
// unsupported feature.
[[nodiscard]] bool CheckRefusedFlags();

}  // namespace varve::bench

#define VARVE_FLAG(type, name, default_value, help) DECLARE_##type(name);
#include "tools/db_bench/engine_flags.inc"
#include "tools/db_bench/workload_flags.inc"
#undef VARVE_FLAG
