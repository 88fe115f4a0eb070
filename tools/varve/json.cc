// SPDX-License-Identifier: Apache-2.0

// JSON text without a tree: what is added is appended at once, and the last character of the text
// tells whether a comma is due. Strings of JSON are Unicode, while keys and values are bytes.
// Bytes() therefore changes the member's name where the bytes are no text, so that a reader never
// takes hex for the key itself.

#include "tools/varve/json.h"

#include <cstdint>
#include <cstdio>
#include <utility>

#include "tools/varve/bytes_text.h"

namespace varve::tool {

namespace {

// Returns the length of the sequence that begins with this byte; 0: no sequence does.
size_t SequenceLength(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

// Requires a sequence of the length that its first byte announces. The mask keeps the payload of
// that byte: 5, 4 or 3 bits for 2, 3 or 4 bytes. Sequences of two bytes cannot be overlong, as
// SequenceLength refuses 0xc0 and 0xc1.
bool IsSequence(std::string_view s) {
  uint32_t point = static_cast<unsigned char>(s[0]) & (0xffu >> (s.size() + 1));
  for (const char c : s.substr(1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80) return false;
    point = point << 6 | (byte & 0x3f);
  }
  if (s.size() == 3) return point >= 0x800 && (point < 0xd800 || point > 0xdfff);
  return s.size() < 4 || (point >= 0x10000 && point <= 0x10ffff);
}

}  // namespace

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t length = SequenceLength(static_cast<unsigned char>(bytes[0]));
    if (length == 0 || length > bytes.size()) return false;
    if (length > 1 && !IsSequence(bytes.substr(0, length))) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

Json& Json::Text(std::string_view name, std::string_view value) {
  Name(name);
  // For texts that are names or messages: a strange byte is shown as \xNN.
  Quote(IsUtf8(value) ? value : BytesText(value, ByteForm::kPlain));
  return *this;
}

Json& Json::Bytes(std::string_view name, std::string_view bytes) {
  if (IsUtf8(bytes)) return Text(name, bytes);
  return Text(std::string(name) + "_hex", BytesText(bytes, ByteForm::kHex));
}

std::string Json::Take() {
  return std::exchange(text_, {});
}

Json& Json::Open(std::string_view name, char bracket) {
  Name(name);
  text_ += bracket;
  return *this;
}

Json& Json::Close(char bracket) {
  text_ += bracket;
  return *this;
}

void Json::Name(std::string_view name) {
  if (!text_.empty() && text_.back() != '{' && text_.back() != '[') text_ += ", ";
  if (name.empty()) return;
  Quote(name);
  text_ += ": ";
}

void Json::Quote(std::string_view value) {
  text_ += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(c));
      text_ += escape;
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

}  // namespace varve::tool
