// SPDX-License-Identifier: Apache-2.0
/// @file npz_write.hpp
/// Writes sparse matrices that SciPy's load_npz can read.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/entries.hpp"
#include "memory_errors.hpp"
#include "npy_header.hpp"
#include "zip_write.hpp"

namespace sporos {

/// The SciPy formats in which entries can be written.
enum class NpzFormat { csr, csc, coo, bsr };

/// How entries are written as a .npz file.
struct NpzWriteOptions {
  NpzFormat format = NpzFormat::csr;           ///< for a matrix; tensors of other orders are written as coo
  std::array<std::int64_t, 2> block = {2, 2};  ///< size of bsr's blocks; must divide the matrix
  int level = 6;                               ///< 0: not compressed; 1 (fast) to 9 (small)
  int threads = 0;                             ///< for compressing; 0: as many as the default host space has
};

namespace io {

template <class Value>
std::string_view bytes_of(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

/// Writes the arrays of one matrix or tensor.
template <class Value, int Order>
class NpzWriter {
 public:
  NpzWriter(const std::string& path, const Entries<Value, Order>& entries, const NpzWriteOptions& options)
      : path_(path),
        entries_(entries),
        options_(options),
        type_(npy_type<Value>()),
        zip_(path, options.level, options.threads) {
    const std::int64_t largest =
        std::max(entries.size(), *std::max_element(entries.extents.begin(), entries.extents.end()));
    narrow_ = largest <= std::numeric_limits<std::int32_t>::max();
  }

  void write() {
    std::string_view name = "coo";
    if constexpr (Order == 2) {
      if (options_.format == NpzFormat::coo)
        put_places();
      else if (options_.format == NpzFormat::bsr)
        put_blocks();
      else
        put_compressed(options_.format == NpzFormat::csr ? 0 : 1);
      name = options_.format == NpzFormat::csr   ? "csr"
             : options_.format == NpzFormat::csc ? "csc"
             : options_.format == NpzFormat::bsr ? "bsr"
                                                 : "coo";
    } else {
      put_coords();
    }
    zip_.add("format.npy", npy_head("|S3", {}), name);
    const std::vector<std::int64_t> shape(entries_.extents.begin(), entries_.extents.end());
    zip_.add("shape.npy", npy_head(npy_type<std::int64_t>(), {Order}), bytes_of(shape));
    zip_.commit();
  }

 private:
  void put_integers(const std::string& name, const std::vector<std::int64_t>& integers,
                    const std::vector<std::int64_t>& shape) {
    if (!narrow_) return zip_.add(name, npy_head(npy_type<std::int64_t>(), shape), bytes_of(integers));
    const std::vector<std::int32_t> narrow(integers.begin(), integers.end());
    zip_.add(name, npy_head(npy_type<std::int32_t>(), shape), bytes_of(narrow));
  }
  void put_integers(const std::string& name, const std::vector<std::int64_t>& integers) {
    put_integers(name, integers, {std::ssize(integers)});
  }

  void put_values(const Value* values, const std::vector<std::int64_t>& shape) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    zip_.add("data.npy", npy_head(type_, shape),
             {reinterpret_cast<const char*>(values), count * sizeof(Value)});
  }

  std::vector<std::int64_t> coordinates(std::size_t mode) const {
    const std::int64_t* const first = entries_.coordinates[mode].data();
    return {first, first + entries_.size()};
  }

  void put_places() {
    put_integers("row.npy", coordinates(0));
    put_integers("col.npy", coordinates(1));
    put_values(entries_.values.data(), {entries_.size()});
  }

  /// Tensors that are not matrices are SciPy's sparse arrays, whose coordinates are one array.
  void put_coords() {
    std::vector<std::int64_t> all;
    for (std::size_t mode = 0; mode < entries_.coordinates.size(); ++mode) {
      const auto part = coordinates(mode);
      all.insert(all.end(), part.begin(), part.end());
    }
    put_integers("coords.npy", all, {Order, entries_.size()});
    zip_.add("_is_array.npy", npy_head("|b1", {}), std::string_view("\1", 1));
    put_values(entries_.values.data(), {entries_.size()});
  }

  /// Finds where each row begins, if entry q is in row key(q), and the entries in the order of their rows;
  /// those of one row keep their order.
  template <class Key>
  std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> by_rows(std::int64_t rows,
                                                                          std::int64_t count,
                                                                          const Key& key) const {
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(rows) + 1);
    for (std::int64_t q = 0; q < count; ++q) ++offsets[static_cast<std::size_t>(key(q)) + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<std::int64_t> next = offsets, order(static_cast<std::size_t>(count));
    for (std::int64_t q = 0; q < count; ++q)
      order[static_cast<std::size_t>(next[static_cast<std::size_t>(key(q))]++)] = q;
    return {std::move(offsets), std::move(order)};
  }

  /// Writes CSR, whose rows are mode 0, or CSC, whose "rows" are mode 1.
  void put_compressed(std::size_t mode) {
    const std::int64_t* const rows = entries_.coordinates[mode].data();
    const std::int64_t* const columns = entries_.coordinates[1 - mode].data();
    const auto [offsets, order] =
        by_rows(entries_.extents[mode], entries_.size(), [&](std::int64_t q) { return rows[q]; });
    std::vector<std::int64_t> indices(order.size());
    HostArray<Value> values = make_array<Value>("sporos::npz", entries_.size());
    for (std::size_t at = 0; at < order.size(); ++at) {
      indices[at] = columns[order[at]];
      values(at) = entries_.values(static_cast<std::size_t>(order[at]));
    }
    put_integers("indices.npy", indices);
    put_integers("indptr.npy", offsets);
    put_values(values.data(), {entries_.size()});
  }

  void put_blocks() {
    const auto [high, wide] = options_.block;
    if (high < 1 || wide < 1 || entries_.extents[0] % high != 0 || entries_.extents[1] % wide != 0)
      throw FormatError(text(path_, ": blocks of ", high, " x ", wide, " do not divide a matrix of ",
                             to_string(entries_.extents),
                             ": choose NpzWriteOptions::block or another format"));
    const std::int64_t* const i = entries_.coordinates[0].data();
    const std::int64_t* const j = entries_.coordinates[1].data();
    const auto [offsets, order] = by_rows(entries_.extents[0] / high, entries_.size(),
                                          [&, height = high](std::int64_t q) { return i[q] / height; });
    std::vector<std::int64_t> begins = {0}, columns;
    std::vector<std::int64_t> block_of(order.size());  // block of each entry, in that order
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
      const auto first = static_cast<std::ptrdiff_t>(columns.size());
      for (std::int64_t at = offsets[row]; at < offsets[row + 1]; ++at)
        columns.push_back(j[order[static_cast<std::size_t>(at)]] / wide);
      std::sort(columns.begin() + first, columns.end());
      columns.erase(std::unique(columns.begin() + first, columns.end()), columns.end());
      for (std::int64_t at = offsets[row]; at < offsets[row + 1]; ++at)
        block_of[static_cast<std::size_t>(at)] =
            std::lower_bound(columns.begin() + first, columns.end(),
                             j[order[static_cast<std::size_t>(at)]] / wide) -
            columns.begin();
      begins.push_back(std::ssize(columns));
    }
    HostArray<Value> values = make_array<Value>("sporos::npz", std::ssize(columns) * high * wide);
    Kokkos::deep_copy(values, Value(0));
    for (std::size_t at = 0; at < order.size(); ++at) {
      const std::int64_t q = order[at];
      Value& value =
          values(static_cast<std::size_t>((block_of[at] * high + i[q] % high) * wide + j[q] % wide));
      if (value != Value(0))
        throw FormatError(
            text(path_, ": entry (", i[q], ", ", j[q],
                 ") occurs twice, but a block has one value there: assemble the entries first"));
      value = entries_.values(static_cast<std::size_t>(q));
    }
    put_integers("indices.npy", columns);
    put_integers("indptr.npy", begins);
    put_values(values.data(), {std::ssize(columns), high, wide});
  }

  const std::string& path_;
  const Entries<Value, Order>& entries_;
  const NpzWriteOptions& options_;
  std::string type_;
  bool narrow_ = false;
  ZipWriter zip_;
};

}  // namespace io

/// Writes `entries` as a .npz file that scipy.sparse.load_npz can read: a matrix as csr, unless the options
/// say otherwise, and a tensor of another order as coo. Entries of one row keep their order. Indices have 32
/// bits if that suffices. The file appears when it is complete. Cost: linear; compressed in parallel.
///
/// @throws FormatError if blocks do not divide the matrix, if a coordinate occurs twice in a block, or if
/// NumPy has no such type of values; MemoryError; IoError if the file cannot be written
template <TensorValue Value, int Order>
  requires(Order >= 1)
void write_npz(const std::string& path, const Entries<Value, Order>& entries,
               const NpzWriteOptions& options = {}) {
  io::writing(path, entries, [&] { io::NpzWriter<Value, Order>(path, entries, options).write(); });
}

}  // namespace sporos
