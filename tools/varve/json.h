// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds JSON text. Strings may hold any bytes: bytes that are not UTF-8 text make a string in hex,
// under a name that says so.

#include <concepts>
#include <string>
#include <string_view>

namespace varve::tool {

// Members and elements are separated as they come. Objects and arrays are closed by the caller, in
// order. Not thread-safe.
class Json {
 public:
  Json& BeginObject(std::string_view name = {}) { return Open(name, '{'); }
  Json& EndObject() { return Close('}'); }
  Json& BeginArray(std::string_view name = {}) { return Open(name, '['); }
  Json& EndArray() { return Close(']'); }

  // An empty name adds an element of an array.
  Json& Text(std::string_view name, std::string_view value);
  // Adds "name", or "name_hex" with two digits a byte if the bytes are not UTF-8.
  Json& Bytes(std::string_view name, std::string_view bytes);
  Json& Bool(std::string_view name, bool value) {
    Name(name);
    text_ += value ? "true" : "false";
    return *this;
  }
  template <std::integral T>
  Json& Number(std::string_view name, T value) {
    Name(name);
    text_ += std::to_string(value);
    return *this;
  }

  // Returns the text so far, and begins anew.
  std::string Take();

 private:
  Json& Open(std::string_view name, char bracket);
  Json& Close(char bracket);
  void Name(std::string_view name);
  void Quote(std::string_view value);

  std::string text_;
};

// Returns true for well-formed UTF-8: no surrogates, no overlong forms.
bool IsUtf8(std::string_view bytes);

}  // namespace varve::tool
