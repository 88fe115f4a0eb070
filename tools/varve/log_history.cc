// SPDX-License-Identifier: Apache-2.0

// LOG files are read as lines of unknown origin. Members of an event are found by the text `"name":
// `, which cannot stand inside of a string, because quotes are escaped there; so no parser of JSON
// is needed, and a line that is cut or odd yields zeros and empty texts.
//
// A job is the pair of its begin and its end, with the tables that were written between. Numbers of
// jobs begin anew with each process, so what is open at the end of a file is forgotten. Memory has
// limits: lines, events of a kind, names and messages are counted, and what exceeds the limit is
// left out.

#include "tools/varve/log_history.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <memory>
#include <utility>

#include "varve/env.h"

#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

constexpr std::string_view kEventMark = "EVENT_LOG_v1 ";

// Returns the text that follows `"name": `, or an empty one. A quote within a string is escaped, so
// that only a member's name can match.
std::string_view After(std::string_view json, const std::string& name) {
  const std::string member = "\"" + name + "\": ";
  const size_t at = json.find(member);
  return at == std::string_view::npos ? std::string_view() : json.substr(at + member.size());
}

uint64_t NumberOf(std::string_view json, const std::string& name) {
  const std::string_view text = After(json, name);
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Returns a string with its escapes as they stand.
std::string TextOf(std::string_view json, const std::string& name) {
  const std::string_view text = After(json, name);
  if (text.empty() || text.front() != '"') return "";
  size_t end = 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return std::string(text.substr(1, std::min(end, text.size()) - 1));
}

std::vector<uint64_t> ListOf(std::string_view json, const std::string& name) {
  std::vector<uint64_t> list;
  std::string_view text = After(json, name);
  if (text.empty() || text.front() != '[') return list;
  while (!text.empty() && text.front() != ']' && list.size() < 64) {
    text.remove_prefix(1);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) break;
    list.push_back(number);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  return list;
}

}  // namespace

uint64_t TimeOfLine(std::string_view line) {
  const std::string text(line.substr(0, 26));
  std::tm parts{};
  unsigned micros = 0;
  if (std::sscanf(text.c_str(), "%4d/%2d/%2d-%2d:%2d:%2d.%6u", &parts.tm_year, &parts.tm_mon,
                  &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &micros) != 7) {
    return 0;
  }
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  const time_t seconds = ::timegm(&parts);
  return seconds <= 0 ? 0 : static_cast<uint64_t>(seconds) * 1000000 + micros;
}

Status LogHistory::Read(const std::string& path) {
  Env* const env = Env::Default();
  bool directory = false;
  VARVE_RETURN_IF_ERROR(env->IsDirectory(path, &directory));
  if (!directory) {
    VARVE_RETURN_IF_ERROR(ReadFile(path));
  } else {
    std::vector<std::string> names;
    VARVE_RETURN_IF_ERROR(env->GetChildren(path, &names));
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("LOG.old."); });
    // Names end in the time at which the file was set aside, so that they sort in the order of
    // writing.
    std::ranges::sort(names);
    if (env->FileExists(path + "/LOG").ok()) names.emplace_back("LOG");
    if (names.empty()) return Status::NotFound(path, "has no file LOG");
    for (const std::string& name : names) VARVE_RETURN_IF_ERROR(ReadFile(path + "/" + name));
  }
  Forget();
  std::ranges::stable_sort(jobs, {}, &LoggedJob::begin);
  std::ranges::stable_sort(stalls, {}, &LoggedStall::time);
  std::ranges::stable_sort(shapes, {}, &LoggedShape::time);
  std::ranges::stable_sort(rates, {}, &LoggedRate::time);
  return Status::OK();
}

Status LogHistory::ReadFile(const std::string& path) {
  std::unique_ptr<SequentialFile> file;
  VARVE_RETURN_IF_ERROR(Env::Default()->NewSequentialFile(path, &file, EnvOptions()));
  Forget();  // Numbers of jobs begin anew with each process.
  // The beginning of a line whose end has not been read yet. A last line without a newline is left
  // out: its writer has not finished it.
  std::string rest;
  bool skipping = false;  // Within a line that is too long.
  for (std::string buffer(size_t{256} << 10, '\0');;) {
    Slice got;
    VARVE_RETURN_IF_ERROR(file->Read(buffer.size(), &got, buffer.data()));
    if (got.empty()) break;
    rest.append(got.data(), got.size());
    size_t begin = 0;
    for (size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', begin)) {
      if (!std::exchange(skipping, false)) {
        TakeLine(std::string_view(rest).substr(begin, std::min(end - begin, kMaxLine)));
      }
      begin = end + 1;
    }
    rest.erase(0, begin);
    if (rest.size() > kMaxLine) {
      rest.clear();
      skipping = true;
    }
  }
  return Status::OK();
}

void LogHistory::TakeLine(std::string_view line) {
  lines++;
  const uint64_t time = TimeOfLine(line);
  if (time != 0) {
    first_time = first_time == 0 ? time : std::min(first_time, time);
    last_time = std::max(last_time, time);
  }
  const size_t event = line.find(kEventMark);
  if (event != std::string_view::npos) return TakeEvent(line.substr(event + kEventMark.size()));
  if (line.find(" Interval writes: ") != std::string_view::npos) return TakeRate(line);
  if (line.find("[WARN]") == std::string_view::npos &&
      line.find("[ERROR]") == std::string_view::npos &&
      line.find("[FATAL]") == std::string_view::npos) {
    return;
  }
  if (messages.size() == kMaxMessages) messages.erase(messages.begin());
  messages.emplace_back(line.substr(0, 500));
}

// Takes the rate, which follows the comma: "... Interval writes: ..., ingest: 1.50 GB, 2.61 MB/s".
void LogHistory::TakeRate(std::string_view line) {
  const size_t ingest = line.find(" ingest: ");
  if (ingest == std::string_view::npos || !HasRoom(rates)) return;
  const size_t comma = line.find(", ", ingest);
  if (comma == std::string_view::npos) return;
  LoggedRate rate;
  rate.time = TimeOfLine(line);
  const std::string_view number = line.substr(comma + 2);
  std::from_chars(number.data(), number.data() + number.size(), rate.megabytes);
  if (rate.time != 0) rates.push_back(rate);
}

void LogHistory::TakeEvent(std::string_view json) {
  const std::string event = TextOf(json, "event");
  // The names of a foreign log are not worth more memory than this.
  if (events.size() < 100 || events.contains(event)) events[event.substr(0, 100)]++;
  const uint64_t time = NumberOf(json, "time_micros");
  if (time == 0) return;
  first_time = first_time == 0 ? time : std::min(first_time, time);
  last_time = std::max(last_time, time);
  if (event == "stall_conditions_changed") {
    if (HasRoom(stalls)) stalls.push_back({time, TextOf(json, "cf_name"), TextOf(json, "to")});
    return;
  }
  if (event == "table_file_creation") {
    if (written_.size() < kMaxEvents) {
      written_[NumberOf(json, "job")] += NumberOf(json, "file_size");
    }
    return;
  }
  if (event.ends_with("_finished")) {
    std::vector<uint64_t> tables = ListOf(json, "lsm_state");
    if (!tables.empty() && HasRoom(shapes)) {
      shapes.push_back({time, TextOf(json, "cf_name"), std::move(tables)});
    }
  }
  TakeJob(json, event);
}

void LogHistory::TakeJob(std::string_view json, std::string_view event) {
  const bool flush = event.starts_with("flush_");
  if (!flush && !event.starts_with("compaction_")) return;
  const uint64_t number = NumberOf(json, "job");
  const uint64_t time = NumberOf(json, "time_micros");
  if (event.ends_with("_started")) {
    LoggedJob job;
    job.family = TextOf(json, "cf_name");
    job.flush = flush;
    job.begin = time;
    job.reason = TextOf(json, flush ? "flush_reason" : "compaction_reason");
    if (running_.size() < kMaxEvents) running_[number] = std::move(job);
    return;
  }
  const auto found = running_.find(number);
  if (!event.ends_with("_finished") || found == running_.end()) return;
  LoggedJob job = std::move(found->second);
  running_.erase(found);
  job.end = std::max(time, job.begin);
  // The line may be forged: no database has a deeper level.
  job.level = static_cast<int>(std::min<uint64_t>(NumberOf(json, "output_level"), 63));
  job.bytes = flush ? written_[number] : NumberOf(json, "total_output_size");
  const std::string status = TextOf(json, "status");
  job.failed = !status.empty() && status != "OK";
  written_.erase(number);
  if (HasRoom(jobs)) jobs.push_back(std::move(job));
}

// Jobs that a file does not tell the end of are not shown.
void LogHistory::Forget() {
  running_.clear();
  written_.clear();
}

}  // namespace varve::tool
