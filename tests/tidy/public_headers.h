// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads what the public headers offer: the fields of option structs, the methods of a class, and
// what their comments say. It understands the form that clang-format gives to these headers, no
// more C++ than that.

#include <string>
#include <vector>

namespace varve::tidy {

using Lines = std::vector<std::string>;

// "Options" and "Arg" structs, and the classes that are used as such.
struct PublicField {
  std::string owner;    // for a struct within a class: "Class::Struct"
  std::string name;     // the field's name
  std::string comment;  // above it, with no blank line between, and after it
  std::string Full() const { return owner + "::" + name; }
};
std::vector<PublicField> OptionFields(const Lines& header);

struct PublicMethod {
  std::string name;
  std::string comment;
  std::string text;  // declaration and body, on one line
  bool is_virtual = false;
};
// Returns the public methods of a class, without constructors and operators. Overloads come one by
// one.
std::vector<PublicMethod> MethodsOf(const std::string& class_name, const Lines& header);
// Functions of namespaces that the library exports.
std::vector<PublicMethod> ExportedFunctions(const Lines& header);

// A body whose first answer is NotSupported, naming `name`.
bool Refuses(const std::string& body, const std::string& name);

}  // namespace varve::tidy
