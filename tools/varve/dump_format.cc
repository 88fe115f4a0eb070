// SPDX-License-Identifier: Apache-2.0

// Reads what it cannot trust. The bounds are those of the lines (64 bytes) and of lengths (4 GiB),
// and a length is believed only as far as the file has bytes. The last line counts the puts, so
// that a dump that was cut, or two that were joined, are noticed.

#include "tools/varve/dump_format.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>

#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

constexpr char kHeader[] = "varve-dump 1";
constexpr size_t kDigitsMax = std::numeric_limits<uint64_t>::digits10 + 1;
constexpr size_t kLineMax = 64;
// Bodies grow by so much while they are read: a forged length costs no more memory than the file
// has bytes.
constexpr size_t kReadStep = size_t{1} << 20;
constexpr uint64_t kBytesMax = uint64_t{1} << 32;

void AppendLength(std::string_view text, char after, Output* out) {
  char digits[kDigitsMax];
  const char* const end = std::to_chars(digits, digits + sizeof(digits), text.size()).ptr;
  out->Append(std::string_view(digits, static_cast<size_t>(end - digits)));
  out->Append(after);
}

void AppendTwo(std::string_view word, std::string_view first, std::string_view second,
               Output* out) {
  out->Append(word);
  out->Append(' ');
  AppendLength(first, ' ', out);
  AppendLength(second, '\n', out);
  out->Append(first);
  out->Append(second);
  out->Append('\n');
}

// Takes a number off the front of *text; `separator` must follow it, or its end if that is 0.
bool TakeNumber(std::string_view* text, char separator, uint64_t* number) {
  const char* const end = text->data() + text->size();
  const auto [next, error] = std::from_chars(text->data(), end, *number);
  if (error != std::errc()) return false;
  if (separator == 0) return next == end;
  if (next == end || *next != separator) return false;
  text->remove_prefix(static_cast<size_t>(next - text->data()) + 1);
  return true;
}

}  // namespace

void AppendDumpHeader(Output* out) {
  out->Append(kHeader);
  out->Append('\n');
}

void AppendDumpFamily(std::string_view name, std::string_view comparator, Output* out) {
  AppendTwo("family", name, comparator, out);
}

void AppendDumpPut(std::string_view key, std::string_view value, Output* out) {
  AppendTwo("put", key, value, out);
}

void AppendDumpEnd(uint64_t puts, Output* out) {
  out->Append("end " + std::to_string(puts) + "\n");
}

Status DumpReader::Open(const std::string& path, std::unique_ptr<DumpReader>* reader) {
  if (path == "-") {
    reader->reset(new DumpReader("standard input", stdin));
    return Status::OK();
  }
  std::FILE* const file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return Status::InvalidArgument("cannot open " + path, std::strerror(errno));
  reader->reset(new DumpReader(path, file));
  return Status::OK();
}

DumpReader::~DumpReader() {
  if (file_ != stdin) std::fclose(file_);
}

Status DumpReader::ReadHeader() {
  std::string line;
  const Status s = ReadLine(&line);
  if (s.IsIOError()) return s;
  if (s.ok() && line == kHeader) return Status::OK();
  if (s.ok() && line.starts_with("varve-dump ")) {
    return Status::NotSupported(path_, "is a dump of another version: " + line);
  }
  return Status::InvalidArgument(path_,
                                 std::string("is no dump: it does not begin with ") + kHeader);
}

Status DumpReader::Next(DumpRecord* record) {
  std::string line;
  VARVE_RETURN_IF_ERROR(ReadLine(&line));
  std::string_view rest = line;
  uint64_t first = 0;
  uint64_t second = 0;
  if (rest.starts_with("end ")) {
    rest.remove_prefix(4);
    if (!TakeNumber(&rest, 0, &first)) return Bad("malformed end");
    if (first != puts_) {
      return Bad("the end counts " + std::to_string(first) + " puts, but there were " +
                 std::to_string(puts_));
    }
    record->kind = DumpRecord::Kind::kEnd;
    return std::fgetc(file_) == EOF ? Status::OK() : Bad("bytes after the end");
  }
  const bool is_put = rest.starts_with("put ");
  if (!is_put && !rest.starts_with("family ")) return Bad("unknown record");
  rest.remove_prefix(is_put ? 4 : 7);
  if (!TakeNumber(&rest, ' ', &first) || !TakeNumber(&rest, 0, &second)) {
    return Bad("malformed lengths");
  }
  record->kind = is_put ? DumpRecord::Kind::kPut : DumpRecord::Kind::kFamily;
  puts_ += is_put ? 1 : 0;
  return ReadBody(first, second, record);
}

Status DumpReader::ReadLine(std::string* line) {
  for (;;) {
    const int c = std::fgetc(file_);
    if (c == EOF) {
      if (std::ferror(file_) != 0) return Status::IOError(path_, std::strerror(errno));
      return Bad("the dump is cut");
    }
    offset_++;
    if (c == '\n') return Status::OK();
    line->push_back(static_cast<char>(c));
    if (line->size() > kLineMax) return Bad("a line is too long");
  }
}

Status DumpReader::ReadBody(uint64_t first, uint64_t second, DumpRecord* record) {
  if (first > kBytesMax || second > kBytesMax) return Bad("a length above 4 GiB");
  // At most 2^33 + 1, and no overflow: both lengths were checked before. The last byte is the
  // newline.
  const uint64_t total = first + second + 1;
  body_.clear();
  while (body_.size() < total) {
    const size_t have = body_.size();
    const auto step = static_cast<size_t>(std::min<uint64_t>(kReadStep, total - have));
    body_.resize(have + step);
    const size_t got = std::fread(body_.data() + have, 1, step, file_);
    offset_ += got;
    if (got == step) continue;
    if (std::ferror(file_) != 0) return Status::IOError(path_, std::strerror(errno));
    return Bad("the dump is cut");
  }
  if (body_.back() != '\n') return Bad("no newline after a record");
  record->first = std::string_view(body_).substr(0, first);
  record->second = std::string_view(body_).substr(first, second);
  return Status::OK();
}

Status DumpReader::Bad(const std::string& what) const {
  return Status::Corruption(path_, what + " at offset " + std::to_string(offset_));
}

}  // namespace varve::tool
