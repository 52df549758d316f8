// SPDX-License-Identifier: Apache-2.0
/// @file matrices.hpp
/// Matrices for the host benchmarks: generated, or read from files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <sporos/formats/io/read.hpp>
#include <sporos/formats/named.hpp>
#include <sporos/formats/wrap.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "laplacian.hpp"

namespace sporos::perf {

/// The columns of each row of a matrix, ascending.
class Rows {
 public:
  Rows(std::int64_t rows, std::int64_t columns) : extents_{rows, columns}, positions_{0} {}
  void put(std::int64_t column) { coordinates_.push_back(column); }
  void end_row() { positions_.push_back(static_cast<std::int64_t>(coordinates_.size())); }

  std::int64_t rows() const { return extents_[0]; }
  std::int64_t columns() const { return extents_[1]; }
  std::int64_t nnz() const { return static_cast<std::int64_t>(coordinates_.size()); }

  /// The matrix with random values from 0.5 to 1.5, with indices of the given widths.
  template <class Value = double, class Position = std::int64_t, class Coordinate = std::int32_t>
  Tensor<Value, CSR<Position, Coordinate>> matrix(unsigned seed = 3) const {
    std::mt19937 draw(seed);
    const auto part = [&] { return 0.5 + static_cast<double>(draw()) / 4294967296.0; };
    std::vector<Position> positions(positions_.begin(), positions_.end());
    std::vector<Coordinate> coordinates(coordinates_.begin(), coordinates_.end());
    std::vector<Value> values(coordinates_.size());
    for (auto& value : values) {
      if constexpr (is_complex_v<Value>)
        value = Value(static_cast<typename Value::value_type>(part()),
                      static_cast<typename Value::value_type>(part()));
      else
        value = static_cast<Value>(part());
    }
    return wrap<CSR<Position, Coordinate>, Host>(trusted, extents_, nnz(), positions.data(),
                                                 coordinates.data(), values.data())
        .clone();
  }

  /// Moves each column to the place that `to` gives; no two columns may get the same place.
  template <class To>
  Rows with_columns(const To& to) const {
    Rows out = *this;
    for (auto& column : out.coordinates_) column = to(column);
    for (std::int64_t row = 0; row < extents_[0]; ++row)
      std::sort(out.coordinates_.begin() + positions_[static_cast<std::size_t>(row)],
                out.coordinates_.begin() + positions_[static_cast<std::size_t>(row + 1)]);
    return out;
  }

  Rows transposed() const {
    Rows out(extents_[1], extents_[0]);
    out.positions_.assign(static_cast<std::size_t>(extents_[1] + 1), 0);
    for (const std::int64_t column : coordinates_) ++out.positions_[static_cast<std::size_t>(column + 1)];
    for (std::size_t row = 1; row < out.positions_.size(); ++row)
      out.positions_[row] += out.positions_[row - 1];
    auto next = out.positions_;
    out.coordinates_.resize(coordinates_.size());
    for (std::int64_t row = 0; row < extents_[0]; ++row)
      for (std::int64_t q = positions_[static_cast<std::size_t>(row)];
           q < positions_[static_cast<std::size_t>(row + 1)]; ++q)
        out.coordinates_[static_cast<std::size_t>(
            next[static_cast<std::size_t>(coordinates_[static_cast<std::size_t>(q)])]++)] = row;
    return out;
  }

 private:
  Extents<2> extents_;
  std::vector<std::int64_t> positions_, coordinates_;
};

/// The Laplacian of a grid of n^3 points: 27 points with `corners`, else 7.
inline Rows laplacian(std::int64_t n, bool corners) { return laplacian_as<Rows>(n, corners); }

/// Interpolation to a grid of n^3 points from every second of them: a point of the coarse grid contributes to
/// itself and, in part, to its neighbours.
inline Rows interpolation(std::int64_t n) {
  const std::int64_t half = (n + 1) / 2;
  Rows out(n * n * n, half * half * half);
  // A fine coordinate coincides with a coarse one or lies between two.
  const auto coarse = [&](std::int64_t fine) {
    return std::pair(fine / 2, std::min((fine + 1) / 2, half - 1));
  };
  for (std::int64_t z = 0; z < n; ++z)
    for (std::int64_t y = 0; y < n; ++y)
      for (std::int64_t x = 0; x < n; ++x) {
        for (std::int64_t c = coarse(z).first; c <= coarse(z).second; ++c)
          for (std::int64_t b = coarse(y).first; b <= coarse(y).second; ++b)
            for (std::int64_t a = coarse(x).first; a <= coarse(x).second; ++a)
              out.put((c * half + b) * half + a);
        out.end_row();
      }
  return out;
}

/// Rows of distinct, ascending columns from a generator of pairs (row, column).
template <class Draw>
Rows from_pairs(std::int64_t rows, std::int64_t columns, std::int64_t count, const Draw& draw) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs(static_cast<std::size_t>(count));
  for (auto& pair : pairs) pair = draw();
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  Rows out(rows, columns);
  std::size_t at = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (; at < pairs.size() && pairs[at].first == row; ++at) out.put(pairs[at].second);
    out.end_row();
  }
  return out;
}

/// A graph of 2^scale vertices whose edges are concentrated in a corner (a = 0.57, b = c = 0.19, d = 0.05).
inline Rows rmat(int scale, std::int64_t count) {
  std::mt19937_64 random(11);
  const std::int64_t n = std::int64_t{1} << scale;
  return from_pairs(n, n, count, [&] {
    std::int64_t row = 0, column = 0;
    for (int bit = 0; bit < scale; ++bit) {
      const double x = static_cast<double>(random() >> 11) * 0x1p-53;
      row = 2 * row + (x >= 0.76 ? 1 : 0);
      column = 2 * column + ((x >= 0.57 && x < 0.76) || x >= 0.95 ? 1 : 0);
    }
    return std::pair(row, column);
  });
}

inline Rows uniform(std::int64_t rows, std::int64_t columns, std::int64_t count) {
  std::mt19937_64 random(12);
  return from_pairs(rows, columns, count, [&] {
    const auto row = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows));
    return std::pair(row, static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(columns)));
  });
}

/// A dense tensor of random values from 0.5 to 1.5.
template <class F, class Value = double>
Tensor<Value, F> dense(const Extents<F::order>& extents, unsigned seed) {
  Tensor<Value, F> out(extents);
  std::mt19937 draw(seed);
  for (std::size_t at = 0; at < out.values().extent(0); ++at)
    out.values()(at) = static_cast<Value>(0.5 + static_cast<double>(draw()) / 4294967296.0);
  return out;
}

/// The pattern of a file, including explicit zeros and duplicates as they are read; the values are drawn at
/// random, so that none is zero.
inline Rows pattern_of(const std::string& file) {
  const auto read_matrix = read<CSR<>>(file);
  const auto& columns = read_matrix.level<1>();
  Rows out(read_matrix.extent(0), read_matrix.extent(1));
  for (std::int64_t row = 0; row < out.rows(); ++row) {
    for (auto q = columns.positions(static_cast<std::size_t>(row));
         q < columns.positions(static_cast<std::size_t>(row + 1)); ++q)
      out.put(columns.coordinates(static_cast<std::size_t>(q)));
    out.end_row();
  }
  return out;
}

/// The name of a file's matrix: the file name without folder and endings.
inline std::string matrix_name(const std::string& file) {
  const std::string name = file_name(file);
  return name.substr(0, name.find('.'));
}

}  // namespace sporos::perf
