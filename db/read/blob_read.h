// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the value that a point read has found a reference to.

#include <string>

#include "varve/options.h"

#include "db/column_family/super_version.h"
#include "util/key/point_lookup.h"

namespace varve {

// Ends a search in state kReference: replaces the reference, which lies in *value, by the value.
// Errors as BlobSource; NotSupported if the super-version is of a table that is read alone.
Status ReadReference(const ReadOptions& options, const SuperVersion& super_version,
                     const PointLookup& lookup, PinnableSlice* value);

// If the base of the operands is a reference, reads it into *value, which must outlive the
// operands' use, and makes it the base.
Status ReadReferenceOfBase(const ReadOptions& options, const SuperVersion& super_version,
                           PointLookup* lookup, PinnableSlice* value);

// Returns the key of the entry that was found, with its timestamp.
std::string FoundUserKey(const PointLookup& lookup);

}  // namespace varve
