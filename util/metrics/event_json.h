// SPDX-License-Identifier: Apache-2.0
#pragma once

// JsonEvent: builds one line of JSON for the info log, such as
//   {"time_micros": 1700000000000000, "job": 3, "event": "flush_started", "num_entries": 17}
//
// Not thread safe. Strings may hold any bytes: quotes, backslashes, control bytes and bytes that
// are not UTF-8 text come out escaped, so that a line is always one line and always parses.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace varve {

class JsonEvent {
 public:
  // Starts an event that belongs to no job / to background job `job`.
  JsonEvent(uint64_t time_micros, std::string_view event);
  JsonEvent(uint64_t time_micros, int job, std::string_view event);

  JsonEvent& Add(std::string_view key, std::string_view value);
  JsonEvent& Add(std::string_view key, const char* value) {
    return Add(key, std::string_view(value));
  }
  JsonEvent& Add(std::string_view key, bool value);
  // Numbers without a JSON form (infinities, NaN) become null.
  JsonEvent& Add(std::string_view key, double value);
  template <std::integral Number>
  JsonEvent& Add(std::string_view key, Number value) {
    AppendKey(key);
    text_.append(std::to_string(value));
    return *this;
  }

  // A nested array; its elements follow with Element() until EndArray().
  JsonEvent& BeginArray(std::string_view key);
  JsonEvent& Element(std::string_view value);
  template <std::integral Number>
  JsonEvent& Element(Number value) {
    AppendSeparator();
    text_.append(std::to_string(value));
    return *this;
  }
  JsonEvent& EndArray();

  // A nested object; Add() goes to it until EndObject().
  JsonEvent& BeginObject(std::string_view key);
  JsonEvent& EndObject();

  // Closes the event and returns the line, without a newline. Every array and object has been
  // ended.
  std::string Finish();

 private:
  void AppendSeparator();
  void AppendKey(std::string_view key);
  void AppendString(std::string_view value);

  std::string text_;
};

}  // namespace varve
