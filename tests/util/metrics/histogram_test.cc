// SPDX-License-Identifier: Apache-2.0
// Goal: a Histogram puts every value where its documentation says, and its report keeps the exact
// layout that scripts parse. Method: bucket edges by table, moments and percentiles against numbers
// computed by hand, and one report compared byte by byte.

#include "util/metrics/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace varve {
namespace {

TEST(HistogramBuckets, LimitsGrowByHalfAndKeepTwoDigits) {
  const std::vector<uint64_t> expected = {1,  2,  3,   4,   6,   10,  15,  22,  34,
                                          51, 76, 110, 170, 250, 380, 580, 870, 1300};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(kHistogramLimits[i], expected[i]) << i;
  EXPECT_TRUE(std::ranges::is_sorted(kHistogramLimits));
}

TEST(HistogramBuckets, EveryLimitIsTheLastValueOfItsBucket) {
  EXPECT_EQ(HistogramBucketOf(0), 0U);
  for (size_t i = 0; i < kHistogramBuckets; ++i) {
    EXPECT_EQ(HistogramBucketOf(kHistogramLimits[i]), i);
    EXPECT_EQ(HistogramBucketOf(kHistogramLimits[i] + 1), std::min(i + 1, kHistogramBuckets - 1));
  }
  EXPECT_EQ(HistogramBucketOf(UINT64_MAX), kHistogramBuckets - 1);
}

TEST(Histogram, EmptyOneReportsZeros) {
  Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.min(), 0U);
  EXPECT_EQ(histogram.max(), 0U);
  EXPECT_EQ(histogram.Median(), 0.0);
  EXPECT_EQ(histogram.Average(), 0.0);
  EXPECT_EQ(histogram.StandardDeviation(), 0.0);
}

TEST(Histogram, MomentsAreExact) {
  Histogram histogram;
  for (const uint64_t value : {2, 4, 4, 4, 5, 5, 7, 9}) histogram.Add(value);
  EXPECT_EQ(histogram.count(), 8U);
  EXPECT_EQ(histogram.sum(), 40U);
  EXPECT_EQ(histogram.min(), 2U);
  EXPECT_EQ(histogram.max(), 9U);
  EXPECT_DOUBLE_EQ(histogram.Average(), 5.0);
  EXPECT_DOUBLE_EQ(histogram.StandardDeviation(), 2.0);
}

TEST(Histogram, DeviationSurvivesValuesWhoseSquaresLeave64Bits) {
  Histogram histogram;
  histogram.Add(10'000'000'000);
  histogram.Add(30'000'000'000);
  EXPECT_DOUBLE_EQ(histogram.StandardDeviation(), 1e10);
}

TEST(Histogram, PercentilesInterpolateInsideABucketAndStayWithinTheValues) {
  Histogram histogram;
  for (int i = 0; i < 100; ++i) histogram.Add(100);  // bucket (76, 110]
  EXPECT_DOUBLE_EQ(histogram.Percentile(0.0), 100.0);
  EXPECT_DOUBLE_EQ(histogram.Percentile(100.0), 100.0);
  histogram.Add(1);
  histogram.Add(110);
  EXPECT_DOUBLE_EQ(histogram.Median(), 76.0 + 34.0 * 50.0 / 101.0);
}

TEST(Histogram, ReportKeepsItsLayout) {
  Histogram histogram;
  for (uint64_t value = 1; value < 1000; value += 7) histogram.Add(value);
  EXPECT_EQ(histogram.ToString(),
            "Count: 143 Average: 498.0000  StdDev: 288.96\n"
            "Min: 1  Median: 497.8571  Max: 995\n"
            "Percentiles: P50: 497.86 P75: 747.44 P99: 995.00 P99.9: 995.00 P99.99: 995.00\n"
            "------------------------------------------------------\n"
            "[       0,       1 ]        1   0.699%   0.699% \n"
            "(       6,      10 ]        1   0.699%   1.399% \n"
            "(      10,      15 ]        1   0.699%   2.098% \n"
            "(      15,      22 ]        1   0.699%   2.797% \n"
            "(      22,      34 ]        1   0.699%   3.497% \n"
            "(      34,      51 ]        3   2.098%   5.594% \n"
            "(      51,      76 ]        3   2.098%   7.692% \n"
            "(      76,     110 ]        5   3.497%  11.189% #\n"
            "(     110,     170 ]        9   6.294%  17.483% #\n"
            "(     170,     250 ]       11   7.692%  25.175% ##\n"
            "(     250,     380 ]       19  13.287%  38.462% ###\n"
            "(     380,     580 ]       28  19.580%  58.042% ####\n"
            "(     580,     870 ]       42  29.371%  87.413% ######\n"
            "(     870,    1300 ]       18  12.587% 100.000% ###\n");
}

TEST(Histogram, MergedPartsReportAsTheWhole) {
  Histogram whole;
  Histogram low;
  Histogram high;
  for (uint64_t value = 1; value < 5000; value += 3) {
    whole.Add(value);
    (value < 1000 ? low : high).Add(value);
  }
  low.Merge(high);
  low.Merge(Histogram());
  EXPECT_EQ(low.ToString(), whole.ToString());
  low.Clear();
  EXPECT_EQ(low.ToString(), Histogram().ToString());
}

TEST(Histogram, ReadersBesideTheWriterSeeItGrow) {
  Histogram histogram;
  std::thread writer([&histogram] {
    for (int i = 0; i < 20000; ++i) histogram.Add(static_cast<uint64_t>(i % 4) + 1);
  });
  uint64_t seen = 0;
  while (seen < 20000) {
    const uint64_t count = histogram.count();
    EXPECT_GE(count, seen);
    seen = count;
  }
  writer.join();
  EXPECT_EQ(histogram.count(), 20000U);
  EXPECT_EQ(histogram.sum(), 50000U);
  EXPECT_EQ(histogram.min(), 1U);
  EXPECT_EQ(histogram.max(), 4U);
  EXPECT_NEAR(histogram.StandardDeviation(), 1.11803, 1e-4);
}

}  // namespace
}  // namespace varve
