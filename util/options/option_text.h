// SPDX-License-Identifier: Apache-2.0
#pragma once

// Handles the text form of options: splitting "a=1;b={c=2;}", escapes, numbers. These are pure
// functions over unchecked text: bounded nesting, no recursion on input, no exceptions but
// std::bad_alloc.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "varve/status.h"

namespace varve {

// Names and values in the order of the text. If a name occurs twice, the later one counts.
using OptionPairs = std::vector<std::pair<std::string, std::string>>;

inline constexpr int kMaxOptionNesting = 16;
inline constexpr size_t kMaxOptionTextBytes = size_t{16} << 20;

// Returns `text` without the blanks at both ends.
[[nodiscard]] std::string_view TrimOptionText(std::string_view text);

// True for "{...}" whose first brace closes at the end.
[[nodiscard]] bool IsBraced(std::string_view text);

// Returns `text` without one pair of enclosing braces, if it has one, trimmed.
[[nodiscard]] std::string_view WithoutBraces(std::string_view text);

// Splits one level of text. A braced value is kept whole, braces included. Returns InvalidArgument
// for a missing '=' or name, unbalanced braces, or nesting or size above the limits.
Status SplitOptionText(std::string_view text, OptionPairs* pairs);

// Removes the pairs named "id", and sets *id to the value of the last one, if there is any.
void TakeId(OptionPairs* pairs, std::string* id);

// Sets *id to the name of an object in "Name" or "{id=Name;...}"; empty for "nullptr". A list of
// objects, which has no '=', is one name. Returns InvalidArgument for fields without id=, or
// unclosed braces.
Status ObjectId(std::string_view text, std::string* id);

// Returns the elements of "a:b:c"; none for an empty text.
[[nodiscard]] std::vector<std::string_view> SplitOptionList(std::string_view text);

// Escapes backslash, '#', ':', newline and carriage return, so that a value fits on one line.
[[nodiscard]] std::string EscapeOptionText(std::string_view raw);
// Returns the text of which EscapeOptionText makes `escaped`.
[[nodiscard]] std::string UnescapeOptionText(std::string_view escaped);

// Parse decimal numbers, with an optional suffix K, M, G or T (either case) for powers of 1024.
// They return false if `text` is anything else or the value is out of range.
[[nodiscard]] bool ParseUnsigned(std::string_view text, uint64_t max, uint64_t* value);
[[nodiscard]] bool ParseSigned(std::string_view text, int64_t min, int64_t max, int64_t* value);

// Parses a finite decimal number.
[[nodiscard]] bool ParseDouble(std::string_view text, double* value);

// Returns the fixed form with six places if it reads back as `value`; otherwise 17 significant
// digits.
[[nodiscard]] std::string PrintDouble(double value);

}  // namespace varve
