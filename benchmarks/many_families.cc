// SPDX-License-Identifier: Apache-2.0

// Measures changes of one column family of many. It uses the C API of the library it is given,
// so that the same program measures this engine and any other with that API:
//
//   many_families LIBRARY [--db=DIR] [--families=5000] [--rounds=51]
//
// Prints the medians of milliseconds for making a family, changing an option of one, and dropping
// one, while there are so many, and how long it takes to close and to open them all.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/c_library.h"

namespace {

using c_library::Die;
using c_library::Library;
using c_library::Opaque;

using Clock = std::chrono::steady_clock;

double MillisSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Holds a database with `families` families beside the default one.
class Families {
 public:
  Families(const Library& library, std::string db, size_t families)
      : library_(library), db_name_(std::move(db)) {
    options_ = library_.Call<Opaque*>("options_create");
    library_.Call<void>("options_set_create_if_missing", options_, static_cast<unsigned char>(1));
    names_.emplace_back("default");
    for (size_t i = 0; i < families; i++) names_.push_back("family" + std::to_string(i));
  }

  double Open() {
    std::vector<const char*> names;
    for (const std::string& name : names_) names.push_back(name.c_str());
    const std::vector<const Opaque*> options(names.size(), options_);
    handles_.assign(names.size(), nullptr);
    const Clock::time_point start = Clock::now();
    db_ = library_.Checked<Opaque*>("open_column_families", static_cast<const Opaque*>(options_),
                                    db_name_.c_str(), static_cast<int>(names.size()), names.data(),
                                    options.data(), handles_.data());
    return MillisSince(start);
  }
  // Makes all families in one opening; the option serves only for that.
  void MakeAll() {
    library_.Call<void>("options_set_create_missing_column_families", options_,
                        static_cast<unsigned char>(1));
    Open();
  }
  double Create(const std::string& name) {
    const Clock::time_point start = Clock::now();
    handles_.push_back(library_.Checked<Opaque*>(
        "create_column_family", db_, static_cast<const Opaque*>(options_), name.c_str()));
    return MillisSince(start);
  }
  double Drop() {
    const Clock::time_point start = Clock::now();
    library_.Checked<void>("drop_column_family", db_, handles_.back());
    const double millis = MillisSince(start);
    library_.Call<void>("column_family_handle_destroy", handles_.back());
    handles_.pop_back();
    return millis;
  }
  double Change(size_t family, const char* value) {
    const char* const names[] = {"write_buffer_size"};
    const char* const values[] = {value};
    const Clock::time_point start = Clock::now();
    library_.Checked<void>("set_options_cf", db_, handles_[family], 1, names, values);
    return MillisSince(start);
  }
  double Close() {
    for (Opaque* handle : handles_) library_.Call<void>("column_family_handle_destroy", handle);
    const Clock::time_point start = Clock::now();
    library_.Call<void>("close", db_);
    return MillisSince(start);
  }

 private:
  const Library& library_;
  const std::string db_name_;
  std::vector<std::string> names_;
  std::vector<Opaque*> handles_;
  Opaque* options_ = nullptr;
  Opaque* db_ = nullptr;
};

void Print(const char* what, std::vector<double> millis) {
  std::sort(millis.begin(), millis.end());
  std::printf("%-8s median %9.3f ms, longest %9.3f ms\n", what, millis[millis.size() / 2],
              millis.back());
}

void Measure(const char* library_path, const std::string& db, size_t families, size_t rounds) {
  const Library library(library_path);
  std::filesystem::remove_all(db);
  Families all(library, db, families);
  all.MakeAll();
  std::vector<double> create;
  std::vector<double> change;
  std::vector<double> drop;
  for (size_t i = 0; i < rounds; i++) {
    create.push_back(all.Create("new" + std::to_string(i)));
    change.push_back(all.Change(1 + i % families, i % 2 == 0 ? "33554432" : "16777216"));
    drop.push_back(all.Drop());
  }
  Print("create", create);
  Print("change", change);
  Print("drop", drop);
  std::printf("%-8s %9.3f ms\n", "close", all.Close());
  std::printf("%-8s %9.3f ms\n", "open", all.Open());
  all.Close();
  std::filesystem::remove_all(db);
}

}  // namespace

int main(int argc, char** argv) {
  std::string db = "/tmp/many-families";
  size_t families = 5000;
  size_t rounds = 51;
  for (int i = 2; i < argc; i++) {
    const std::string argument = argv[i];
    if (argument.starts_with("--db=")) {
      db = argument.substr(5);
    } else if (argument.starts_with("--families=")) {
      families = std::strtoull(argument.c_str() + 11, nullptr, 10);
    } else if (argument.starts_with("--rounds=")) {
      rounds = std::strtoull(argument.c_str() + 9, nullptr, 10);
    } else {
      argc = 0;
    }
  }
  if (argc < 2 || argv[1][0] == '-' || families == 0 || rounds == 0) {
    Die("usage: many_families LIBRARY [--db=DIR] [--families=N] [--rounds=N]");
  }
  Measure(argv[1], db, families, rounds);
  return 0;
}
