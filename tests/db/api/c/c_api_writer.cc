// SPDX-License-Identifier: Apache-2.0
// Writes what follows from the list of the C API's plain functions (db/api/c/c_functions.inc) and
// from the headers in include/varve/c: the declarations of the rows in these headers, the README.md
// beside them, and the calls of every_function_test.cc. Usage:
//   varve_c_api_writer write <source dir>         writes headers and README.md
//   varve_c_api_writer check <source dir>         fails if they are not what it would write
//   varve_c_api_writer calls <source dir> <file>  writes the calls
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Row {
  const char* kind;
  const char* state;
  const char* a = "";
  const char* b = "";
  const char* c = "";
  const char* d = "";
};

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
#define BLOCK(header, subject) {"BLOCK", "", header, subject},
#define NOTE(text) {"NOTE", "", text},
#define HANDLE(object, type) {"HANDLE", "", #object, #type},
#define CREATE(state, object) {"CREATE", #state, #object},
#define DESTROY(state, object) {"DESTROY", #state, #object},
#define FIELD(state, object, name, type) {"FIELD", #state, #object, #name, #type},
#define FIELD_AS(state, object, name, type, member) FIELD(state, object, name, type)
#define SETTER(state, object, suffix, type, member) {"SETTER", #state, #object, #suffix, #type},
#define GETTER(state, object, suffix, type, member) {"GETTER", #state, #object, #suffix, #type},
#define LACKING(struct_name, name, type, default_value) FIELD(STORED, options, name, type)
#define VIEW(state, object, name, type) {"VIEW", #state, #object, #name, #type},
#define VIEW_AS(state, object, name, type, member) VIEW(state, object, name, type)
#define VIEW_TEXT(state, object, name) {"VIEW_TEXT", #state, #object, #name},
#define VIEW_PART(state, object, name, part, member) \
  {"VIEW", #state, #object, #name, "const rocksdb_" #part "_t*"},
#define ABSENT(state, object, name, type) VIEW(state, object, name, type)
#define ABSENT_TEXT(state, object, name) VIEW_TEXT(state, object, name)
#define NOTHING(state, type, function, parameters) \
  {"FUNCTION", #state, #type, #function, #parameters},
#define REFUSES(type, function, feature, parameters) \
  {"FUNCTION", "REFUSED", #type, #function, #parameters},
#define REFUSES_VALUE(type, function, feature, parameters) \
  REFUSES(type, function, feature, parameters)
#include "db/api/c/c_functions.inc"
  };
  return rows;
}

// ---- Declarations ----

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "varve_c_api_writer: cannot read %s\n", path.c_str());
    std::exit(2);
  }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Adds a declaration, which has a line of its own, however long.
void AddDeclaration(std::string* text, const Row& row, const std::string& type,
                    const std::string& function, const std::string& parameters) {
  *text +=
      std::string("VARVE_C_") + row.state + " " + type + " " + function + "(" + parameters + ");\n";
}

void AddNote(std::string* text, const std::string& note) {
  if (!text->empty()) *text += "\n";
  std::istringstream words(note);
  std::string line = "//";
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > 100) {
      *text += line + "\n";
      line = "//";
    }
    line += " " + word;
  }
  *text += line + "\n";
}

// Returns the declarations of each block, by header and subject.
std::map<std::pair<std::string, std::string>, std::string> Blocks() {
  std::map<std::pair<std::string, std::string>, std::string> blocks;
  std::map<std::string, std::string> handles;
  std::string* text = nullptr;
  for (const Row& row : Rows()) {
    const std::string kind = row.kind;
    if (kind == "BLOCK") {
      text = &blocks[{row.a, row.b}];
      continue;
    }
    if (kind == "NOTE") {
      AddNote(text, row.a);
      continue;
    }
    if (kind == "HANDLE") {
      handles[row.a] = row.b;
      continue;
    }
    if (kind == "FUNCTION") {
      const std::string parameters(row.c);
      AddDeclaration(text, row, row.a, row.b, parameters.substr(1, parameters.size() - 2));
      continue;
    }
    const auto handle = handles.find(row.a);
    const std::string pointer =
        (handle == handles.end() ? std::string("rocksdb_") + row.a + "_t" : handle->second) + "*";
    const std::string prefix = std::string("rocksdb_") + row.a + "_";
    if (kind == "CREATE") AddDeclaration(text, row, pointer, prefix + "create", "void");
    if (kind == "DESTROY") AddDeclaration(text, row, "void", prefix + "destroy", pointer);
    if (kind == "FIELD" || kind == "SETTER") {
      const char* const set = kind == "FIELD" ? "set_" : "";
      AddDeclaration(text, row, "void", prefix + set + row.b, pointer + ", " + row.c);
    }
    if (kind == "FIELD" || kind == "GETTER") {
      const char* const get = kind == "FIELD" ? "get_" : "";
      AddDeclaration(text, row, row.c, prefix + get + row.b, pointer);
    }
    if (kind == "VIEW") AddDeclaration(text, row, row.c, prefix + row.b, "const " + pointer);
    if (kind == "VIEW_TEXT") {
      AddDeclaration(text, row, "const char*", prefix + row.b, "const " + pointer + ", size_t*");
    }
  }
  blocks.erase({"", ""});
  return blocks;
}

constexpr std::string_view kBegin =
    "// Written by varve_c_api_writer from db/api/c/c_functions.inc.\n// clang-format off\n";
constexpr std::string_view kEnd = "// clang-format on\n";

// Returns the header with the declarations of its rows between the marks; each subject that has
// rows has one pair of marks.
std::string WithRows(const std::string& name, const std::string& header) {
  const auto blocks = Blocks();
  std::istringstream lines(header);
  std::string text;
  std::string subject;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    line += "\n";
    if (line.starts_with("// ---- ")) subject = line.substr(8, line.size() - 14);
    if (line == kEnd) inside = false;
    if (!inside) text += line;
    if (text.ends_with(kBegin) && !inside) {
      inside = true;
      const auto block = blocks.find({name, subject});
      if (block != blocks.end()) text += block->second;
    }
  }
  return text;
}

// ---- The functions of the headers ----

struct Function {
  std::string header;
  std::string subject;
  std::string state;
  std::string returns;
  std::string name;
  std::vector<std::string> parameters;  // Their types.
};

bool IsWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Returns the type of a parameter, which may have a name. An array is a pointer.
std::string TypeOf(std::string parameter) {
  if (parameter.ends_with("[]")) {
    parameter.resize(parameter.size() - 2);
    return TypeOf(parameter) + "*";
  }
  const size_t pointer = parameter.find("(*");
  if (pointer != std::string::npos) {
    const size_t name = pointer + 2;
    const size_t end = parameter.find(')', name);
    return parameter.erase(name, end - name);
  }
  size_t begin = parameter.size();
  while (begin > 0 && IsWordPart(parameter[begin - 1])) begin--;
  const std::string word = parameter.substr(begin);
  const bool is_type = word.empty() || word.ends_with("_t") || word == "char" || word == "int" ||
                       word == "double" || word == "bool";
  if (is_type || begin == 0) return parameter;
  parameter.resize(begin);
  while (parameter.ends_with(' ')) parameter.pop_back();
  return parameter;
}

// Splits at the commas outside of parentheses.
std::vector<std::string> ParametersOf(const std::string& text) {
  std::vector<std::string> parameters;
  std::string parameter;
  int depth = 0;
  for (const char c : text + ",") {
    if (c == '(') depth++;
    if (c == ')') depth--;
    if (c == ',' && depth == 0) {
      parameters.push_back(TypeOf(parameter));
      parameter.clear();
    } else if (c != ' ' || !parameter.empty()) {
      parameter += c;
    }
  }
  if (parameters == std::vector<std::string>{"void"}) parameters.clear();
  return parameters;
}

// Appends the function that `declaration` declares, if it declares one.
void AddFunction(const std::string& header, const std::string& subject,
                 const std::string& declaration, std::vector<Function>* functions) {
  for (const char* const state : {"API", "STORED", "REFUSED"}) {
    const std::string mark = std::string("VARVE_C_") + state + " ";
    const size_t returns = declaration.find(mark) + mark.size();
    if (returns < mark.size()) continue;
    const size_t open = declaration.find('(', returns);
    size_t begin = open;
    while (IsWordPart(declaration[begin - 1])) begin--;
    const size_t close = declaration.rfind(')');
    functions->push_back({header, subject, state, declaration.substr(returns, begin - returns),
                          declaration.substr(begin, open - begin),
                          ParametersOf(declaration.substr(open + 1, close - open - 1))});
  }
}

std::vector<std::string> HeadersOf(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".h") names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

// Returns the functions that `text` declares, in its order.
void AddFunctions(const std::string& header, const std::string& text,
                  std::vector<Function>* functions) {
  std::istringstream lines(text);
  std::string subject;
  std::string declaration;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("// ---- ")) subject = line.substr(8, line.size() - 13);
    if (line.starts_with("#")) continue;
    for (const char c : line.substr(0, line.find("//"))) {
      if (c == ';') {
        AddFunction(header, subject, declaration, functions);
        declaration.clear();
      } else if (c != ' ' || !declaration.ends_with(' ')) {
        declaration += c;
      }
    }
    declaration += declaration.ends_with('(') || declaration.ends_with(' ') ? "" : " ";
  }
}

// ---- README.md ----

std::string Readme(const std::string& before, const std::vector<Function>& functions) {
  const std::array<std::pair<const char*, const char*>, 3> states = {
      {{"REFUSED", "refused"}, {"STORED", "stored"}, {"API", "works"}}};
  // The text above the counts is written by hand.
  std::string text = before.substr(0, before.find("\n\n## "));
  text.resize(text.rfind("\n\n") + 2);
  std::map<std::string, std::string> words;
  for (const auto& [mark, word] : states) {
    words[mark] = word;
    const auto count = std::ranges::count(functions, mark, &Function::state);
    text += std::to_string(count) + " " + word + (words.size() < states.size() ? ", " : ".\n");
  }
  // Each header has a table, with a row for each subject and state.
  std::string header;
  std::vector<std::pair<std::string, std::string>> rows;
  const auto flush = [&] {
    for (const auto& [row, names] : rows) text += row + names + " |\n";
    rows.clear();
  };
  for (const Function& function : functions) {
    if (function.header != header) {
      flush();
      header = function.header;
      text += "\n## " + header + "\n\n| subject | state | functions |\n| --- | --- | --- |\n";
    }
    const std::string row = "| " + function.subject + " | " + words[function.state] + " |";
    auto found = std::ranges::find(rows, row, &std::pair<std::string, std::string>::first);
    if (found == rows.end()) found = rows.insert(rows.end(), {row, ""});
    found->second += " `" + function.name + "`";
  }
  flush();
  return text;
}

// ---- Calls ----

// Names the parameters that the test treats in their own ways: d for a database, h for another
// handle, e for the place of the error.
std::string ShapeOf(const std::vector<std::string>& parameters) {
  std::string shape;
  for (size_t i = 0; i < parameters.size(); ++i) {
    std::string type = parameters[i];
    if (type.starts_with("const ")) type.erase(0, 6);
    const bool handle =
        type.starts_with("rocksdb_") && type.ends_with("_t*") && type != "rocksdb_slice_t*";
    if (parameters[i] == "rocksdb_t*") {
      shape += 'd';
    } else if (handle) {
      shape += 'h';
    } else {
      shape += parameters[i] == "char**" && i + 1 == parameters.size() ? 'e' : '.';
    }
  }
  return shape;
}

std::string Calls(const std::vector<Function>& functions) {
  std::string text;
  for (const Function& function : functions) {
    text += "{\"" + function.state + "\", \"" + function.name + "\", \"" +
            ShapeOf(function.parameters) + "\", [](Call* call) {\n";
    std::string arguments;
    for (size_t i = 0; i < function.parameters.size(); ++i) {
      const std::string argument = "a" + std::to_string(i);
      text += "const auto " + argument + " = call->Get<" + function.parameters[i] + ">(" +
              std::to_string(i) + ");\n";
      arguments += (i == 0 ? "" : ", ") + argument;
    }
    const std::string called = function.name + "(" + arguments + ")";
    text += (function.returns == "void " ? called : "call->Take(" + called + ")") + ";\n}},\n";
  }
  return text;
}

bool Store(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return static_cast<bool>(file.flush());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 2 ? argv[1] : "";
  const bool calls = command == "calls" && argc == 4;
  if (!calls && (argc != 3 || (command != "write" && command != "check"))) return 2;
  const fs::path folder = fs::path(argv[2]) / "include/varve/c";
  std::vector<std::pair<fs::path, std::string>> files;
  std::vector<Function> functions;
  size_t rows = 0;
  for (const std::string& name : HeadersOf(folder)) {
    const std::string text = WithRows(name, ReadFile(folder / name));
    for (size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at + 1)) {
      rows++;
    }
    AddFunctions(name, text, &functions);
    files.emplace_back(folder / name, text);
  }
  if (rows != Blocks().size()) {
    std::fprintf(stderr, "varve_c_api_writer: %zu blocks of rows, but %zu places for them\n",
                 Blocks().size(), rows);
    return 1;
  }
  if (calls) return Store(argv[3], Calls(functions)) ? 0 : 1;
  files.emplace_back(folder / "README.md", Readme(ReadFile(folder / "README.md"), functions));
  bool same = true;
  for (const auto& [path, text] : files) {
    if (ReadFile(path) == text) continue;
    same = false;
    std::fprintf(stderr, "varve_c_api_writer: %s differs from the list\n", path.c_str());
    if (command == "write" && !Store(path, text)) return 1;
  }
  return same || command == "write" ? 0 : 1;
}
