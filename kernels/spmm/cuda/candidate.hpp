// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of a sparse and a dense matrix on the GPU, as a candidate for statements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../cuda/matrix_by_rows.hpp"
#include "../../cuda/operands.hpp"
#include "../../cuda/transpose.hpp"
#include "../../nest/bounds.hpp"
#include "../../statement/candidate.hpp"
#include "../../statement/dense_target.hpp"
#include "../pattern.hpp"
#include "rows.hpp"

namespace sporos::gpu {

/// C(i, j) = A(i, k) * B(k, j), A in CSR or CSC, B and C dense, or an epilogue of such a product
/// (kernels/epilogue/epilogue.hpp), on CUDA cores: rows.hpp. A is copied first if it is not stored along i,
/// and B if it is not stored by rows.
///
/// Returns before the GPU is through: what follows on the default stream of Kokkos runs behind it, and copies
/// to the host wait for it, as do Kokkos::fence() and the end of an array's life.
struct SpmmByGroups {
  using Pattern = SpmmOfSumsPattern<GpuMatrixOperands>;
  static constexpr std::string_view name = "SpMM by groups of lanes";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j), A in CSR or CSC, B and C dense, C row-major, in the memory of the GPU";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;

  template <class S>
  static constexpr bool matches = Pattern::matches<S>;

  /// By the bytes of B that are read from the caches.
  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>&) {
    const auto& b = Pattern::dense(statement).tensor();
    const double bytes = static_cast<double>(Pattern::sparse(statement).tensor().nnz()) *
                         static_cast<double>(statement.result().tensor().extent(1)) *
                         sizeof(typename std::remove_cvref_t<decltype(b)>::value_type);
    return Cost{4e-6 + bytes / 11e12};
  }

  template <class S>
  class Plan;
};

template <class S>
class SpmmByGroups::Plan {
  using Sparse = std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>;
  using DenseAccess = std::remove_cvref_t<decltype(Pattern::dense(std::declval<const S&>()))>;
  using B = typename DenseAccess::value_type;
  using Out = typename S::result_type::value_type;
  using Compute = detail::compute_of<S>;
  /// Whether A is indexed A(k, i).
  static constexpr bool is_transposed = Sparse::names[1] == S::result_type::names[0];
  static constexpr bool turn_b = DenseAccess::level_names[1] != S::result_type::names[1];
  using Rows = MatrixByRows<typename Sparse::tensor_type, is_transposed>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>& resources)
      : statement_(statement), rows_(resources) {
    bounds_of(statement);  // what does not fit is named by its variable
  }

  /// Finds long rows, once for all runs.
  void prepare() {
    longest_ = shape().longest;
    is_prepared_ = true;
    const LongRows sizes = long_rows();
    if (result().nnz() == 0 || sizes.most_pieces == 0) {
      pieces_ = 0;
      return;
    }
    held_ = make_array<char, Memory>("sporos::long rows", lay_out(sizes, nullptr).bytes);
    const LongRows to = lay_out(sizes, held_.data()).long_rows;
    read_rows();
    find_long_rows(space(), rows_.view(a()).positions, m(), to, most_arrivals(sizes));
    pieces_ = static_cast<std::int64_t>(read_back(space(), &to.counts->pieces));
    if (pieces_ == 0) held_ = {};
  }

  void run() {
    if (result().nnz() == 0) return;
    const sporos::detail::DenseTarget<S> target(statement_);
    a().nnz() == 0 ? apply_epilogue<S, Compute>(statement_, nullptr, target.data()) : multiply(target.data());
    target.finish();
  }

  Bytes bytes() const {
    const std::int64_t of_run = lay_out(long_rows(), nullptr).bytes + turned_bytes();
    return {result().nnz(), result().bytes(),
            sporos::detail::DenseTarget<S>::bytes(statement_) + Rows::most_bytes(a()) + of_run + of_run / 8};
  }
  std::int64_t held_bytes() const { return static_cast<std::int64_t>(held_.extent(0)) + rows_.held_bytes(); }

  void explain(std::ostream& out) const {
    const RowsShape shape = this->shape();
    out << "  result: located, a row by " << shape.lanes << (shape.lanes == 1 ? " lane" : " lanes")
        << " of a warp";
    if (shape.panels > 1) out << ", in " << shape.panels << " panels of columns";
    if (pieces_ != 0) out << "; rows of more than " << long_rows().cut << " nonzeros are cut";
    out << '\n';
    if (Rows::is_copied) out << "  operands: the sparse one is copied by rows first\n";
    if (turn_b) out << "  operands: the dense one is transposed first\n";
  }

 private:
  const auto& a() const { return Pattern::sparse(statement_).tensor(); }
  const auto& b() const { return Pattern::dense(statement_).tensor(); }
  const auto& result() const { return statement_.result().tensor(); }
  const Kokkos::Cuda& space() const { return statement_.resources().space(); }
  std::int64_t m() const { return result().extent(0); }
  std::int64_t n() const { return result().extent(1); }
  std::int64_t inner() const { return a().extent(is_transposed ? 0 : 1); }

  RowsShape shape(const Out* c) const {
    return RowsShape::of(rows_.view(a()), n(), turn_b ? nullptr : b().values().data(), c,
                         space().cuda_device_prop().multiProcessorCount);
  }
  RowsShape shape() const { return shape(result().values().data()); }
  /// Those of a plan are the same whatever arrays its operands have later.
  LongRows long_rows() const { return LongRows::of(a().nnz(), is_prepared_ ? longest_ : shape().longest); }
  /// For panels of 8 columns, than which none is narrower.
  std::int64_t most_arrivals(const LongRows& sizes) const { return sizes.most_slots * ceil_div(n(), 8); }

  struct Room {
    LongRows long_rows;
    std::int64_t bytes = 0;
  };
  Room lay_out(const LongRows& sizes, char* memory) const {
    Layout layout(memory);
    Room out{sizes};
    if (sizes.most_pieces == 0 || pieces_ == 0) return out;
    out.long_rows.counts = layout.template take<RowPieceCounts>(1);
    out.long_rows.pieces = layout.template take<RowPiece>(sizes.most_pieces);
    out.long_rows.arrivals = layout.template take<unsigned>(most_arrivals(sizes));
    out.long_rows.sums = reinterpret_cast<char*>(layout.template take<Compute>(sizes.most_slots * n()));
    out.bytes = layout.bytes();
    return out;
  }
  std::int64_t turned_bytes() const {
    Layout layout;
    if (turn_b) layout.template take<B>(b().nnz());
    return layout.bytes();
  }

  void read_rows() {
    if (is_read_ && S::schedule::has_constant_operands) return;
    rows_.read(a());
    is_read_ = true;
  }

  void multiply(Out* c) {
    read_rows();
    const auto matrix = rows_.view(a());
    const LongRows sizes = long_rows();
    const RowsShape shape = this->shape(c);
    const std::int64_t of_rows = is_prepared_ ? 0 : lay_out(sizes, nullptr).bytes;
    auto workspace = statement_.resources().scratch().template borrow<Workspace>();
    char* const memory = workspace->reserve(of_rows + turned_bytes());
    const B* dense = b().values().data();
    if constexpr (turn_b) {
      auto* const turned = reinterpret_cast<B*>(memory + of_rows);
      transpose(space(), n(), inner(), dense, turned);
      dense = turned;
    }
    const LongRows to = lay_out(sizes, is_prepared_ ? held_.data() : memory).long_rows;
    if (!is_prepared_) find_long_rows(space(), matrix.positions, m(), to, sizes.most_slots * shape.panels);
    const auto epilogue = epilogue_of(statement_);
    using View = std::remove_const_t<decltype(matrix)>;
    const RowsProduct<Compute, View, B, Out, std::remove_const_t<decltype(epilogue)>> in{
        matrix, n(), dense, 0, c, statement_.accumulates(), epilogue, to, shape};
    spmm_rows(space(), in, is_prepared_ ? pieces_ : sizes.most_pieces);
  }

  const S& statement_;
  Rows rows_;
  bool is_read_ = false, is_prepared_ = false;
  std::int64_t longest_ = 0;
  std::int64_t pieces_ = -1;  ///< of long rows; -1 where they are not known
  Array<char, Memory> held_;  ///< with them
};

}  // namespace sporos::gpu
