// SPDX-License-Identifier: Apache-2.0
/// @file candidate.hpp
/// The product of two dense matrices on the GPU, as a candidate for statements.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../../nest/bounds.hpp"
#include "../../operands/cuda/operands.hpp"
#include "../../protocol/candidate.hpp"
#include "../../results/dense_target.hpp"
#include "../pattern.hpp"
#include "cublas.hpp"
#include "cublas_seconds.hpp"

namespace sporos::gpu {

/// C(i, j) = A(i, k) * B(k, j), all dense and each stored along either mode, batches C(b, i, j) of such
/// products, or an epilogue of them (kernels/epilogue/epilogue.hpp), by cuBLAS. Sums of floats are formed in
/// float, from products in tf32 only if the statement allows it; sums of half and bfloat16 are formed in
/// float.
///
/// Returns before the GPU has finished. Later work on the same space instance runs after it; copies to the
/// host and Kokkos::fence() wait for it.
struct GemmByCublas {
  struct Operands : GpuMatrixOperands {
    template <class C, class A, class B>
    static constexpr bool computes =
        std::is_same_v<typename A::value_type, typename B::value_type> &&
        CublasType<typename A::value_type>::is &&
        (std::is_same_v<typename C::value_type, typename A::value_type> ||
         (is_narrow_float_v<typename A::value_type> && std::is_same_v<typename C::value_type, float>));
  };
  using Pattern = GemmPattern<Operands>;
  static constexpr std::string_view name = "dense product by cuBLAS";
  static constexpr std::string_view takes =
      "C(i, j) = A(i, k) * B(k, j) or C(b, i, j) = A(b, i, k) * B(b, k, j), all dense, of half, bfloat16, "
      "float, double or complex values in the memory of the GPU";
  static constexpr bool deterministic = true;
  static constexpr bool replaces_nest = true;

  template <class S>
  static constexpr bool matches = Pattern::template matches<S>;

  template <class S>
  static Offer cost(const S& statement, const Resources<Kokkos::Cuda>& resources) {
    return Cost{Plan<S>(statement, resources).seconds()};
  }

  template <class S>
  class Plan;
};

template <class S>
class GemmByCublas::Plan {
  using Result = typename S::result_type;
  using Left = std::remove_cvref_t<decltype(Pattern::left(std::declval<const S&>()))>;
  using Right = std::remove_cvref_t<decltype(Pattern::right(std::declval<const S&>()))>;
  using T = typename Left::value_type;
  using Out = typename Result::value_type;
  using Sum = accumulate_t<T>;
  static constexpr bool is_in_tf32 = S::schedule::allows_tf32 && std::is_same_v<T, float>;
  static constexpr bool has_epilogue = !decltype(epilogue_of(std::declval<const S&>()))::is_identity;

  // The variables, taken from the levels of the result.
  static constexpr int of_batch = Result::level_names.size - 2;
  static constexpr char rows = Result::level_names[of_batch], columns = Result::level_names[of_batch + 1];
  static constexpr char inner = [] {
    for (int at = 0; at < Left::level_names.size; ++at)
      if (!Result::level_names.contains(Left::level_names[at])) return Left::level_names[at];
    return ' ';
  }();

 public:
  Plan(const S& statement, const Resources<Kokkos::Cuda>&) : statement_(statement) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  /// Expected seconds of a product, and of the pass that applies an epilogue.
  double seconds() const {
    const CublasShape shape = this->shape();
    const auto batch = static_cast<double>(shape.batch);
    const auto elements = static_cast<double>(left().nnz()) + static_cast<double>(right().nnz()) +
                          static_cast<double>(result().nnz()) * (has_epilogue ? 3 : 1);
    return cublas_seconds(cublas_arithmetic<T>(is_in_tf32), static_cast<double>(shape.m) * batch,
                          static_cast<double>(shape.n), static_cast<double>(shape.k),
                          elements * static_cast<double>(sizeof(T)));
  }

  /// Allocates what runs need.
  void prepare() {
    if (result().nnz() == 0 || shape().k == 0) return;
    room_.prepare(statement_.resources().scratch(), bytes_of_sums());
    statement_.resources().scratch().template borrow<Cublas>()->on(statement_.resources().space());
  }

  void run() {
    if (result().nnz() == 0) return;
    const CublasShape shape = this->shape();
    const sporos::detail::DenseTarget<S> target(statement_);
    if (shape.k == 0) {
      apply_epilogue<S, Sum>(statement_, nullptr, target.data());
    } else if constexpr (has_epilogue) {
      room_.with(statement_.resources().scratch(), bytes_of_sums(), [&](char* memory) {
        auto* const sums = reinterpret_cast<Sum*>(memory);
        multiply(shape, sums);
        apply_epilogue(statement_, static_cast<const Sum*>(sums), target.data());
      });
    } else {
      multiply(shape, target.data());
    }
    target.finish();
  }

  Bytes bytes() const {
    return {result().nnz(), result().bytes(),
            sporos::detail::DenseTarget<S>::bytes(statement_) + with_room_to_grow(bytes_of_sums()) +
                Cublas::workspace_bytes};
  }
  void explain(std::ostream& out) const {
    const CublasShape shape = this->shape();
    out << "  result: located, by cuBLAS";
    if (is_in_tf32) out << ", in tf32";
    if (shape.batch > 1) out << ", a batch of " << shape.batch;
    out << '\n';
    if (has_epilogue) out << "  epilogue: applied in a second pass\n";
  }

 private:
  const auto& left() const { return Pattern::left(statement_).tensor(); }
  const auto& right() const { return Pattern::right(statement_).tensor(); }
  const auto& result() const { return statement_.result().tensor(); }
  /// The bytes of the sums, if an epilogue is applied to them.
  std::int64_t bytes_of_sums() const { return has_epilogue ? array_bytes<Sum>(result().nnz()) : 0; }

  template <class A>
  static std::int64_t extent(const A& access, char variable) {
    return access.tensor().extent(A::names.find(variable));
  }
  /// cuBLAS stores matrices by columns: to it, the rows of the result are columns.
  CublasShape shape() const {
    const auto& c = statement_.result();
    return {extent(c, columns), extent(c, rows), extent(Pattern::left(statement_), inner),
            of_batch == 1 ? extent(c, Result::level_names[0]) : 1};
  }

  /// @param first  the variable of the factor's rows in cuBLAS's product
  template <class A>
  static CublasFactor<T> factor(const A& access, char first) {
    constexpr int last = A::level_names.size - 1;
    const std::int64_t line = extent(access, A::level_names[last]);
    const bool has_batch = A::level_names.size == 3;
    return {access.tensor().values().data(), A::level_names[last] == first ? CUBLAS_OP_N : CUBLAS_OP_T, line,
            has_batch ? line * extent(access, A::level_names[last - 1]) : 0};
  }

  template <class To>
  void multiply(const CublasShape& shape, To* to) const {
    auto cublas = statement_.resources().scratch().template borrow<Cublas>();
    constexpr auto compute = is_in_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CublasType<T>::compute;
    gpu::multiply<compute>(*cublas, statement_.resources().space(), shape,
                           factor(Pattern::left(statement_), columns),
                           factor(Pattern::right(statement_), inner),
                           std::is_same_v<To, Out> && !has_epilogue && statement_.accumulates(), to);
  }

  const S& statement_;
  RoomOfPlan room_;  ///< for the sums
};

}  // namespace sporos::gpu
