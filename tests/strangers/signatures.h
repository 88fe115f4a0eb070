// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the calls of a public header, as text.

#include <string>
#include <vector>

namespace varve::testing {

// Every call of the class (of the header, if that is "") as "Class::Name(Type, Type)": types
// without const, & and what they have by default. Of a class with virtual methods those and the
// static ones only: the others hand on.
std::vector<std::string> SignaturesOf(const std::string& header, const std::string& name);

// Returns true if the call takes an object that belongs to a database: a handle, a snapshot (in
// ReadOptions as well), an iterator, a transaction or a batch.
bool TakesObject(const std::string& signature);

}  // namespace varve::testing
