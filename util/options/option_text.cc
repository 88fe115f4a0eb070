// SPDX-License-Identifier: Apache-2.0

// Implements the scanner and number forms of option text.

#include "util/options/option_text.h"

#include <charconv>
#include <cmath>

#include "util/coding/decimal.h"

namespace varve {

namespace {

bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Returns the index just after the brace that closes the one at `open`; npos if none does, or if
// nesting is too deep. It counts instead of recursing, as the text may come from a hostile file.
// Escapes do not matter here: a brace cannot be escaped.
size_t EndOfBraces(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{') {
      if (++depth > kMaxOptionNesting) return std::string_view::npos;
    } else if (text[i] == '}') {
      if (--depth == 0) return i + 1;
    }
  }
  return std::string_view::npos;
}

std::string Excerpt(std::string_view text) {
  return std::string(text.substr(0, 60));
}

// Reads the value that starts at *pos; leaves *pos after the ';' that ends it. A value that begins
// with a brace ends with its partner, and may contain ';'. Any other value ends at the next ';' and
// must not contain braces, which would shift the structure of an enclosing text.
Status TakeValue(std::string_view text, size_t* pos, std::string* value) {
  size_t begin = *pos;
  while (begin < text.size() && IsSpace(text[begin])) ++begin;
  size_t end;
  if (begin < text.size() && text[begin] == '{') {
    end = EndOfBraces(text, begin);
    if (end == std::string_view::npos) {
      return Status::InvalidArgument("option text: braces not closed or nested too deep",
                                     Excerpt(text.substr(begin)));
    }
    size_t next = end;
    while (next < text.size() && IsSpace(text[next])) ++next;
    if (next < text.size() && text[next] != ';') {
      return Status::InvalidArgument("option text: ';' expected after '}'",
                                     Excerpt(text.substr(next)));
    }
    *pos = next < text.size() ? next + 1 : next;
  } else {
    end = text.find(';', begin);
    if (end == std::string_view::npos) end = text.size();
    *pos = end < text.size() ? end + 1 : end;
  }
  *value = std::string(TrimOptionText(text.substr(begin, end - begin)));
  if (!IsBraced(*value) && value->find_first_of("{}") != std::string::npos) {
    return Status::InvalidArgument("option text: stray brace", Excerpt(*value));
  }
  return Status::OK();
}

// Removes the suffix of a text such as "12K", and sets *shift to the power of two that it stands
// for, or to 0 if there is no such suffix: what else may follow the digits stays for the caller to
// refuse. Returns false for an empty text.
bool TakeSuffix(std::string_view* digits, int* shift) {
  *shift = 0;
  if (digits->empty()) return false;
  switch (digits->back()) {
    case 'k':
    case 'K':
      *shift = 10;
      break;
    case 'm':
    case 'M':
      *shift = 20;
      break;
    case 'g':
    case 'G':
      *shift = 30;
      break;
    case 't':
    case 'T':
      *shift = 40;
      break;
    default:
      return true;
  }
  digits->remove_suffix(1);
  return true;
}

}  // namespace

std::string_view TrimOptionText(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

bool IsBraced(std::string_view text) {
  return text.size() >= 2 && text.front() == '{' && EndOfBraces(text, 0) == text.size();
}

std::string_view WithoutBraces(std::string_view text) {
  text = TrimOptionText(text);
  if (!IsBraced(text)) return text;
  return TrimOptionText(text.substr(1, text.size() - 2));
}

Status SplitOptionText(std::string_view text, OptionPairs* pairs) {
  pairs->clear();
  if (text.size() > kMaxOptionTextBytes) {
    return Status::InvalidArgument("option text: longer than 16 MiB");
  }
  text = WithoutBraces(text);
  size_t pos = 0;
  while (pos < text.size()) {
    if (IsSpace(text[pos]) || text[pos] == ';') {
      ++pos;
      continue;
    }
    const size_t equals = text.find('=', pos);
    if (equals == std::string_view::npos) {
      return Status::InvalidArgument("option text: '=' expected", Excerpt(text.substr(pos)));
    }
    const std::string_view name = TrimOptionText(text.substr(pos, equals - pos));
    if (name.empty() || name.find_first_of(";{}") != std::string_view::npos) {
      return Status::InvalidArgument("option text: name expected", Excerpt(text.substr(pos)));
    }
    pos = equals + 1;
    std::string value;
    Status s = TakeValue(text, &pos, &value);
    if (!s.ok()) return s;
    pairs->emplace_back(std::string(name), std::move(value));
  }
  return Status::OK();
}

void TakeId(OptionPairs* pairs, std::string* id) {
  std::erase_if(*pairs, [id](const auto& pair) {
    if (pair.first != "id") return false;
    *id = pair.second;
    return true;
  });
}

Status ObjectId(std::string_view text, std::string* id) {
  text = TrimOptionText(text);
  id->clear();
  if (!text.starts_with('{')) {
    if (text != "nullptr") *id = std::string(text);
    return Status::OK();
  }
  if (!IsBraced(text)) return Status::InvalidArgument("braces not closed", Excerpt(text));
  // Braces around a bare name, such as "{LRUCache}", hold no name=value.
  OptionPairs pairs;
  if (!SplitOptionText(text, &pairs).ok()) {
    pairs = {{"id", std::string(WithoutBraces(text))}};
  }
  const bool has_fields = !pairs.empty();
  TakeId(&pairs, id);
  if (id->empty() && has_fields) return Status::InvalidArgument("id=... expected");
  if (*id == "nullptr") id->clear();
  return Status::OK();
}

// A colon at the end announces one more element, an empty one.
std::vector<std::string_view> SplitOptionList(std::string_view text) {
  std::vector<std::string_view> elements;
  text = TrimOptionText(text);
  while (!text.empty()) {
    const size_t colon = text.find(':');
    elements.push_back(TrimOptionText(text.substr(0, colon)));
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
    if (text.empty()) elements.emplace_back();
  }
  return elements;
}

// Line ends would break a line of an OPTIONS file, '#' would begin a comment, and ':' would split a
// list. Semicolons and braces are not escaped, like in RocksDB.
std::string EscapeOptionText(std::string_view raw) {
  std::string escaped;
  escaped.reserve(raw.size());
  for (const char c : raw) {
    switch (c) {
      case '\n':
        escaped += "\\n";
        break;
      case '\r':
        escaped += "\\r";
        break;
      case '\\':
      case '#':
      case ':':
        escaped += '\\';
        [[fallthrough]];
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string UnescapeOptionText(std::string_view escaped) {
  std::string raw;
  raw.reserve(escaped.size());
  for (size_t i = 0; i < escaped.size(); ++i) {
    char c = escaped[i];
    if (c == '\\' && i + 1 < escaped.size()) {
      c = escaped[++i];
      if (c == 'n') c = '\n';
      if (c == 'r') c = '\r';
    }
    raw += c;
  }
  return raw;
}

bool ParseUnsigned(std::string_view text, uint64_t max, uint64_t* value) {
  text = TrimOptionText(text);
  int shift = 0;
  if (!TakeSuffix(&text, &shift)) return false;
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return false;
  // Compared before the shift, which could lose high bits.
  if (number > (max >> shift)) return false;
  *value = number << shift;
  return true;
}

bool ParseSigned(std::string_view text, int64_t min, int64_t max, int64_t* value) {
  text = TrimOptionText(text);
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  // ParseUnsigned skips blanks, but a number has none behind its sign.
  if (negative && !text.empty() && IsSpace(text.front())) return false;
  uint64_t magnitude = 0;
  // Magnitudes are unsigned, since that of INT64_MIN does not fit into an int64_t.
  const uint64_t limit = negative ? uint64_t{0} - static_cast<uint64_t>(min < 0 ? min : 0)
                                  : static_cast<uint64_t>(max < 0 ? 0 : max);
  if (!ParseUnsigned(text, limit, &magnitude)) return false;
  const int64_t number = static_cast<int64_t>(negative ? uint64_t{0} - magnitude : magnitude);
  if (number < min || number > max) return false;
  *value = number;
  return true;
}

bool ParseDouble(std::string_view text, double* value) {
  text = TrimOptionText(text);
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(number)) return false;
  *value = number;
  return true;
}

// Prefers "0.500000", which is what RocksDB writes, if it loses nothing; else 17 digits, which
// restore every double.
std::string PrintDouble(double value) {
  std::string text = FixedDigits(value, 6);
  double back = 0;
  if (ParseDouble(text, &back) && back == value) return text;
  return SignificantDigits(value, 17);
}

}  // namespace varve
