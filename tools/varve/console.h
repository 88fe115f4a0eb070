// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds what every command talks through: the standard output, and notes and errors on the standard
// error.

#include <cstdint>
#include <string>
#include <string_view>

#include "varve/status.h"

#include "tools/varve/exit_status.h"
#include "tools/varve/json.h"
#include "tools/varve/output.h"

namespace varve::tool {

class Console {
 public:
  Console() : out(1) {}

  // Writes one line of JSON.
  void Line(Json* line) {
    out.Append(line->Take());
    out.Append('\n');
  }
  void Line(std::string_view text) {
    out.Append(text);
    out.Append('\n');
  }
  // Writes to the standard error, cut into lines at the width of the terminal.
  static void Note(const std::string& text);

  Output out;
  bool json = false;   // The output is to be JSON.
  bool found = false;  // Set by commands: the exit status is to be kFound.
};

// Says which exit status stands for an error.
ExitStatus StatusOf(const Status& status);

// Returns a sentence about what may be done about the error; empty: nothing general.
std::string AdviceFor(const Status& status);

// Breaks the text at spaces so that no line is longer than `width`, unless one word is.
std::string WrapWords(const std::string& text, size_t width);

}  // namespace varve::tool
