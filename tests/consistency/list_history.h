// SPDX-License-Identifier: Apache-2.0
#pragma once

// What committed transactions did with lists that only grow, and the search for what no order of
// them explains. Every element is appended once, so the final lists tell who wrote after whom, and
// a reading tells what was written before it and what after. A cycle of such dependencies is an
// anomaly; which one depends on how often a transaction overwrites what another has read (an
// antidependency).

#include <cstdint>
#include <string>
#include <vector>

namespace varve::testing {

using ListElements = std::vector<uint32_t>;

// One committed transaction.
struct ListTransaction {
  struct Reading {
    uint32_t list;
    ListElements elements;  // before its own appends
  };
  struct Append {
    uint32_t list;
    uint32_t element;
  };

  // Moments of a clock of the process: it was begun after the first, and acknowledged before the
  // second.
  uint64_t begun = 0;
  uint64_t ended = 0;
  std::vector<Reading> readings;
  std::vector<Append> appends;  // in the order of the calls
};

struct ListAnomalies {
  // What snapshot isolation forbids, the first that was found: elements that are lost, unknown, out
  // of order or of a transaction that had not ended yet, and cycles without two antidependencies in
  // a row (G0, G1, G-single, a lost update, a long fork), real time included. Empty: none.
  std::string forbidden;
  // Sets of transactions that only snapshot isolation allows, such as write skew.
  uint64_t not_serializable = 0;
  // The first of those.
  std::string example;
};

// `lists`: what each list held in the end.
ListAnomalies FindAnomalies(const std::vector<ListTransaction>& transactions,
                            const std::vector<ListElements>& lists);

}  // namespace varve::testing
