// SPDX-License-Identifier: Apache-2.0
// Implements the escaping and punctuation of JsonEvent.

#include "util/metrics/event_json.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "util/coding/decimal.h"

namespace varve {

JsonEvent::JsonEvent(uint64_t time_micros, std::string_view event) : text_("{") {
  Add("time_micros", time_micros).Add("event", event);
}

JsonEvent::JsonEvent(uint64_t time_micros, int job, std::string_view event) : text_("{") {
  Add("time_micros", time_micros).Add("job", job).Add("event", event);
}

JsonEvent& JsonEvent::Add(std::string_view key, std::string_view value) {
  AppendKey(key);
  AppendString(value);
  return *this;
}

JsonEvent& JsonEvent::Add(std::string_view key, bool value) {
  AppendKey(key);
  text_.append(value ? "true" : "false");
  return *this;
}

JsonEvent& JsonEvent::Add(std::string_view key, double value) {
  AppendKey(key);
  if (!std::isfinite(value)) {
    text_.append("null");
    return *this;
  }
  text_.append(SignificantDigits(value, 6));
  return *this;
}

JsonEvent& JsonEvent::Add(std::string_view key, const std::vector<uint64_t>& values) {
  AppendKey(key);
  text_.push_back('[');
  for (size_t i = 0; i < values.size(); i++) {
    if (i > 0) text_.append(", ");
    text_.append(std::to_string(values[i]));
  }
  text_.push_back(']');
  return *this;
}

// Needs no stack: AppendKey sees from the last character if a member comes first in its object.
JsonEvent& JsonEvent::BeginObject(std::string_view key) {
  AppendKey(key);
  text_.push_back('{');
  return *this;
}

JsonEvent& JsonEvent::EndObject() {
  text_.push_back('}');
  return *this;
}

std::string JsonEvent::Finish() {
  text_.push_back('}');
  return std::move(text_);
}

void JsonEvent::AppendKey(std::string_view key) {
  if (text_.back() != '{') text_.append(", ");
  AppendString(key);
  text_.append(": ");
}

// Bytes above 0x7e are escaped one by one, as keys and values need not be UTF-8: a reader gets the
// code point of the same number, from which it can restore the byte.
void JsonEvent::AppendString(std::string_view value) {
  text_.push_back('"');
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_.push_back('\\');
      text_.push_back(c);
    } else if (byte < 0x20 || byte >= 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(byte));
      text_.append(escape);
    } else {
      text_.push_back(c);
    }
  }
  text_.push_back('"');
}

}  // namespace varve
