// SPDX-License-Identifier: Apache-2.0

// The program `sst_dump`: shows or checks table files, with the words and the text of RocksDB's
// tool.

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "varve/env.h"

#include "tools/varve/bytes_text.h"
#include "tools/varve/front_words.h"
#include "tools/varve/fronts.h"
#include "tools/varve/output.h"
#include "tools/varve/table_file.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"

namespace varve::tool {

namespace {

constexpr std::array<std::string_view, 9> kSstDumpFlags = {
    "file",     "command",         "output_hex",      "from",         "to",
    "read_num", "show_properties", "verify_checksum", "input_key_hex"};
constexpr std::array<std::string_view, 1> kSstDumpIgnored = {"readahead_size"};

class SstDumpRun {
 public:
  explicit SstDumpRun(const FrontWords& words) : words_(words), hex_(words.Has("output_hex")) {}

  Status Run();
  Output& out() { return out_; }

 private:
  Status RunOn(const std::string& path);
  Status Walk(const TableFile& file, bool prints);
  void PrintProperties(const TableFile& file);
  [[nodiscard]] std::string ShownKey(const Slice& user_key) const {
    return "'" + (hex_ ? Slice(user_key).ToString(true) : user_key.ToString()) + "'";
  }

  const FrontWords& words_;
  const bool hex_;
  Output out_{1};
  std::string command_;
  std::string from_;
  std::string to_;
  uint64_t left_ = UINT64_MAX;
};

Status SstDumpRun::Run() {
  VARVE_RETURN_IF_ERROR(words_.CheckFlags(kSstDumpFlags, kSstDumpIgnored));
  const std::string path = words_.Value("file");
  if (path.empty()) return Status::InvalidArgument("file or directory must be specified.");
  command_ = words_.Value("command");
  if (command_.empty()) command_ = words_.Has("show_properties") ? "none" : "scan";
  const std::array<std::string_view, 4> known = {"scan", "check", "verify", "none"};
  if (std::ranges::find(known, command_) == known.end()) {
    return Status::InvalidArgument("--command=" + command_ + " is not supported here");
  }
  from_ = words_.Value("from");
  to_ = words_.Value("to");
  if (words_.Has("input_key_hex")) {
    // The texts are copied, because ParseBytes clears its result first.
    if (!ParseBytes(std::string(from_), ByteForm::kHex, &from_) ||
        !ParseBytes(std::string(to_), ByteForm::kHex, &to_)) {
      return Status::InvalidArgument("--from and --to must be in hex");
    }
  }
  const std::string most = words_.Value("read_num");
  if (!most.empty() &&
      std::from_chars(most.data(), most.data() + most.size(), left_).ec != std::errc()) {
    return Status::InvalidArgument("--read_num=" + most + " is no number");
  }
  bool is_directory = false;
  VARVE_RETURN_IF_ERROR(Env::Default()->IsDirectory(path, &is_directory));
  if (!is_directory) return RunOn(path);
  std::vector<std::string> names;
  VARVE_RETURN_IF_ERROR(Env::Default()->GetChildren(path, &names));
  std::ranges::sort(names);
  for (const auto& [name, number, type] : FilesAmong(names, kTableFile)) {
    VARVE_RETURN_IF_ERROR(RunOn(path + "/" + name));
  }
  return Status::OK();
}

Status SstDumpRun::RunOn(const std::string& path) {
  std::unique_ptr<TableFile> file;
  const Status opened = TableFile::Open(path, kMaxSequenceNumber, &file);
  if (!opened.ok()) return Status::CopyAppendMessage(opened, ": ", path);
  out_.Append("Process " + path + "\nSst file format: block-based\n");
  if (command_ == "verify" || words_.Has("verify_checksum")) {
    VARVE_RETURN_IF_ERROR(file->reader().VerifyChecksum(ReadOptions()));
  }
  if (command_ == "verify") out_.Append("The file is ok\n");
  if (command_ == "scan" || command_ == "check") {
    out_.Append("from [" + from_ + "] to [" + to_ + "]\n");
    VARVE_RETURN_IF_ERROR(Walk(*file, command_ == "scan"));
  }
  if (words_.Has("show_properties")) PrintProperties(*file);
  return Status::OK();
}

// Bounds are compared as bytes, whatever the order of the table is, and end the walk at the first
// key that is not below --to. --read_num counts over all files.
Status SstDumpRun::Walk(const TableFile& file, bool prints) {
  SalvageCount count;
  const Status ended = Status::Aborted();
  const Status s = file.reader().Salvage(
      [&](const Slice& key, const Slice& value) {
        ParsedInternalKey parsed;
        if (!ParseInternalKey(key, &parsed)) return Status::Corruption("a malformed key");
        if (!from_.empty() && parsed.user_key.compare(from_) < 0) return Status::OK();
        if (!to_.empty() && parsed.user_key.compare(to_) >= 0) return ended;
        if (left_ == 0 || out_.failed()) return ended;
        left_--;
        if (!prints) return Status::OK();
        out_.Append(ShownKey(parsed.user_key) + " seq:" + std::to_string(parsed.sequence) +
                    ", type:" + std::to_string(parsed.type) + " => " +
                    (hex_ ? value.ToString(true) : value.ToString()) + "\n");
        return Status::OK();
      },
      &count);
  if (!s.ok() && !s.IsAborted()) return s;
  return count.first_error;
}

void SstDumpRun::PrintProperties(const TableFile& file) {
  const TableProperties& p = *file.reader().properties();
  const auto line = [this](const std::string& name, uint64_t number) {
    out_.Append("  " + name + ": " + std::to_string(number) + "\n");
  };
  out_.Append("Table Properties:\n------------------------------\n");
  line("# data blocks", p.num_data_blocks);
  line("# entries", p.num_entries);
  line("# deletions", p.num_deletions);
  line("# merge operands", p.num_merge_operands);
  line("# range deletions", p.num_range_deletions);
  line("raw key size", p.raw_key_size);
  line("raw value size", p.raw_value_size);
  line("data block size", p.data_size);
  line("filter block size", p.filter_size);
  line("# entries for filter", p.num_filter_entries);
  line("column family ID", p.column_family_id);
  out_.Append("  column family name: " + p.column_family_name + "\n");
  out_.Append("  comparator name: " + p.comparator_name + "\n");
  out_.Append("  SST file compression algo: " + p.compression_name + "\n");
  line("creation time", p.creation_time);
  line("file creation time", p.file_creation_time);
  out_.Append("  DB identity: " + p.db_id + "\n  DB session identity: " + p.db_session_id + "\n");
  line("original file number", p.orig_file_number);
}

}  // namespace

int RunSstDump(int argc, const char* const* argv) {
  const FrontWords words(argc, argv);
  SstDumpRun run(words);
  const Status s = run.Run();
  run.out().Flush();
  // EPIPE is no failure: a reader that has gone away, such as `head`, has seen what it wanted.
  if (s.ok()) return run.out().failed() && run.out().error() != EPIPE ? 1 : 0;
  std::fprintf(stderr, "%s\n", s.ToString().c_str());
  return 1;
}

}  // namespace varve::tool
