// SPDX-License-Identifier: Apache-2.0
/// @file padded_rows_candidate.hpp
/// The product of a sparse matrix and a dense one on CUDA cores, by padded rows, as a candidate for
/// statements.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../protocol/candidate.hpp"
#include "../pattern.hpp"
#include "packed_plan.hpp"
#include "padded_rows.hpp"
#include "short_rows.hpp"
#include "value_types.hpp"

namespace sporos::gpu {

/// C(i, j) = A(i, k) * B(k, j), with A in CSR or CSC, B and C dense, of real floating-point numbers, or an
/// epilogue of such a product (kernels/epilogue/epilogue.hpp), on CUDA cores, by padded_rows.hpp. It pays off
/// for products of a few microseconds, which wait for one load after another, and where nonzeros share
/// nothing. Rows that are short, all of them, are computed several by a group of lanes (short_rows.hpp).
///
/// A is packed when a plan is made; each run packs its values again, unless the statement says
/// `.with_constant_operands()`. The packed A takes a little more than A itself, and 20 bytes a row. If memory
/// is bounded, plans prefer other kernels.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct SpmmByPaddedRows {
  struct Operands : GpuMatrixOperands {
    template <class A>
    static constexpr bool is_csr =
        GpuMatrixOperands::is_csr<A> &&
        (std::is_floating_point_v<typename A::value_type> || is_narrow_float_v<typename A::value_type>);
  };
  using Pattern = SpmmOfSumsPattern<Operands>;
  static constexpr std::string_view name = "SpMM by padded rows";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j), A in CSR or CSC, B and C dense, C row-major, A and B of the same type, "
      "double, float, half or bfloat16, in the memory of the GPU";
  static constexpr bool deterministic = true;

  template <class S>
  static constexpr bool matches =
      is_product_of_types<Pattern, S>([]<class T, class Out, class Compute>(ProductTypes<T, Out, Compute>) {
        return std::is_same_v<Compute, accumulate_t<T>> &&
               (std::is_same_v<T, Out> ||
                (is_narrow_float_v<T> && (is_narrow_float_v<Out> || std::is_same_v<Out, float>)));
      });

  /// For a plan that is kept, the steps of rows are counted.
  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources, Use use) {
    return cost_of_packed_spmm<SpmmByPaddedRows>(statement, resources, use);
  }

  template <class S>
  class Plan;
};

/// How a product is distributed over lanes.
struct PaddedRowsChoice {
  static constexpr int fewest_lanes = 2, most_lanes = 5;  ///< 2^of these

  int lanes = fewest_lanes;  ///< 2^lanes of a group
  int size = 0;              ///< rows of 2^size steps or more are shared
  int most_bits = 0;         ///< by at most 2^most_bits groups
  double seconds = std::numeric_limits<double>::infinity();
};

/// The amounts of work from which the time of a product is estimated.
struct PaddedRowsWork {
  double chain;        ///< the most steps of a group of lanes
  double lanes;        ///< of all groups
  double lane_steps;   ///< of all lanes
  double panel_bytes;  ///< of B's part in a panel of columns
  double bytes;        ///< of C, and of B or what is read of it
  int lanes_of_group;  ///< 2^of these
  int multiprocessors;
};

/// How long the parts of a product take, in seconds, fitted on an H200 within 10 % (one standard deviation)
/// of the ways that are the fastest or nearly so.
struct PaddedRowsTimes {
  double fixed;         ///< the first loads, storing, and starting the kernel
  double step;          ///< a step of a group, one after another
  double lane;          ///< each lane, if a multiprocessor has many
  double lane_step[4];  ///< a step of a lane, by the lanes of a group, if a multiprocessor has many
  double crowded;       ///< what each panel_size of a panel of B adds to that, as a part; at most four
  double panel_size;    ///< bytes
  double byte;

  template <class T>
  static double seconds(const PaddedRowsWork& in) {
    return of<T>().seconds(in, 1);
  }
  /// The same for short_rows.hpp, whose groups seldom wait.
  template <class T>
  static double of_short_rows(const PaddedRowsWork& in, double l2_bytes) {
    constexpr double part_of_work = is_narrow_float_v<T>       ? 0.55
                                    : std::is_same_v<T, float> ? 0.42
                                                               : 0.45,
                     byte_of_memory = is_narrow_float_v<T> ? 0.8e-13 : 1.1e-13;
    return of<T>().seconds(in, part_of_work) + (in.bytes > l2_bytes ? in.bytes * byte_of_memory : 0);
  }

 private:
  /// @param part  that is left of the time of lanes
  double seconds(const PaddedRowsWork& in, double part) const {
    const double chain = in.chain * step;
    const double of_step = lane_step[in.lanes_of_group - PaddedRowsChoice::fewest_lanes] *
                           (1 + crowded * std::min(in.panel_bytes / panel_size, 4.0));
    const double all = part * (in.lane_steps * of_step + in.lanes * lane) / in.multiprocessors;
    // Two times that overlap in part.
    return fixed + std::hypot(chain, all) + in.bytes * byte;
  }

  template <class T>
  static constexpr PaddedRowsTimes of() {
    if constexpr (is_narrow_float_v<T>)
      return {2.184e-6, 1.974e-7, 1.097e-9, {6.658e-10, 5.576e-10, 5.151e-10, 4.55e-10}, 0.1548, 1.855e6, 0};
    else if constexpr (std::is_same_v<T, float>)
      return {2.033e-6, 1.865e-7, 7.326e-10, {7.364e-10, 5.377e-10, 4.533e-10, 3.676e-10},
              0.2421,   2.813e6,  5.857e-14};
    else
      return {1.885e-6, 2.494e-7, 7.406e-10, {8.094e-10, 6.008e-10, 5.219e-10, 4.446e-10},
              0.1916,   2.828e6,  7.438e-14};
  }
};

template <class S>
class SpmmByPaddedRows::Plan
    : public PackedPlanOfSpmm<SpmmByPaddedRows::Plan<S>, SpmmByPaddedRows::Pattern, S> {
  using Base = PackedPlanOfSpmm<Plan, SpmmByPaddedRows::Pattern, S>;
  friend Base;
  using Base::a, Base::result, Base::space, Base::m, Base::n, Base::inner, Base::turn_b;
  using Base::is_constant, Base::packed, Base::statement_, Base::rows_;
  using typename Base::Out, typename Base::Rows, typename Base::Sparse, typename Base::AlignedRows;
  using T = typename Sparse::value_type;
  using Sum = accumulate_t<T>;
  using Epilogue = decltype(epilogue_of(std::declval<const S&>()));
  using Product = PaddedRowsProduct<T, Out, Epilogue, typename Rows::View>;
  using Config = PaddedRowsConfig<T>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>& resources) : Base(statement, resources) {}

  /// Any GPU has the instructions.
  static bool are_there(const Kokkos::Cuda&) { return true; }
  /// Why the kernel cannot take these operands; empty if it can.
  std::string_view why_not() const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() - 64;
    if (m() > most || inner() > most || a().nnz() / PaddedRows<T>::of_step + m() > most)
      return "the sparse operand has too many rows, columns or nonzeros";
    constexpr std::int64_t most_columns = std::int64_t{Config::columns} * warp_size * 65535;
    if (n() > std::min(most_columns, most / std::int64_t{sizeof(T)}))
      return "the dense operand has too many columns";
    return {};
  }
  /// The seconds that a product is expected to take. If memory is bounded, a whole second is returned, so
  /// that another kernel is preferred.
  double seconds(Use) const {
    constexpr double too_much_memory = 1;
    if (this->memory_is_bounded()) return too_much_memory;
    return has_short_rows() ? seconds_of_short_rows() : best_choice().seconds;
  }
  /// The seconds that packing the sparse operand is expected to take.
  double seconds_of_packing() const {
    return 4e-5 + 1e-11 * static_cast<double>(a().nnz()) + 2e-7 * static_cast<double>(counts_.most);
  }

  void explain(std::ostream& out) const {
    out << "  result: located, ";
    std::int64_t panels = 0;
    if (has_short_rows()) {
      const ShortRowsShape shape = short_rows_shape();
      shape.rows_of_group > 1 ? out << shape.rows_of_group << " rows one after another" : out << "a row";
      out << " by " << (1 << shape.lanes) << " lanes of a warp";
      panels = shape.panels;
    } else {
      const PaddedRowsChoice choice = this->is_packed() ? choice_ : best_choice();
      out << "a row by " << (1 << choice.lanes) << " lanes of a warp";
      if (choice.most_bits > 0) out << ", long ones in up to " << (1 << choice.most_bits) << " parts";
      panels = ceil_div(n(), std::int64_t{Config::columns} << choice.lanes);
    }
    if (panels > 1) out << ", in " << panels << " panels of columns";
    if (!Product::epilogue_is_identity) out << ", the epilogue applied as they are stored";
    out << "\n  operands: the sparse one is packed as rows of padded steps of " << PaddedRows<T>::of_step
        << " nonzeros, the longest first" << (is_constant ? ", once\n" : ", its values again in each run\n");
    this->explain_sparse(out);
    if (turn_b) out << "  operands: the dense one is transposed first\n";
  }

 private:
  static constexpr Counted counted{.rows = true};
  /// If memory is bounded, nothing is counted before A is packed.
  bool is_counted() const { return !this->memory_is_bounded(); }
  void take(const PatternCounts& counts) { counts_ = counts.rows.steps; }

  /// The most steps of all rows.
  std::int64_t most_steps() const {
    return this->is_measured() ? counts_.steps
                               : a().nnz() / PaddedRows<T>::of_step + std::min(m(), a().nnz());
  }
  PaddedRows<T> lay_out(Layout& layout) const { return PaddedRows<T>::lay_out(layout, m(), most_steps()); }
  PaddedRows<T> padded_rows() const {
    Layout layout(packed());
    return lay_out(layout);
  }
  std::int64_t packed_bytes() const {
    Layout layout;
    lay_out(layout);
    return layout.bytes();
  }
  /// The bytes of the workspace in which A is packed.
  std::int64_t packing_bytes() const {
    Layout layout;
    StepPacking::lay_out(space(), layout, m());
    return layout.bytes();
  }

  template <class Matrix>
  void pack(const Matrix& matrix) {
    if (!this->is_measured()) take(gpu::count_pattern(statement_.resources(), matrix, counted));
    choice_ = best_choice();
    auto workspace = statement_.resources().scratch().template borrow<Workspace>();
    Layout layout(workspace->reserve(packing_bytes()));
    pad_rows_of_matrix(space(), matrix, padded_rows(), StepPacking::lay_out(space(), layout, m()),
                       counts_.most);
  }
  template <class Matrix>
  void fill(const Matrix& matrix) {
    fill_padded_rows(space(), matrix, padded_rows());
  }

  /// The steps of rows; before they are counted, as if rows were equally long.
  RowSteps counts() const {
    if (counts_.steps > 0) return counts_;
    RowSteps out{};
    const auto of_row = static_cast<unsigned>(
        ceil_div(a().nnz() / std::max<std::int64_t>(m(), 1) + 1, PaddedRows<T>::of_step));
    out.most = static_cast<std::int32_t>(of_row);
    out.steps = static_cast<std::int32_t>(most_steps());
    out.rows[std::bit_width(of_row) - 1] = static_cast<std::int32_t>(m());
    return out;
  }

  /// The bytes of C, and of what is read of B.
  double dense_bytes(const RowSteps& counts) const {
    const auto read = static_cast<double>(
        std::min(inner(), static_cast<std::int64_t>(counts.steps) * PaddedRows<T>::of_step));
    return static_cast<double>(n()) * (static_cast<double>(m()) * sizeof(Out) + read * sizeof(T));
  }

  /// Whether rows of C begin and end at multiples of 16 bytes.
  bool has_packs(const Out* c) const {
    return n() * sizeof(Out) % 16 == 0 && reinterpret_cast<std::uintptr_t>(c) % 16 == 0;
  }
  /// Whether short_rows.hpp computes the product, if C lies at a multiple of 16 bytes.
  bool has_short_rows() const { return counts().most <= ShortRowsShape::steps && has_packs(nullptr); }
  ShortRowsShape short_rows_shape() const {
    return ShortRowsShape::of(m(), n(), Config::columns, dense_bytes(counts()), space().cuda_device_prop());
  }
  double seconds_of_short_rows() const {
    const RowSteps counts = this->counts();
    const ShortRowsShape shape = short_rows_shape();
    const double lanes = static_cast<double>(shape.panels * shape.packs << shape.lanes);
    return PaddedRowsTimes::of_short_rows<T>(
        {1, static_cast<double>(m()) * lanes, static_cast<double>(counts.steps) * lanes,
         static_cast<double>(inner() * Config::columns * shape.packs << shape.lanes) * sizeof(T),
         dense_bytes(counts), std::max(shape.lanes, PaddedRowsChoice::fewest_lanes),
         space().cuda_device_prop().multiProcessorCount},
        space().cuda_device_prop().l2CacheSize);
  }

  /// The way in which the product is expected to be fastest.
  PaddedRowsChoice best_choice() const {
    const RowSteps counts = this->counts();
    const double bytes = dense_bytes(counts);
    PaddedRowsChoice best;
    for (int lanes = PaddedRowsChoice::fewest_lanes; lanes <= PaddedRowsChoice::most_lanes; ++lanes) {
      const std::int64_t columns = std::int64_t{Config::columns} << lanes, panels = ceil_div(n(), columns);
      if ((lanes > PaddedRowsChoice::fewest_lanes && columns / 2 >= n()) || panels > 65535) continue;
      const int most_bits = std::min(RowParts::classes - 1, PaddedRowsChoice::most_lanes - lanes);
      const int sizes =
          most_bits == 0 ? 1 : std::bit_width(static_cast<unsigned>(std::max(counts.most, 1))) + 1;
      for (int size = 0; size < sizes; ++size) {
        PaddedRowsChoice choice{lanes, size, most_bits};
        const RowParts parts = counts.parts_from(size, most_bits, m());
        double groups = 0;
        for (int bits = 0; bits < RowParts::classes; ++bits)
          groups += static_cast<double>(std::int64_t{parts.rows[bits]} << bits);
        const double of_panels = static_cast<double>(panels << lanes);
        choice.seconds =
            PaddedRowsTimes::seconds<T>({static_cast<double>(counts.most_of_group(size, most_bits)),
                                         groups * of_panels, static_cast<double>(counts.steps) * of_panels,
                                         static_cast<double>(inner() * columns) * sizeof(T), bytes, lanes,
                                         space().cuda_device_prop().multiProcessorCount});
        if (choice.seconds < best.seconds) best = choice;
      }
    }
    return best;
  }

  void multiply(Out* c, const AlignedRows& dense) const {
    const Product product{{m(), n(), inner(), c, statement_.accumulates(), epilogue_of(statement_)},
                          padded_rows(),
                          rows_.view(a()),
                          dense.values,
                          dense.stride,
                          has_packs(c),
                          choice_.lanes,
                          counts_.parts_from(choice_.size, choice_.most_bits, m())};
    has_short_rows() && product.has_packs ? spmm_short_rows(space(), product, short_rows_shape())
                                          : spmm_padded_rows(space(), product);
  }

  RowSteps counts_{};
  PaddedRowsChoice choice_;
};

}  // namespace sporos::gpu
