// SPDX-License-Identifier: Apache-2.0
/// @file sums_first.hpp
/// A product with an epilogue, in two passes: first the sums of the product, by whichever candidate is
/// fastest, then the epilogue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../nest/bounds.hpp"
#include "../nest/nest_run.hpp"
#include "../protocol/candidate.hpp"
#include "../protocol/parts.hpp"
#include "epilogue.hpp"
#include "sums_of_product.hpp"
#include "target.hpp"

namespace sporos {

namespace detail {

/// Whether an expression contains an explicit sum.
template <class E>
constexpr bool has_inner_sum() {
  return is_reduction<E> || fold<E>([]<class... C>(TypeList<C...>) { return (has_inner_sum<C>() || ...); });
}

/// Whether a product that may lack terms is multiplied by literals alone, and is no divisor. Where it has no
/// terms the result must be zero, which zero times an infinite or NaN operand is not.
template <class Result, class E>
constexpr bool scales_what_is_there() {
  if constexpr (!has_factor<Result, E>() || AnyAccess<E>) {
    return true;
  } else {
    return fold<E>([]<class... C>(TypeList<C...>) {
      constexpr bool is_there = ((!has_factor<Result, C>() || is_present_everywhere<C>()) && ...);
      [[maybe_unused]] int at = 0;
      [[maybe_unused]] const auto is_harmless = [&]<class Child>(TypeList<Child>) {
        return has_factor<Result, Child>() ? at++ < E::factors : (++at, AnyLiteral<Child>);
      };
      return (scales_what_is_there<Result, C>() && ...) &&
             (sizeof...(C) < 2 || E::is_sum || is_there || (is_harmless(TypeList<C>{}) && ...));
    });
  }
}

}  // namespace detail

/// C(i, j) = map(f, sum(k, A(i, k) * B(k, j)) + b(j)) and the like, with C dense: right-hand sides made of
/// the sums of one product (epilogue.hpp), where the loop nest would compute each sum separately.
///
/// On a GPU it returns when the candidate for the sums does, possibly before the GPU has finished.
struct SumsFirst {
  static constexpr std::string_view name = "sums of the product, then the epilogue";
  static constexpr std::string_view takes =
      "a dense result made of an explicit sum over a product of tensors, dense operands and scalars";
  static constexpr bool deterministic = true;  ///< the candidate for the sums is asked for determinism too

  template <class S>
  static constexpr bool matches = [] {
    using Result = typename S::result_type;
    using Right = typename S::right_type;
    if constexpr (Result::format::is_dense && !Result::format::is_blocked && detail::has_inner_sum<Right>() &&
                  std::is_same_v<typename S::order, derived_order<Result, Right>> &&
                  factors_of_sums<S>::size > 0)
      return detail::scales_what_is_there<Result, Right>();
    else
      return false;
  }();
  template <class S>
  static constexpr bool replaces_nest_for = matches<S>;

  template <class S>
  static Offer cost(const S& statement, const Resources<typename S::space_type>& resources) {
    const double pass = static_cast<double>(statement.result().tensor().nnz()) *
                        (HostSpace<typename S::space_type> ? 0.5e-9 : 4e-12);
    const Cost sums = least_cost(Plan<S>(statement, resources).sums());
    return Cost{sums.once + pass, sums.again + pass};
  }

  template <class S>
  class Plan;
};

template <class S>
class SumsFirst::Plan {
  using Result = typename S::result_type;
  using Own = typename Result::tensor_type;
  using Sum = compute_t<Result, typename S::right_type>;
  using Sums = Tensor<Sum, typename Result::format, typename S::space_type>;

 public:
  Plan(const S& statement, const Resources<typename S::space_type>&)
      : statement_(statement),
        sums_(place_of_sums()),
        product_(statement, at_names_of(statement.result(), sums_),
                 bytes_of_sums() + EpilogueTarget<S>::bytes(statement)) {
    bounds_of(statement);  // throws ShapeError if extents do not match
  }

  /// The statement that computes the sums.
  auto sums() const { return product_.statement(); }

  /// Allocates the sums, and analyses their product.
  void prepare() {
    make_room();
    product_.prepare();
  }

  void run() {
    make_room();
    product_.run();
    finish();
  }
  void refill() {
    product_.refill();
    finish();
  }

  Bytes bytes() const {
    return {result().nnz(), result().bytes(),
            product_.workspace_bytes() + bytes_of_sums() + EpilogueTarget<S>::bytes(statement_)};
  }
  std::int64_t held_bytes() const { return product_.held_bytes() + bytes_of_sums(); }

  void explain(std::ostream& out) const {
    product_.explain(out);
    out << "  epilogue: applied in a second pass\n";
  }

 private:
  const Own& result() const { return statement_.result().tensor(); }

  /// Whether the sums are formed in the result's own values.
  static bool are_in_result(const S& statement) {
    return std::is_same_v<Sums, Own> && !statement.accumulates() && !reads_result(statement);
  }
  /// The tensor that takes the sums: the result, or one like it, with as many values that have no memory yet.
  Sums place_of_sums() const {
    if constexpr (std::is_same_v<Sums, Own>)
      if (are_in_result(statement_)) return result();
    const Sums out;
    out.replace(result().extents(), result().levels(),
                Array<Sum, typename Sums::memory_space>(static_cast<Sum*>(nullptr),
                                                        static_cast<std::size_t>(result().nnz())));
    return out;
  }
  void make_room() const {
    if (are_in_result(statement_) || sums_.values().data() != nullptr) return;
    using Memory = typename Sums::memory_space;
    sums_.replace(result().extents(), result().levels(),
                  make_array<Sum, Memory>("sporos::sums", result().nnz()));
  }
  std::int64_t bytes_of_sums() const {
    return are_in_result(statement_) ? 0 : array_bytes<Sum>(result().nnz());
  }
  void finish() const {
    const EpilogueTarget<S> target(statement_);
    apply_epilogue(statement_, static_cast<const Sum*>(sums_.values().data()), target.data());
    target.finish();
  }

  template <char... Names>
  static auto at_names_of(const Access<Own, Names...>&, const Sums& sums) {
    return Access<Sums, Names...>(sums);
  }
  const S& statement_;
  Sums sums_;
  detail::SumsOfProduct<S, decltype(at_names_of(std::declval<const Result&>(), std::declval<const Sums&>()))>
      product_;
};

}  // namespace sporos
