// SPDX-License-Identifier: Apache-2.0

// The parent starts this program again with words that name a task (Words, TaskOf), and reads lines
// from a pipe, which is file 3 of the child:
//
//     row <name>                      what follows is about this row
//     skipped                         the engine cannot do it
//     measured <resident> <own>       MB, at the moment at which the measured part is over
//     figure <unit> <value> <name>
//     answers <digest>                the row is finished
//
// The peak of the child's own memory (without pages of mapped files) is not kept by the kernel, so
// the parent looks every kSampleMilliseconds. The child dies with the parent, and leaves by _exit,
// because libraries leave threads behind that an ordinary exit would wait for or disturb.

#include "benchmarks/compare/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>

#include "benchmarks/c_library.h"
#include "benchmarks/compare/data_sets.h"

namespace compare {
namespace {

namespace fs = std::filesystem;

constexpr char kChildWord[] = "compare-child";
constexpr int kReportFile = 3;
constexpr int kSampleMilliseconds = 20;
constexpr double kKibibytesInMb = 1e6 / 1024;

// Returns the value of a line of /proc/<process>/status, in MB.
double MemoryOf(const std::string& process, const std::string& what) {
  std::ifstream lines("/proc/" + process + "/status");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(what)) {
      return std::strtod(line.c_str() + what.size(), nullptr) / kKibibytesInMb;
    }
  }
  return 0;
}

// ---- The parent's side ----

// Returns the environment of this process, and one more variable for libraries with more
// thread-local variables than a running program usually has room for, such as an unoptimised build
// of ours.
std::vector<std::string> Variables() {
  std::vector<std::string> variables;
  std::string tunables = "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=65536";
  for (char** one = environ; *one != nullptr; one++) {
    if (std::strncmp(*one, "GLIBC_TUNABLES=", 15) == 0) {
      tunables += std::string(":") + (*one + 15);
    } else {
      variables.emplace_back(*one);
    }
  }
  variables.push_back(tunables);
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Starts a child with `words` and passes on each line that it reports. Returns false unless it ends
// well. The second argument of `line` is the peak of the child's own memory so far.
bool RunChild(const std::vector<std::string>& words,
              const std::function<void(const std::string&, double)>& line) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) c_library::Die("no pipe");
  std::vector<std::string> arguments = {"compare", kChildWord};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<std::string> variables = Variables();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], kReportFile);
  pid_t child = -1;
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr,
                                Pointers(&arguments).data(), Pointers(&variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) c_library::Die(std::strerror(error));

  std::string text;
  double own_mb = 0;
  for (bool open = true; open;) {
    own_mb = std::max(own_mb, MemoryOf(std::to_string(child), "RssAnon:"));
    pollfd ready = {ends[0], POLLIN, 0};
    if (poll(&ready, 1, kSampleMilliseconds) <= 0) continue;
    char bytes[4096];
    const ssize_t count = read(ends[0], bytes, sizeof(bytes));
    open = count > 0;
    if (open) text.append(bytes, static_cast<size_t>(count));
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      line(text.substr(0, end), own_mb);
      text.erase(0, end + 1);
    }
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::vector<std::string> Words(const char* task, const Contender& library, const Folders& folders,
                               const Scale& scale) {
  return {task,
          library.path,
          std::to_string(static_cast<int>(library.kind)),
          folders.sets,
          folders.work,
          folders.disk,
          std::to_string(scale.n),
          std::to_string(scale.seconds),
          std::to_string(scale.seed),
          scale.compresses ? "1" : "0"};
}

// Parses a line of the child's report, see Report.
void Take(const std::string& line, double own_mb, Sample* sample) {
  std::istringstream words(line);
  std::string verb;
  words >> verb;
  if (verb == "measured") {
    double own_now = 0;  // for a row that ends before it is looked at
    words >> sample->resident_mb >> own_now;
    sample->own_mb = std::max(own_mb, own_now);
  } else if (verb == "figure") {
    Figure figure;
    int unit = 0;
    words >> unit >> figure.value >> std::ws;
    figure.unit = static_cast<Unit>(unit);
    std::getline(words, figure.name);
    sample->figures.push_back(figure);
  } else if (verb == "answers") {
    words >> std::ws;
    std::getline(words, sample->answers);
    sample->finished = true;
  } else if (verb == "skipped") {
    sample->skipped = sample->finished = true;
  }
}

// ---- The child's side ----

struct Task {
  std::string verb;
  std::string path;
  Kind kind = Kind::kUnknown;
  Folders folders;
  Scale scale;
  std::vector<std::string> rows;
};

Task TaskOf(char** words, int count) {
  if (count < 10) c_library::Die("a child needs more words");
  Task task;
  task.verb = words[0];
  task.path = words[1];
  task.kind = static_cast<Kind>(std::atoi(words[2]));
  task.folders = {words[3], words[4], words[5]};
  task.scale.n = std::strtoull(words[6], nullptr, 10);
  task.scale.seconds = std::strtod(words[7], nullptr);
  task.scale.seed = std::strtoull(words[8], nullptr, 10);
  task.scale.compresses = words[9] == std::string("1");
  for (int i = 10; i < count; i++) task.rows.emplace_back(words[i]);
  return task;
}

// Builds the data set whole or not at all, so that an interrupted build is not taken for one.
void BuildOnce(const Task& task, const std::string& set, Engine* engine) {
  const std::string path = task.folders.sets + "/" + set;
  if (set.empty() || fs::exists(path)) return;
  const std::string unfinished = path + ".unfinished";
  fs::remove_all(unfinished);
  fs::create_directories(task.folders.sets);
  BuildDataSet(set, engine, unfinished, task.scale);
  fs::rename(unfinished, path);
}

bool CanDo(const Row& row, const Abilities& abilities) {
  return std::all_of(row.needs.begin(), row.needs.end(),
                     [&](const auto need) { return abilities.*need; });
}

void RunRow(const Task& task, const Row& row, Engine* engine, FILE* report) {
  std::fprintf(report, "row %s\n", row.name.c_str());
  if (!CanDo(row, engine->abilities())) {
    std::fprintf(report, "skipped\n");
    return;
  }
  BuildOnce(task, row.data, engine);
  const std::string& work = row.on_disk ? task.folders.disk : task.folders.work;
  fs::remove_all(work);
  if (!row.data.empty()) {
    fs::copy(task.folders.sets + "/" + row.data, work, fs::copy_options::recursive);
  } else {
    fs::create_directories(fs::path(work).parent_path());
  }
  Run run(engine, work, task.scale, [&] {
    std::fprintf(report, "measured %.3f %.3f\n", MemoryOf("self", "VmHWM:"),
                 MemoryOf("self", "RssAnon:"));
    std::fflush(report);
  });
  row.run(&run);
  for (const Figure& figure : run.figures()) {
    std::fprintf(report, "figure %d %.17g %s\n", static_cast<int>(figure.unit), figure.value,
                 figure.name.c_str());
  }
  std::fprintf(report, "answers %016llx of %llu\n",
               static_cast<unsigned long long>(run.digest().state()),
               static_cast<unsigned long long>(run.digest().count()));
  std::fflush(report);
  fs::remove_all(work);
}

}  // namespace

std::string Identify(const Contender& library, const std::string& scratch) {
  std::string name;
  RunChild(Words("identify", library, {scratch, scratch, scratch}, Scale()),
           [&](const std::string& line, double) { name = line; });
  fs::remove_all(scratch);
  return name;
}

bool Prepare(const Contender& library, const Row& row, const Folders& folders, const Scale& scale) {
  if (row.data.empty() || fs::exists(folders.sets + "/" + row.data)) return true;
  std::vector<std::string> words = Words("build", library, folders, scale);
  words.push_back(row.name);
  return RunChild(words, [](const std::string&, double) {});
}

std::vector<Sample> RunRows(const Contender& library, const std::vector<Row>& rows,
                            const Folders& folders, const Scale& scale) {
  std::vector<std::string> words = Words("run", library, folders, scale);
  std::vector<Sample> samples(rows.size());
  std::map<std::string, Sample*> by_name;
  for (size_t i = 0; i < rows.size(); i++) {
    words.push_back(rows[i].name);
    samples[i].row = rows[i].name;
    by_name[rows[i].name] = &samples[i];
  }
  Sample* current = nullptr;
  RunChild(words, [&](const std::string& line, double own_mb) {
    if (line.starts_with("row ")) {
      current = by_name.at(line.substr(4));
    } else if (current != nullptr) {
      Take(line, own_mb, current);
    }
  });
  return samples;
}

void BeChildIfStartedAsOne(int argc, char** argv) {
  if (argc < 2 || argv[1] != std::string(kChildWord)) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  FILE* const report = fdopen(kReportFile, "w");
  if (report == nullptr) c_library::Die("a child needs a file to report to");
  const Task task = TaskOf(argv + 2, argc - 2);
  const std::unique_ptr<Engine> engine = Load(task.path, task.kind);
  if (task.verb == "identify") {
    std::fprintf(report, "%s\n", engine->Name(task.folders.work).c_str());
  } else {
    for (const Row& row : AllRows()) {
      if (std::find(task.rows.begin(), task.rows.end(), row.name) == task.rows.end()) continue;
      if (task.verb == "run") {
        RunRow(task, row, engine.get(), report);
      } else if (CanDo(row, engine->abilities())) {
        BuildOnce(task, row.data, engine.get());
      }
    }
  }
  std::fclose(report);
  std::fflush(nullptr);
  // _exit() is used because libraries leave threads and options behind.
  _exit(0);
}

}  // namespace compare
