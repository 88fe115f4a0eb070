// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the command line, which flags.inc lists and explains.

#include <gflags/gflags.h>

#define VARVE_FLAG(type, name, default_value, help) DECLARE_##type(name);
#include "tools/db_stress/flags.inc"
#undef VARVE_FLAG
