// SPDX-License-Identifier: Apache-2.0
#pragma once

// RocksDB's Java glue derives its statistics from StatisticsImpl, to exclude some histograms.

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "varve/statistics.h"

namespace varve {

// Passes every call on to the statistics it was made with, or to new ones if that is null.
class StatisticsImpl : public Statistics {
 public:
  explicit StatisticsImpl(std::shared_ptr<Statistics> inner)
      : inner_(inner != nullptr ? std::move(inner) : CreateDBStatistics()) {}

  const char* Name() const override { return inner_->Name(); }
  uint64_t getTickerCount(uint32_t ticker) const override { return inner_->getTickerCount(ticker); }
  void recordTick(uint32_t ticker, uint64_t count) override { inner_->recordTick(ticker, count); }
  void setTickerCount(uint32_t ticker, uint64_t count) override {
    inner_->setTickerCount(ticker, count);
  }
  uint64_t getAndResetTickerCount(uint32_t ticker) override {
    return inner_->getAndResetTickerCount(ticker);
  }
  void histogramData(uint32_t type, HistogramData* const data) const override {
    inner_->histogramData(type, data);
  }
  std::string getHistogramString(uint32_t type) const override {
    return inner_->getHistogramString(type);
  }
  void recordInHistogram(uint32_t type, uint64_t value) override {
    if (HistEnabledForType(type)) inner_->recordInHistogram(type, value);
  }
  Status Reset() override { return inner_->Reset(); }
  std::string ToString() const override { return inner_->ToString(); }
  bool getTickerMap(std::map<std::string, uint64_t>* map) const override {
    return inner_->getTickerMap(map);
  }

 private:
  const std::shared_ptr<Statistics> inner_;
};

}  // namespace varve
