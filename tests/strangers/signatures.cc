// SPDX-License-Identifier: Apache-2.0
#include "tests/strangers/signatures.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>

namespace varve::testing {

namespace {

std::string WithoutComments(const std::string& text) {
  std::string plain;
  for (size_t at = 0; at < text.size();) {
    const std::string two = text.substr(at, 2);
    if (two != "//" && two != "/*") {
      plain += text[at++];
      continue;
    }
    const size_t end = two == "//" ? text.find('\n', at) : text.find("*/", at) + 2;
    at = std::min(end, text.size());
  }
  return plain;
}

// Returns the position behind the bracket that closes the one opened before `at`.
size_t BehindClosing(const std::string& text, size_t at, char open, char close) {
  for (int depth = 1; depth > 0 && at < text.size(); at++) {
    depth += text[at] == open ? 1 : text[at] == close ? -1 : 0;
  }
  return at;
}

// Splits at commas outside of brackets.
std::vector<std::string> Parameters(const std::string& list) {
  std::vector<std::string> parameters(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parameters.emplace_back();
    } else {
      parameters.back() += c;
    }
  }
  return parameters;
}

std::string TypeOf(const std::string& parameter) {
  std::string type = parameter.substr(0, parameter.find('='));
  type = std::regex_replace(type, std::regex("\\bconst\\b|&"), " ");
  type = std::regex_replace(type, std::regex("\\s+"), " ");
  type = std::regex_replace(type, std::regex("^ | $"), "");
  return std::regex_replace(type, std::regex("^(.*[>*\\w]) ?\\b[a-z]\\w*$"), "$1");
}

}  // namespace

std::vector<std::string> SignaturesOf(const std::string& header, const std::string& name) {
  std::ifstream file(header);
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::string text = WithoutComments(all);
  if (!name.empty()) {
    std::smatch found;
    const std::regex begin("class (VARVE_EXPORT )?" + name + "\\b[^;{]*\\{");
    if (!std::regex_search(text, found, begin)) return {};
    text = found.suffix();
    text.resize(BehindClosing(text, 0, '{', '}'));
  }
  const bool is_interface = text.find("virtual ") != std::string::npos;
  std::vector<std::string> signatures;
  const std::regex call("\\b([A-Z]\\w+)\\(");
  for (std::sregex_iterator it(text.begin(), text.end(), call), end; it != end; ++it) {
    const auto at = static_cast<size_t>(it->position());
    const size_t before = text.find_last_of(";{}", at);
    const std::string head = text.substr(before + 1, at - before - 1);
    if (head.find_first_of("=(") != std::string::npos) continue;
    if (head.find("return") != std::string::npos) continue;
    const bool is_own =
        head.find("virtual") != std::string::npos || head.find("static") != std::string::npos;
    if (is_interface && !is_own) continue;
    const size_t list = at + static_cast<size_t>(it->length());
    const size_t close = BehindClosing(text, list, '(', ')');
    std::string signature = name + "::" + it->str(1) + "(";
    const std::vector<std::string> parameters = Parameters(text.substr(list, close - 1 - list));
    for (size_t i = 0; i < parameters.size(); i++) {
      signature += (i == 0 ? "" : ", ") + TypeOf(parameters[i]);
    }
    signatures.push_back(signature + ")");
  }
  return signatures;
}

bool TakesObject(const std::string& signature) {
  static const std::regex kObject(
      "ColumnFamilyHandle\\*|Snapshot\\*|Iterator\\*|Transaction\\*|WriteBatch\\*|[( "
      "]ReadOptions|AttributeGroups");
  return std::regex_search(signature, kObject);
}

}  // namespace varve::testing
