// SPDX-License-Identifier: Apache-2.0
/// @file packed_rows.hpp
/// A matrix packed as padded rows, for kernels that are called without a candidate.
#pragma once

#include <cstdint>
#include <sporos/sporos.hpp>
#include <tuple>

namespace sporos::test {

/// The padded rows of a matrix, in memory that held no zeros.
template <class Value>
class PackedRows {
 public:
  /// @param counts  the steps of the rows of `view`, a CsrView
  template <class View>
  PackedRows(const Kokkos::Cuda& space, const View& view, const gpu::RowSteps& counts) {
    const auto lay_out = [&](char* at) {
      gpu::Layout layout(at);
      const auto rows = gpu::PaddedRows<Value>::lay_out(layout, view.rows, counts.steps);
      const auto packing = gpu::StepPacking::lay_out(space, layout, view.rows);
      return std::tuple(rows, packing, layout.bytes());
    };
    memory_ = make_array<char, gpu::Memory>("padded rows", std::get<2>(lay_out(nullptr)));
    Kokkos::deep_copy(memory_, char(0xff));
    const auto [rows, packing, bytes] = lay_out(memory_.data());
    gpu::pad_rows_of_matrix(space, view, rows, packing, counts.most);
    rows_ = rows;
  }
  const gpu::PaddedRows<Value>& rows() const { return rows_; }

 private:
  Array<char, gpu::Memory> memory_;
  gpu::PaddedRows<Value> rows_;
};

}  // namespace sporos::test
