// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gives the names of enumerators and members as their declarations spell them, so that no table
// repeats them. The compiler computes the names; a program that is built contains the names alone.
//
//   enum class Colour { kRed, kGreen, kColours };
//   struct Shape { int sides; };
//   DeclaredName<Colour::kGreen>()        "kGreen"
//   DeclaredName<&Shape::sides>()         "sides"
//   kEnumeratorNames<Colour, 2>[1]        "kGreen"
//   kNamedValues<Colour::kGreen>[0].name  "kGreen"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace varve {

namespace declared_names_internal {

// Returns the part of the compiler's text for this function that names kValue, without its scope.
// GCC writes "... [with auto kValue = varve::Colour::kGreen]", Clang "... [kValue = ...]". For a
// value without an enumerator both write a cast, "(varve::Colour)7".
template <auto kValue>
consteval std::string_view Spelling() {
  constexpr std::string_view kMark = "kValue = ";
  const std::string_view function = __PRETTY_FUNCTION__;
  const size_t begin = function.find(kMark) + kMark.size();
  const std::string_view value =
      function.substr(begin, function.find_first_of(";]", begin) - begin);
  return value.substr(value.rfind(':') + 1);
}

// Holds a copy of the name and a null byte, as the compiler's text would be kept as a whole.
template <auto kValue>
inline constexpr auto kText = [] {
  constexpr std::string_view kName = Spelling<kValue>();
  static_assert(kName.find(')') == std::string_view::npos, "the value has no enumerator");
  std::array<char, kName.size() + 1> text{};
  std::ranges::copy(kName, text.begin());
  return text;
}();

}  // namespace declared_names_internal

// Returns the name of an enumerator, or of a member by a pointer to it, without its scope. A null
// byte follows it. A value that has no enumerator does not compile.
template <auto kValue>
constexpr std::string_view DeclaredName() {
  const auto& text = declared_names_internal::kText<kValue>;
  return {text.data(), text.size() - 1};
}

// Contains the names of the values 0 to kCount - 1 of E.
template <typename E, size_t kCount>
inline constexpr auto kEnumeratorNames = []<size_t... kNumbers>(std::index_sequence<kNumbers...>) {
  return std::array<std::string_view, kCount>{DeclaredName<static_cast<E>(kNumbers)>()...};
}
(std::make_index_sequence<kCount>());

template <typename E>
struct NamedValue {
  E value;
  std::string_view name;  // A null byte follows it.
};

// Contains the given enumerators or pointers to members, all of one type, with their names.
template <auto... kValues>
inline constexpr std::array kNamedValues = {
    NamedValue<decltype(kValues)>{kValues, DeclaredName<kValues>()}...};

}  // namespace varve
