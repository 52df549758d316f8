// SPDX-License-Identifier: Apache-2.0
/// @file scipy_files.hpp
/// The files that SciPy and NumPy wrote (scipy/write.py), and what they hold.
#pragma once

#include <filesystem>
#include <map>
#include <sporos/core/entries.hpp>
#include <string>

namespace sporos_test {

inline std::string scipy_file(const std::string& name) {
  return (std::filesystem::absolute(__FILE__).parent_path() / "scipy" / name).string();
}

/// The matrix, each value `times` as large.
inline sporos::Entries<double, 2> scipy_matrix(double times) {
  return {{4, 6}, {{{0, 1}, 1.5 * times}, {{1, 0}, -2 * times}, {{2, 5}, 3 * times}, {{3, 4}, 4 * times}}};
}

/// Whether two lists hold the same entries, each coordinate once, in any order.
inline bool same_matrix(const sporos::Entries<double, 2>& a, const sporos::Entries<double, 2>& b) {
  const auto sorted = [](const sporos::Entries<double, 2>& entries) {
    std::map<sporos::Extents<2>, double> places;
    for (std::int64_t q = 0; q < entries.size(); ++q)
      places[entries.coordinate(q)] += entries.values(static_cast<std::size_t>(q));
    return places;
  };
  return a.extents == b.extents && a.size() == b.size() && sorted(a) == sorted(b);
}

}  // namespace sporos_test
