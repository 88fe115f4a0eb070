// SPDX-License-Identifier: Apache-2.0

// Defines the flags of flags.inc.

#include "tools/db_stress/flags.h"

#define VARVE_FLAG(type, name, default_value, help) DEFINE_##type(name, default_value, help);
#include "tools/db_stress/flags.inc"
#undef VARVE_FLAG
