// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds what committed transactions did with lists that only grow, and searches for what no order
// of them explains. Every element is appended once, so the final lists show the order of writers,
// and a reading shows what was written before it and what after. A cycle of such dependencies is an
// anomaly; its kind depends on how often a transaction overwrites what another has read (an
// antidependency).

#include <cstdint>
#include <string>
#include <vector>

namespace varve::testing {

using ListElements = std::vector<uint32_t>;

// Holds one committed transaction.
struct ListTransaction {
  struct Reading {
    uint32_t list;
    ListElements elements;  // before its own appends
  };
  struct Append {
    uint32_t list;
    uint32_t element;
  };

  // Clock values of the process: the transaction began after the first and was acknowledged before
  // the second.
  uint64_t begun = 0;
  uint64_t ended = 0;
  std::vector<Reading> readings;
  std::vector<Append> appends;  // in the order of the calls
};

struct ListAnomalies {
  // First violation of snapshot isolation: elements that are lost, unknown, out of order or of a
  // transaction that had not ended yet, and cycles without two antidependencies in a row (G0, G1,
  // G-single, a lost update, a long fork), real time included. Empty if there is none.
  std::string forbidden;
  // Number of sets of transactions that only snapshot isolation allows, such as write skew.
  uint64_t not_serializable = 0;
  // Text of the first of those sets.
  std::string example;
};

// `lists` holds the final content of each list.
ListAnomalies FindAnomalies(const std::vector<ListTransaction>& transactions,
                            const std::vector<ListElements>& lists);

}  // namespace varve::testing
