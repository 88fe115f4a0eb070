// SPDX-License-Identifier: Apache-2.0

// Output is made in place: room for the longest form is reserved, four characters a byte or two in
// hex, and the pointer moves over it. Runs of plain bytes are copied sixteen at a time, because
// nearly all of what scans print is plain. Parsing accepts what printing makes, and upper-case
// digits and 0x besides.

#include "tools/varve/bytes_text.h"

#include <array>
#include <cstdio>
#include <cstring>

namespace varve::tool {

namespace {

constexpr char kDigits[] = "0123456789abcdef";

bool IsPlain(char c) {
  return c >= ' ' && c <= '~' && c != '\\';
}

// Works on sixteen bytes at once, as scans spend most of their time here. GCC and Clang know this
// extension on every machine.
using Lane [[gnu::vector_size(16)]] = unsigned char;

// Copies the plain bytes that begin `from`, and returns their number, which is rounded down to a
// multiple of 16.
size_t CopyPlainLanes(const char* from, size_t count, char* to) {
  size_t done = 0;
  for (; count - done >= sizeof(Lane); done += sizeof(Lane)) {
    Lane lane;
    std::memcpy(&lane, from + done, sizeof(lane));
    // Bytes below the space wrap around to large numbers, so that one comparison finds all that are
    // not printable. A byte of `odd` is all ones or 0.
    const auto odd = ((lane - static_cast<unsigned char>(' ')) > static_cast<unsigned char>(94)) |
                     (lane == static_cast<unsigned char>('\\'));
    uint64_t halves[2];
    std::memcpy(halves, &odd, sizeof(halves));
    if ((halves[0] | halves[1]) != 0) break;
    std::memcpy(to + done, &lane, sizeof(lane));
  }
  return done;
}

char* PutPlain(char c, char* to) {
  if (IsPlain(c)) {
    *to++ = c;
    return to;
  }
  *to++ = '\\';
  switch (c) {
    case '\\':
      *to++ = '\\';
      return to;
    case '\t':
      *to++ = 't';
      return to;
    case '\n':
      *to++ = 'n';
      return to;
    case '\r':
      *to++ = 'r';
      return to;
    default:
      break;
  }
  *to++ = 'x';
  *to++ = kDigits[static_cast<unsigned char>(c) >> 4];
  *to++ = kDigits[static_cast<unsigned char>(c) & 15];
  return to;
}

// Requires room for MostBytes(): four characters for a byte that becomes \xNN, two in hex. After
// the first sixteen bytes that are not all plain the rest goes byte by byte.
char* PutBytes(std::string_view bytes, ByteForm form, char* to) {
  if (form == ByteForm::kHex) {
    for (const char c : bytes) {
      *to++ = kDigits[static_cast<unsigned char>(c) >> 4];
      *to++ = kDigits[static_cast<unsigned char>(c) & 15];
    }
    return to;
  }
  const size_t copied = CopyPlainLanes(bytes.data(), bytes.size(), to);
  to += copied;
  for (const char c : bytes.substr(copied)) to = PutPlain(c, to);
  return to;
}

size_t MostBytes(size_t count, ByteForm form) {
  return count * (form == ByteForm::kHex ? 2 : 4);
}

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool ParseHex(std::string_view text, std::string* bytes) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  if (text.size() % 2 != 0) return false;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = DigitValue(text[i]);
    const int low = DigitValue(text[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes->push_back(static_cast<char>(high * 16 + low));
  }
  return true;
}

// Parses what follows a backslash, and returns how many characters that are; 0: it is unknown.
size_t ParseEscape(std::string_view text, std::string* bytes) {
  if (text.empty()) return 0;
  switch (text[0]) {
    case '\\':
      bytes->push_back('\\');
      return 1;
    case 't':
      bytes->push_back('\t');
      return 1;
    case 'n':
      bytes->push_back('\n');
      return 1;
    case 'r':
      bytes->push_back('\r');
      return 1;
    case 'x':
      return text.size() >= 3 && ParseHex(text.substr(1, 2), bytes) ? 3 : 0;
    default:
      return 0;
  }
}

}  // namespace

void AppendBytes(std::string_view bytes, ByteForm form, Output* out) {
  char* const begin = out->Reserve(MostBytes(bytes.size(), form));
  out->Commit(static_cast<size_t>(PutBytes(bytes, form, begin) - begin));
}

std::string BytesText(std::string_view bytes, ByteForm form) {
  std::string text(MostBytes(bytes.size(), form), '\0');
  text.resize(static_cast<size_t>(PutBytes(bytes, form, text.data()) - text.data()));
  return text;
}

bool ParseBytes(std::string_view text, ByteForm form, std::string* bytes) {
  bytes->clear();
  if (form == ByteForm::kHex) return ParseHex(text, bytes);
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c != '\\') {
      bytes->push_back(c);
      continue;
    }
    const size_t used = ParseEscape(text, bytes);
    if (used == 0) return false;
    text.remove_prefix(used);
  }
  return true;
}

std::string SizeText(uint64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  auto shown = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; shown >= 1024 && unit + 1 < kUnits.size(); unit++) shown /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %s", shown, kUnits[unit]);
  return text;
}

}  // namespace varve::tool
