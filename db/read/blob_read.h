// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the value that a point read has found a reference to.

#include <string>

#include "varve/options.h"

#include "db/column_family/super_version.h"
#include "util/key/point_lookup.h"

namespace varve {

// Ends a search: replaces the reference that the lookup has left in *value by the value that it
// leads to. Requires that lookup.state() is kReference. Errors: those of BlobSource::Get, with the
// table of the entry if its reference is ill-formed. NotSupported: the super-version is that of a
// single table (SingleTable), which has no directory of blob files.
Status ReadReference(const ReadOptions& options, const SuperVersion& super_version,
                     const PointLookup& lookup, PinnableSlice* value);

// If the base of the lookup's operands is a reference, reads the value into *value, which must
// outlive the operands' use, and makes that the base. Errors as ReadReference.
Status ReadReferenceOfBase(const ReadOptions& options, const SuperVersion& super_version,
                           PointLookup* lookup, PinnableSlice* value);

// Returns the key of the entry that was found, with its timestamp.
std::string FoundUserKey(const PointLookup& lookup);

}  // namespace varve
