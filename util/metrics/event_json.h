// SPDX-License-Identifier: Apache-2.0
#pragma once

// JsonEvent builds one line of JSON for the info log, such as
//   {"time_micros": 1700000000000000, "job": 3, "event": "flush_started", "num_entries": 17}
//
// Not thread-safe. Strings may hold any bytes: quotes, backslashes and all bytes that are not
// printable ASCII are escaped, each byte of UTF-8 text by itself (as the code point of the same
// number), so that an event is always one line and always parses.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace varve {

class JsonEvent {
 public:
  // Starts an event without a job, or of background job `job`.
  JsonEvent(uint64_t time_micros, std::string_view event);
  JsonEvent(uint64_t time_micros, int job, std::string_view event);

  // Add a member under this key.
  JsonEvent& Add(std::string_view key, std::string_view value);
  JsonEvent& Add(std::string_view key, const char* value) {
    return Add(key, std::string_view(value));
  }
  JsonEvent& Add(std::string_view key, bool value);
  // Adds a list of numbers.
  JsonEvent& Add(std::string_view key, const std::vector<uint64_t>& values);
  // Values added between the two calls belong to an object within the event.
  JsonEvent& BeginObject(std::string_view key);
  JsonEvent& EndObject();
  // Numbers without a JSON form (infinities, NaN) become null.
  JsonEvent& Add(std::string_view key, double value);
  template <std::integral Number>
  JsonEvent& Add(std::string_view key, Number value) {
    AppendKey(key);
    text_.append(std::to_string(value));
    return *this;
  }

  // Closes the event and returns the line, without a newline.
  std::string Finish();

 private:
  // Appends a separator if one is needed, the key and a colon.
  void AppendKey(std::string_view key);
  // Appends a string in quotes, escaped.
  void AppendString(std::string_view value);

  std::string text_;
};

}  // namespace varve
