// SPDX-License-Identifier: Apache-2.0
/// @file cublas_candidate.hpp
/// The product of a sparse and a dense matrix by cuBLAS, the sparse one with its zeros, as a candidate for
/// statements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../epilogue/epilogue.hpp"
#include "../../gemm/cuda/cublas.hpp"
#include "../../gemm/cuda/cublas_seconds.hpp"
#include "../../nest/bounds.hpp"
#include "../../operands/cuda/operands.hpp"
#include "../../protocol/candidate.hpp"
#include "../../results/dense_target.hpp"
#include "../pattern.hpp"
#include "dense_product.hpp"
#include "value_types.hpp"

namespace sporos::gpu {

/// C(i, j) = A(i, k) * B(k, j) or B(i, k) * A(j, k), with A in CSR or CSC, B and C dense and stored along
/// either mode, of half, bfloat16, float or double, or an epilogue of such a product
/// (kernels/epilogue/epilogue.hpp), by cuBLAS: A is written with its zeros, as it is stored, and sums that
/// are not finite because B is not are computed again from nonzeros (dense_product.hpp), unless A has no
/// zeros. It pays off for plans if a tenth of A or more is stored, in no order. Sums of floats are formed in
/// float, from products in tf32 only if the statement allows it; sums of half and bfloat16 are formed in
/// float.
///
/// If the statement says `.with_constant_operands()`, a plan holds A with its zeros; otherwise each run
/// writes them in memory that the stream's statements share. If they take more than 128 bytes per nonzero,
/// the candidate declines unless it was asked for by name.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct SpmmByCublas {
  struct Operands : GpuMatrixOperands {
    template <class A>
    static constexpr bool is_csr =
        GpuMatrixOperands::is_csr<A> &&
        (is_narrow_float_v<typename A::value_type> || std::is_same_v<typename A::value_type, float> ||
         std::is_same_v<typename A::value_type, double>);
  };
  using Pattern = SpmmInAnyLayoutPattern<Operands>;
  static constexpr std::string_view name = "SpMM by cuBLAS with zeros";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j) or B(i, k) * A(j, k), A in CSR or CSC, B and C dense, half, bfloat16, "
      "float or double in A and B, and in C the same or, of 16-bit floats, float, in the memory of the GPU";
  static constexpr bool deterministic = true;

  template <class S>
  static constexpr bool matches =
      is_product_of_types<Pattern, S>([]<class T, class Out, class Compute>(ProductTypes<T, Out, Compute>) {
        return (std::is_same_v<T, Out> || (is_narrow_float_v<T> && std::is_same_v<Out, float>)) &&
               std::is_same_v<Compute, accumulate_t<T>>;
      });

  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources) {
    constexpr double of_memory = 1e-4;  // seconds to allocate it
    const Plan<S> plan(statement, resources);
    if (!plan.is_worth_its_memory())
      return Declined{"the sparse operand with its zeros would take more than 128 bytes per nonzero"};
    return Cost{plan.seconds() + plan.seconds_of_expanding() + of_memory,
                plan.seconds() + (S::schedule::has_constant_operands ? 0 : plan.seconds_of_expanding())};
  }

  template <class S>
  class Plan;
};

template <class S>
class SpmmByCublas::Plan {
  using Result = typename S::result_type;
  using Sparse = std::remove_cvref_t<decltype(Pattern::sparse(std::declval<const S&>()))>;
  using DenseAccess = std::remove_cvref_t<decltype(Pattern::dense(std::declval<const S&>()))>;
  using T = typename DenseAccess::value_type;
  using Out = typename Result::value_type;
  using Sum = accumulate_t<T>;
  using Epilogue = decltype(epilogue_of(std::declval<const S&>()));
  static constexpr bool is_constant = S::schedule::has_constant_operands;
  static constexpr bool is_finite = S::schedule::has_finite_operands;
  static constexpr bool is_in_tf32 = S::schedule::allows_tf32 && std::is_same_v<T, float>;
  static constexpr std::int64_t of_16_bytes = 16 / std::int64_t{sizeof(T)};  ///< elements

  // The variables: of the lines of C and of places in them, and the one that is summed over.
  static constexpr char of_lines = Result::level_names[0], in_line = Result::level_names[1];
  static constexpr char summed =
      Result::names.contains(Sparse::names[0]) ? Sparse::names[1] : Sparse::names[0];
  static constexpr DenseProductLayout layout{Sparse::level_names[1] == summed,
                                             Sparse::names.contains(of_lines), of_lines == Result::names[0]};
  static constexpr bool b_is_by_summed = DenseAccess::level_names[0] == summed;

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>&) : statement_(statement) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  bool is_worth_its_memory() const {
    constexpr std::int64_t most_bytes_of_nonzero = 128;
    return S::schedule::run_by::choice == option::Choice::one ||
           expanded_bytes() <= most_bytes_of_nonzero * a().nnz();
  }
  /// The seconds that a product is expected to take, with what is done to the sums.
  double seconds() const {
    constexpr double launch = 1.2e-6, bytes_per_second = 4e12;
    const auto elements = static_cast<double>(result().nnz());
    const double of_result = elements * (sums_are_separate() ? sizeof(Sum) : sizeof(Out));
    const double bytes =
        static_cast<double>(expanded_bytes()) + static_cast<double>(b().nnz()) * sizeof(T) + of_result;
    const bool is_aligned = line_of_b() % of_16_bytes == 0 && length() % of_16_bytes == 0;
    const double finishing = sums_are_separate() ? of_result + elements * 2 * sizeof(Out) : 0;
    return cublas_seconds(cublas_arithmetic<T>(is_in_tf32), static_cast<double>(count()),
                          static_cast<double>(length()), static_cast<double>(inner()), bytes, is_aligned,
                          1 - share_of_nonzeros()) +
           (sums_are_separate() || is_mended() ? launch : 0) + finishing / bytes_per_second;
  }
  /// The seconds that writing the sparse operand with its zeros is expected to take.
  double seconds_of_expanding() const {
    return 3e-6 + static_cast<double>(expanded_bytes()) / 2e12 + static_cast<double>(a().nnz()) * 5e-12;
  }

  /// Writes A with its zeros if its values are constant, and has cuBLAS load its kernel, which it does not do
  /// while a graph is captured.
  void prepare() {
    if (result().nnz() == 0 || a().nnz() == 0) return;
    if (is_constant) {
      held_ = make_array<char, Memory>("sporos::dense matrix", expanded_bytes());
      expand_lines(space(), lines(), reinterpret_cast<T*>(held_.data()), stride());
    }
    {
      auto workspace = statement_.resources().scratch().template borrow<Workspace>();
      const Room room = lay_out(workspace->reserve(most_room()), true);
      if (!is_constant) expand_lines(space(), lines(), room.dense, stride());
      sums_are_separate() ? multiply(room, room.sums) : multiply(room, reinterpret_cast<Out*>(room.sums));
    }
    room_.prepare(statement_.resources().scratch(), lay_out(nullptr, sums_are_separate()).bytes);
  }
  void run() {
    if (result().nnz() == 0) return;
    const sporos::detail::DenseTarget<S> target(statement_);
    a().nnz() == 0 ? apply_epilogue<S, Sum>(statement_, nullptr, target.data())
                   : multiply_into(target.data());
    target.finish();
  }

  Bytes bytes() const {
    const std::int64_t of_room = with_room_to_grow(most_room());
    return {result().nnz(), result().bytes(),
            sporos::detail::DenseTarget<S>::bytes(statement_) + (is_constant ? expanded_bytes() : 0) +
                of_room + Cublas::workspace_bytes};
  }
  std::int64_t held_bytes() const { return static_cast<std::int64_t>(held_.extent(0)); }

  void explain(std::ostream& out) const {
    out << "  result: located, by cuBLAS";
    if (is_in_tf32) out << ", in tf32";
    if (is_mended()) out << "; sums that are not finite are computed again from nonzeros";
    out << "\n  operands: the sparse one, of which " << std::lround(100 * share_of_nonzeros())
        << " % is stored, is written with its zeros, " << expanded_bytes() << " bytes, "
        << (is_constant ? "once\n" : "again in each run\n");
    if (sums_are_separate()) out << "  epilogue: applied in a second pass\n";
  }

 private:
  /// What runs work in.
  struct Room {
    T* dense = nullptr;   ///< A with its zeros [lines, stride()], if the plan does not hold it
    Sum* sums = nullptr;  ///< [lines, places] of C
    std::int64_t bytes = 0;
  };
  Room lay_out(char* memory, bool has_sums) const {
    Layout in_memory(memory);
    Room out;
    if (!is_held()) out.dense = in_memory.template take<T>(lines().rows * stride());
    if (has_sums) out.sums = in_memory.template take<Sum>(result().nnz());
    out.bytes = in_memory.bytes();
    return out;
  }
  /// The most that is worked in: also by prepare(), whose product is thrown away.
  std::int64_t most_room() const { return lay_out(nullptr, true).bytes; }
  bool is_held() const { return held_.extent(0) > 0; }

  const auto& a() const { return Pattern::sparse(statement_).tensor(); }
  const auto& b() const { return Pattern::dense(statement_).tensor(); }
  const auto& result() const { return statement_.result().tensor(); }
  const Kokkos::Cuda& space() const { return statement_.resources().space(); }
  /// Lines of C, places in one, and the terms of a sum.
  std::int64_t count() const { return result().extent(Result::names.find(of_lines)); }
  std::int64_t length() const { return result().extent(Result::names.find(in_line)); }
  std::int64_t inner() const { return a().extent(Sparse::names.find(summed)); }
  std::int64_t line_of_b() const { return b().extent(DenseAccess::names.find(DenseAccess::level_names[1])); }

  /// Whether the result is not just the sums.
  bool sums_are_separate() const { return !Epilogue::is_identity || statement_.accumulates(); }
  /// Whether A does not store all of its elements: its zeros must not meet what is not finite in B.
  bool has_zeros() const { return a().nnz() < a().extent(0) * a().extent(1); }
  /// Of A's elements, the part that it stores.
  double share_of_nonzeros() const {
    return static_cast<double>(a().nnz()) /
           static_cast<double>(std::max<std::int64_t>(1, a().extent(0) * a().extent(1)));
  }
  /// Whether sums that are not finite are computed again.
  bool is_mended() const { return has_zeros() && !is_finite; }
  /// The lines in which A is stored.
  auto lines() const { return detail::csr_view<detail::is_by_columns<typename Sparse::format>>(a()); }
  /// Elements from one line of A with its zeros to the next: lines begin where cuBLAS reads them fastest.
  std::int64_t stride() const { return ceil_div(lines().columns, of_16_bytes) * of_16_bytes; }
  std::int64_t expanded_bytes() const {
    return lines().rows * stride() * static_cast<std::int64_t>(sizeof(T));
  }

  void multiply_into(Out* c) {
    const bool is_in_two = sums_are_separate();
    room_.with(statement_.resources().scratch(), lay_out(nullptr, is_in_two).bytes, [&](char* memory) {
      const Room room = lay_out(memory, is_in_two);
      if (!is_held()) expand_lines(space(), lines(), room.dense, stride());
      is_in_two ? multiply(room, room.sums) : multiply(room, c);
      if (!is_in_two && !is_mended()) return;
      const auto of_a = lines();
      using Lines = std::remove_const_t<decltype(of_a)>;
      const DenseProduct<layout, Lines, T, Sum, Out, Epilogue> product{of_a,
                                                                       b().values().data(),
                                                                       b_is_by_summed ? line_of_b() : 1,
                                                                       b_is_by_summed ? 1 : line_of_b(),
                                                                       count(),
                                                                       length(),
                                                                       c,
                                                                       statement_.accumulates(),
                                                                       epilogue_of(statement_)};
      is_in_two ? finish_sums(space(), product, room.sums) : replace_sums(space(), product);
    });
  }

  /// A factor as cuBLAS takes it, which stores matrices by columns: to it, the lines of C are columns.
  /// @param first   the variable of the factor's rows in cuBLAS's product
  /// @param stride  elements from one line to the next
  template <class A>
  static CublasFactor<T> factor(const T* values, char first, std::int64_t stride) {
    return {values, A::level_names[1] == first ? CUBLAS_OP_N : CUBLAS_OP_T, stride, 0};
  }
  /// The sums of A B.
  template <class To>
  void multiply(const Room& room, To* to) const {
    const T* const dense = is_held() ? reinterpret_cast<const T*>(held_.data()) : room.dense;
    constexpr char first_of_a = layout.a_has_lines ? summed : in_line,
                   first_of_b = layout.a_has_lines ? in_line : summed;
    const CublasFactor<T> of_a = factor<Sparse>(dense, first_of_a, stride()),
                          of_b = factor<DenseAccess>(b().values().data(), first_of_b, line_of_b());
    auto cublas = statement_.resources().scratch().template borrow<Cublas>();
    constexpr auto compute = is_in_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CublasType<T>::compute;
    gpu::multiply<compute>(*cublas, space(), {length(), count(), inner(), 1},
                           layout.a_has_lines ? of_b : of_a, layout.a_has_lines ? of_a : of_b, false, to);
  }

  const S& statement_;
  RoomOfPlan room_;           ///< for A with its zeros, unless it is held, and for sums
  Array<char, Memory> held_;  ///< A with its zeros
};

}  // namespace sporos::gpu
