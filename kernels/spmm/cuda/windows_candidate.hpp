// SPDX-License-Identifier: Apache-2.0
/// @file windows_candidate.hpp
/// The product of a sparse matrix of doubles or 16-bit floats and a dense one on tensor cores, by windows of
/// rows, as a candidate for statements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../cuda/once_per_device.hpp"
#include "../../cuda/sm_90a.hpp"
#include "../../protocol/candidate.hpp"
#include "../pattern.hpp"
#include "packed_plan.hpp"
#include "value_types.hpp"
#include "windows.hpp"

namespace sporos::gpu {

/// C(i, j) = A(i, k) * B(k, j), with A in CSR or CSC, B and C dense, of doubles or 16-bit floats, or an
/// epilogue of such a product (kernels/epilogue/epilogue.hpp), on tensor cores, by windows.hpp. It pays off
/// if neighbouring rows of A share columns, as they do if a tenth of A or more is stored, or in
/// finite-element matrices.
///
/// A is packed when a plan is made; each run packs its values again, unless the statement says
/// `.with_constant_operands()`. The packed A takes up to 128 bytes per nonzero; if it would take more, or if
/// memory is bounded, plans prefer other kernels.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct SpmmByWindows {
  struct Operands : GpuMatrixOperands {
    template <class A>
    static constexpr bool is_csr =
        GpuMatrixOperands::is_csr<A> &&
        (std::is_same_v<typename A::value_type, double> || is_narrow_float_v<typename A::value_type>);
  };
  using Pattern = SpmmOfSumsPattern<Operands>;
  static constexpr std::string_view name = "SpMM by windows of rows on tensor cores";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j), A in CSR or CSC, B and C dense, C row-major, double, half or bfloat16 "
      "in A and B, in the memory of a GPU of compute capability 9.0";
  static constexpr bool deterministic = true;

  template <class S>
  static constexpr bool matches =
      is_product_of_types<Pattern, S>([]<class T, class Out, class Compute>(ProductTypes<T, Out, Compute>) {
        return std::is_same_v<T, double> ? std::is_same_v<Out, double>
                                         : is_narrow_float_v<Out> || std::is_same_v<Out, float>;
      });

  /// For a plan that is kept, the steps of windows are counted.
  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources, Use use) {
    return cost_of_packed_spmm<SpmmByWindows>(statement, resources, use);
  }

  template <class S>
  class Plan;
};

/// How a product is distributed over warps.
struct WindowsChoice {
  int rows = 0;     ///< per window
  int columns = 0;  ///< per panel
  WindowParts parts;
  double seconds = std::numeric_limits<double>::infinity();

  template <class Config>
  static WindowsChoice of(const WindowParts& parts) {
    return {Config::rows, Config::columns, parts, std::numeric_limits<double>::infinity()};
  }
  template <class Config>
  constexpr bool is_of() const {
    return rows == Config::rows && columns == Config::columns;
  }
};

/// The amounts of work from which the time of a product is estimated.
struct WindowsWork {
  WindowParts parts;
  std::int64_t panels;
  std::int64_t steps, most;  ///< of A's windows: of all, and the most that a warp does
  int multiprocessors;
};

/// How long the parts of a product of doubles take, in seconds, fitted on an H200 within 8 to 14 % (one
/// standard deviation).
struct WindowsTimes {
  double alone;    ///< a step of a warp, one after another
  double busy;     ///< a step, if a multiprocessor has many warps
  double fixed;    ///< the first steps, storing, and starting the kernel
  double halve;    ///< adding up the sums of twice as many warps
  double of_warp;  ///< each warp, if a multiprocessor has many

  /// The seconds that a product by a configuration is expected to take.
  template <class Config>
  static double seconds(const WindowsWork& in) {
    constexpr WindowsTimes times = of<Config>();
    const auto panels = static_cast<double>(in.panels);
    const double chain = static_cast<double>(in.most) * times.alone;
    const double all = (static_cast<double>(in.steps) * panels * times.busy +
                        static_cast<double>(in.parts.warps()) * panels * times.of_warp) /
                       in.multiprocessors;
    // The longer of two times that overlap, or a little more if they are about equal.
    return times.fixed + std::cbrt(chain * chain * chain + all * all * all) +
           std::log2(static_cast<double>(in.parts.most())) * times.halve;
  }

 private:
  /// For windows of 8, 16 and 32 rows, each with panels of 16, 32 and 64 columns; the last combination does
  /// not exist.
  template <class Config>
  static constexpr WindowsTimes of() {
    constexpr WindowsTimes times[ValueWindowCounts::heights][3] = {
        {{1.5e-07, 1.99e-08, 2e-06, 1.28e-07, 1.28e-07},
         {2.68e-07, 3.66e-08, 2.85e-06, 5.02e-08, 1.75e-07},
         {5.2e-07, 7.05e-08, 3.2e-06, 2.67e-08, 2.1e-07}},
        {{1.7e-07, 2.23e-08, 2.61e-06, 1.04e-11, 1.58e-07},
         {3.2e-07, 3.91e-08, 2.82e-06, 2.29e-11, 2.04e-07},
         {6.14e-07, 7.23e-08, 3.71e-06, 2.85e-10, 2.8e-07}},
        {{2.57e-07, 2.85e-08, 2.63e-06, 3.34e-10, 2e-07},
         {5.04e-07, 4.77e-08, 3.25e-06, 3e-08, 2.98e-07},
         {5.04e-07, 4.77e-08, 3.25e-06, 3e-08, 2.98e-07}}};
    return times[ValueWindowCounts::of(Config::rows)][Config::columns / 32];
  }
};

/// The same for 16-bit floats, fitted within 6 to 8 %.
struct NarrowWindowsTimes {
  double alone;           ///< a step of a warp, one after another
  double busy;            ///< a step, if a multiprocessor has many warps
  double fixed;           ///< the first steps, storing, and starting the kernel
  double round;           ///< another round of blocks, where not all of them run at once
  double blocks_at_once;  ///< that a multiprocessor runs

  template <class Config>
  static double seconds(const WindowsWork& in) {
    constexpr NarrowWindowsTimes times = of<Config>();
    const double blocks = static_cast<double>(in.parts.blocks() * in.panels);
    const double of_block = static_cast<double>(in.steps * in.panels) / std::max(blocks, 1.0);  // steps
    const double average = blocks / in.multiprocessors;
    // While all blocks run at once, some multiprocessors have one more than others.
    const double most = average < times.blocks_at_once ? std::ceil(average) : average;
    const double rounds = average / times.blocks_at_once;
    // Two times that overlap in part. Blocks of a second round wait until the first ones end; later ones
    // begin one by one.
    return times.fixed +
           std::hypot(static_cast<double>(in.most) * times.alone, of_block * most * times.busy) +
           (rounds > 1 ? std::max(rounds - 1, 1.0) * times.round : 0);
  }

 private:
  template <class Config>
  static constexpr NarrowWindowsTimes of() {
    if (Config::columns == 64) return {1.37e-07, 2.96e-08, 3.37e-06, 2.28e-06, 3};
    if (Config::rows == 16) return {1.60e-07, 2.23e-08, 3.17e-06, 2.41e-06, 4};
    return {1.73e-07, 1.92e-08, 2.85e-06, 1.92e-06, 4};
  }
};

template <class S>
class SpmmByWindows::Plan : public PackedPlanOfSpmm<SpmmByWindows::Plan<S>, SpmmByWindows::Pattern, S> {
  using Base = PackedPlanOfSpmm<Plan, SpmmByWindows::Pattern, S>;
  friend Base;
  using Base::a, Base::result, Base::space, Base::m, Base::n, Base::inner, Base::turn_b;
  using Base::is_constant, Base::is_packed, Base::packed, Base::statement_, Base::rows_;
  using Base::most_bytes_of_nonzero;
  using typename Base::Out, typename Base::Rows, typename Base::Sparse, typename Base::AlignedRows;
  using T = typename Sparse::value_type;
  using Sum = accumulate_t<T>;
  using Epilogue = decltype(epilogue_of(std::declval<const S&>()));
  using Windows = ValueWindows<T>;
  using Product = WindowsProduct<T, Out, Epilogue, typename Rows::View>;
  using Configs = WindowsConfigsOf<T>;
  using Times = std::conditional_t<is_narrow_float_v<T>, NarrowWindowsTimes, WindowsTimes>;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>& resources) : Base(statement, resources) {}

  /// Whether this device and the compiled code have the instructions. Those for 16-bit floats are in code for
  /// older devices as well.
  static bool are_there(const Kokkos::Cuda& space) {
    bool are_compiled = true;
    if constexpr (std::is_same_v<T, double>)
      are_compiled = once_per_device(
          space, [] { return has_wgmma(&detail::spmm_windows_kernel<WindowsConfig<T, 16, 64>, Product>); });
    return runs_sm_90a(space.cuda_device_prop().major, are_compiled);
  }
  /// Why the kernel cannot take these operands; empty if it can.
  std::string_view why_not() const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (inner() > most_window_columns) return "the sparse operand has too many columns";
    if (m() > most || a().nnz() > most) return "the sparse operand has too many rows or nonzeros";
    constexpr std::int64_t element = sizeof(T), of_16_bytes = 16 / element;
    if (inner() * (n() + of_16_bytes - 1) > most / element * 2) return "the dense operand has 4 GiB or more";
    if (most_steps(window_heights[0]) * Windows::bytes_of_step(window_heights[0]) > most)
      return "the sparse operand would have 2 GiB or more as windows";
    return {};
  }
  /// The seconds that a product is expected to take. If packing A would take too much memory, a whole second
  /// is returned, so that another kernel is preferred.
  double seconds(Use) const {
    constexpr double too_much_memory = 1;
    const WindowsChoice choice = best_choice();
    if (!std::isfinite(choice.seconds) || this->memory_is_bounded()) return too_much_memory;
    // The least that packing must gain.
    return choice.seconds + (is_narrow_float_v<T> ? choice.seconds / 10 : 4e-7);
  }
  /// The seconds that packing the sparse operand is expected to take.
  double seconds_of_packing() const { return 5e-5 + 1e-10 * static_cast<double>(a().nnz()); }

  void explain(std::ostream& out) const {
    const WindowsChoice choice = choice_of_plan();
    out << "  result: located, windows of " << choice.rows << " rows and panels of " << choice.columns
        << " columns by matrix instructions";
    if (Configs::First::is_staged) out << " from shared memory";
    if (const int warps = choice.parts.most(); warps > 1)
      out << (choice.parts.windows[0] > 0 ? ", up to " : ", ") << warps << " warps each";
    if (!Product::epilogue_is_identity) out << ", the epilogue applied as they are stored";
    out << "\n  operands: the sparse one is packed as windows with their columns"
        << (is_constant ? " once\n" : ", its values again in each run\n");
    this->explain_sparse(out);
    if (turn_b) out << "  operands: the dense one is transposed first\n";
  }

 private:
  /// The arrays of A, in this order; those used by packing follow them.
  Windows lay_out(Layout& layout) const {
    const int rows = choice_of_plan().rows;
    return Windows::lay_out(layout, rows, m(), most_steps(rows));
  }
  Windows windows() const {
    Layout layout(packed());
    return lay_out(layout);
  }
  static constexpr Counted counted{.windows = true};
  /// If memory is bounded, nothing is counted: the choice for which it was estimated stays.
  bool is_counted() const { return !this->memory_is_bounded(); }
  void take(const PatternCounts& counts) { counts_ = counts.windows; }
  std::int64_t packed_bytes() const {
    const int rows = choice_of_plan().rows;
    return packed_bytes(rows, most_steps(rows));
  }
  std::int64_t packed_bytes(int rows, std::int64_t steps) const {
    Layout layout;
    const Windows to = Windows::lay_out(layout, rows, m(), steps);
    StepPacking::lay_out(space(), layout, to.windows);
    return layout.bytes();
  }
  /// Once a plan has counted steps, it may choose windows of another height, if they take little enough.
  std::int64_t most_packed_bytes() const {
    std::int64_t most = packed_bytes();
    if (this->is_measured() || this->memory_is_bounded()) return most;
    Configs::for_each([&]<class Config>(std::type_identity<Config>) {
      const std::int64_t allowed = most_bytes_of_nonzero * a().nnz() / Windows::bytes_of_step(Config::rows);
      most = std::max(most, packed_bytes(Config::rows, std::min(most_steps(Config::rows), allowed)));
    });
    return most;
  }

  /// The most steps of windows of this height, in total and in one window.
  std::int64_t most_steps(int rows) const {
    if (this->is_measured()) return counts_.steps[ValueWindowCounts::of(rows)];
    return a().nnz() / Windows::columns + std::min(ceil_div(m(), rows), a().nnz());
  }
  std::int64_t most_of_window(int rows) const {
    if (this->is_measured()) return counts_.most[ValueWindowCounts::of(rows)];
    return ceil_div(std::min(inner(), a().nnz()), Windows::columns);
  }

  template <class Matrix>
  void pack(const Matrix& matrix) {
    choice_ = best_choice();
    Layout layout(packed());
    const Windows to = lay_out(layout);
    pack_windows(space(), matrix, to, StepPacking::lay_out(space(), layout, to.windows));
  }
  template <class Matrix>
  void fill(const Matrix& matrix) {
    fill_windows(space(), matrix, windows());
  }

  /// Windows of 16-bit floats may be shared by their lengths, from 2^size_to_share steps on.
  static constexpr int size_to_share = 3;

  /// The way in which the product is expected to be fastest, among those in which A does not take too much
  /// memory; if there are none, the one with the least memory.
  WindowsChoice best_choice() const {
    WindowsChoice best = WindowsChoice::of<typename Configs::First>(
        WindowParts::equal(1, ceil_div(m(), Configs::First::rows)));
    Configs::for_each([&]<class Config>(std::type_identity<Config>) {
      const std::int64_t steps = most_steps(Config::rows), most = most_of_window(Config::rows);
      if (steps * Windows::bytes_of_step(Config::rows) > most_bytes_of_nonzero * a().nnz()) return;
      if (Config::columns > Configs::First::columns && n() <= Config::columns / 2) return;
      const std::int64_t windows = ceil_div(m(), Config::rows);
      const auto try_parts = [&](const WindowParts& parts, std::int64_t most_of_warp) {
        WindowsChoice choice = WindowsChoice::of<Config>(parts);
        choice.seconds =
            Times::template seconds<Config>({parts, ceil_div(n(), Config::columns), steps, most_of_warp,
                                             space().cuda_device_prop().multiProcessorCount});
        if (choice.seconds < best.seconds) best = choice;
      };
      for (const int warps : {1, 2, 4, 8})
        if (warps <= std::max<std::int64_t>(most, 1))
          try_parts(WindowParts::equal(warps, windows), ceil_div(most, warps));
      if (is_narrow_float_v<T> && this->is_measured() && most >= std::int64_t{1} << size_to_share)
        try_parts(counts_.parts_from(size_to_share, Config::rows, windows),
                  std::max(ceil_div(most, WindowParts::most_warps), std::int64_t{1} << size_to_share));
    });
    return best;
  }
  /// The same, or the way for which A has been packed.
  WindowsChoice choice_of_plan() const { return is_packed() ? choice_ : best_choice(); }

  void multiply(Out* c, const AlignedRows& dense) const {
    const Product product{{m(), n(), inner(), c, statement_.accumulates(), epilogue_of(statement_)},
                          windows(),
                          rows_.view(a()),
                          dense.values,
                          dense.stride,
                          n() * sizeof(Out) % 16 == 0 && reinterpret_cast<std::uintptr_t>(c) % 16 == 0,
                          choice_.parts};
    Configs::for_each([&]<class Config>(std::type_identity<Config>) {
      if (choice_.template is_of<Config>()) spmm_windows<Config>(space(), product);
    });
  }

  ValueWindowCounts counts_{};
  WindowsChoice choice_;
};

}  // namespace sporos::gpu
