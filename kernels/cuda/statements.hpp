// SPDX-License-Identifier: Apache-2.0
/// @file statements.hpp
/// Which statements the kernels of this folder compute.
///
/// SpMV, SDDMM and MTTKRP leave their work to the GPU and return: what follows on the default stream of
/// Kokkos runs behind it, and copies to the host wait for it, as do Kokkos::fence() and the end of an array's
/// life.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../core/statement.hpp"
#include "../../formats/named.hpp"
#include "../compute_type.hpp"
#include "../lower.hpp"
#include "add.hpp"
#include "mttkrp.hpp"
#include "operands.hpp"
#include "sddmm.hpp"
#include "spgemm.hpp"
#include "spmv.hpp"

namespace sporos::cuda {

/// y(i) = A(i, j) * x(j), A in CSR: spmv.hpp.
struct SpmvStatement {
  static constexpr std::string_view name = "SpMV on the GPU";
  static constexpr bool is_deterministic = true;

  template <class Result, class A, class X>
  static constexpr bool fits() {
    if constexpr (detail::is_csr<typename A::format> && std::is_same_v<typename X::format, DenseVector>)
      return A::names[0] == Result::names[0] && A::names[1] == X::names[0] && A::names[0] != A::names[1];
    else
      return false;
  }
  /// Which of two factors is the matrix; -1 where the product is no such one.
  template <class S, class Operands = detail::ListOf<detail::factors_of<typename S::right_type>>>
  static constexpr int matrix_place() {
    if constexpr (Operands::size == 2) {
      using Result = typename S::result_type;
      if constexpr (std::is_same_v<typename Result::format, DenseVector>) {
        using First = typename Operands::template at<0>;
        using Second = typename Operands::template at<1>;
        if (fits<Result, First, Second>()) return 0;
        if (fits<Result, Second, First>()) return 1;
      }
    }
    return -1;
  }
  template <class S>
  static constexpr bool computes() {
    return matrix_place<S>() >= 0;
  }
  template <class S>
  static constexpr bool matches = detail::matches<SpmvStatement, S>();

  template <class S>
  static bool run(const S& statement) {
    constexpr int place = matrix_place<S>();
    const auto& x = detail::factor<1 - place>(statement.right()).tensor();
    const auto& y = statement.result().tensor();
    bounds_of(statement);
    if (detail::reads_result(statement)) return false;
    const auto a = detail::csr_view(detail::factor<place>(statement.right()).tensor());
    const Kokkos::Cuda space;
    spmv<detail::compute_of<S>>(space,
                                SpmvArguments{a.rows, a.positions, a.coordinates, a.values, x.values().data(),
                                              y.values().data(), statement.accumulates()},
                                a.nonzeros, shared_workspace<SpmvWorkspace>());
    return true;
  }
};

/// A(i, j) = B(i, j) * C(i, k) * D(j, k) with A and B in CSR, C and D dense, factors in any order, C and D
/// stored along either mode: sddmm.hpp.
struct SddmmStatement {
  static constexpr std::string_view name = "SDDMM on the GPU";
  static constexpr bool is_deterministic = true;

  struct Places {
    int pattern = -1;
    int rows = -1;     ///< the factor that has i
    int columns = -1;  ///< the factor that has j
  };
  template <class S, class Operands = detail::ListOf<detail::factors_of<typename S::right_type>>>
  static constexpr Places places() {
    Places out;
    if constexpr (Operands::size == 3) {
      using Result = typename S::result_type;
      if constexpr (detail::is_csr<typename Result::format>) {
        constexpr char i = Result::names[0];
        constexpr char j = Result::names[1];
        char inner[3] = {};
        const auto look = [&]<int K>() {
          using A = typename Operands::template at<K>;
          if constexpr (std::is_same_v<typename A::format, typename Result::format>) {
            if (A::names == Result::names && i != j &&
                std::is_same_v<typename A::value_type, typename Result::value_type>)
              out.pattern = K;
          } else if constexpr (A::format::is_dense && A::format::order == 2 && !A::format::is_blocked) {
            const int at = A::names[0] == i || A::names[0] == j ? 0 : 1;
            (A::names[at] == i ? out.rows : out.columns) = K;
            const char other = A::names[1 - at];
            if ((A::names[at] == i || A::names[at] == j) && other != i && other != j) inner[K] = other;
          }
        };
        look.template operator()<0>();
        look.template operator()<1>();
        look.template operator()<2>();
        if (out.pattern < 0 || out.rows < 0 || out.columns < 0 || inner[out.rows] == 0 ||
            inner[out.rows] != inner[out.columns])
          return {};
        return out;
      }
    }
    return out;
  }
  template <class S>
  static constexpr bool same_dense_values() {
    using Operands = detail::ListOf<detail::factors_of<typename S::right_type>>;
    return std::is_same_v<typename Operands::template at<places<S>().rows>::value_type,
                          typename Operands::template at<places<S>().columns>::value_type>;
  }
  template <class S>
  static constexpr bool computes() {
    if constexpr (places<S>().pattern >= 0)
      return same_dense_values<S>();
    else
      return false;
  }
  template <class S>
  static constexpr bool matches = detail::matches<SddmmStatement, S>();

  template <class S>
  static bool run(const S& statement) {
    static constexpr Places at = places<S>();
    constexpr char i = S::result_type::names[0];
    constexpr char j = S::result_type::names[1];
    const auto& pattern = detail::factor<at.pattern>(statement.right()).tensor();
    const auto& c = detail::factor<at.rows>(statement.right());
    const auto& d = detail::factor<at.columns>(statement.right());
    const auto& result = statement.result().tensor();
    using Tensor = std::remove_cvref_t<decltype(result)>;
    using T = typename std::remove_cvref_t<decltype(c.tensor())>::value_type;
    bounds_of(statement);
    const auto b = detail::csr_view(pattern);
    const std::int64_t inner = b.rows > 0 ? c.tensor().nnz() / b.rows : 0;

    // Both dense matrices with the summed mode contiguous: transposed where they are not.
    const Kokkos::Cuda space;
    constexpr bool turn_c = std::remove_cvref_t<decltype(c)>::level_names[0] != i;
    constexpr bool turn_d = std::remove_cvref_t<decltype(d)>::level_names[0] != j;
    const auto cut = [&](char* memory) {
      Layout layout(memory);
      T* const turned_c = turn_c ? layout.template take<T>(c.tensor().nnz()) : nullptr;
      T* const turned_d = turn_d ? layout.template take<T>(d.tensor().nnz()) : nullptr;
      return std::tuple(layout.bytes(), turned_c, turned_d);
    };
    const auto [bytes, turned_c, turned_d] = cut(shared_workspace().reserve(std::get<0>(cut(nullptr))));
    if (turn_c) transpose(space, inner, b.rows, c.tensor().values().data(), turned_c);
    if (turn_d) transpose(space, inner, b.columns, d.tensor().values().data(), turned_d);

    // The result's own values where nobody else has them and nothing reads them.
    auto values = result.values();
    if (result.nnz() != b.nonzeros || values.use_count() > 2 || values.use_count() == 0 ||
        detail::reads_result(statement))
      values = make_array<typename Tensor::value_type, Memory>("sporos::Tensor values", b.nonzeros);
    sddmm<detail::compute_of<S>>(
        space,
        SddmmArguments{b.rows, b.nonzeros, inner, b.positions, b.coordinates, b.values,
                       turn_c ? static_cast<const T*>(turned_c) : c.tensor().values().data(),
                       turn_d ? static_cast<const T*>(turned_d) : d.tensor().values().data(), values.data()});
    result.replace(result.extents(), shared_levels(pattern), values);
    return true;
  }

 private:
  /// The levels of a pattern for a second tensor: the same arrays where they are counted, else a copy.
  template <class TensorType>
  static auto shared_levels(const TensorType& pattern) {
    if (pattern.template level<1>().positions.use_count() > 0) return pattern.levels();
    return pattern.clone().levels();
  }
};

/// M(i, r) = T(i, k, l, ...) * B(k, r) * C(l, r) * ..., T in coordinates, compressed fibers or CSR, for any
/// mode i of it; M and the factors row-major: mttkrp.hpp.
struct MttkrpStatement {
  static constexpr std::string_view name = "MTTKRP on the GPU";
  static constexpr bool is_deterministic = false;

  /// A format whose nonzeros' coordinates can be found from their positions.
  template <class F>
  static constexpr bool is_tree() {
    if constexpr (F::is_blocked || F::is_dense || F::levels != F::order) {
      return false;
    } else {
      for (int k = 1; k < F::levels; ++k)
        if (F::properties[static_cast<std::size_t>(k)].full) return false;
      return true;
    }
  }
  struct Places {
    int tensor = -1;
    int result_level = -1;
    int factor_of_level[NameList::capacity] = {};  ///< -1 for the result's level
  };
  template <class S, class Operands = detail::ListOf<detail::factors_of<typename S::right_type>>>
  static constexpr Places places() {
    Places out;
    if constexpr (Operands::size >= 2) {
      using Result = typename S::result_type;
      if constexpr (std::is_same_v<typename Result::format, DenseMatrix<>>) {
        find_tensor<Result, Operands>(out, std::make_integer_sequence<int, Operands::size>{});
        return out;
      }
    }
    return out;
  }
  template <class S>
  static constexpr bool computes() {
    return places<S>().tensor >= 0;
  }
  template <class S>
  static constexpr bool matches = detail::matches<MttkrpStatement, S>();

  template <class S>
  static bool run(const S& statement) {
    static constexpr Places at = places<S>();
    const auto& tensor = detail::factor<at.tensor>(statement.right()).tensor();
    using Tensor = std::remove_cvref_t<decltype(tensor)>;
    using T = typename Tensor::value_type;
    const auto& result = statement.result().tensor();
    bounds_of(statement);
    if (detail::reads_result(statement)) return false;

    MttkrpArguments<typename Tensor::view_type, T> arguments{};
    arguments.tensor = tensor.view();
    arguments.columns = result.extent(1);
    arguments.result = result.values().data();
    std::int64_t positions = 1;
    tensor.for_each_level([&](auto level, const auto& storage) {
      constexpr int k = decltype(level)::value;
      arguments.sizes[k] = positions = storage.size(positions);
      if constexpr (k != at.result_level)
        arguments.factors[k] =
            detail::factor<at.factor_of_level[k]>(statement.right()).tensor().values().data();
    });
    const Kokkos::Cuda space;
    if (!statement.accumulates()) zero(space, arguments.result, result.nnz());
    mttkrp<at.result_level>(space, arguments);
    return true;
  }

 private:
  template <class Result, class Operands, int... K>
  static constexpr void find_tensor(Places& out, std::integer_sequence<int, K...>) {
    int sparse = 0;
    const auto look = [&]<int At>() {
      using A = typename Operands::template at<At>;
      using Value = typename A::value_type;
      if constexpr (is_tree<typename A::format>()) {
        ++sparse;
        using F = typename A::format;
        constexpr int levels = F::levels;
        constexpr bool summable = std::is_same_v<Value, typename Result::value_type> &&
                                  std::is_same_v<Value, accumulate_t<Value>> && !std::is_same_v<Value, bool>;
        if (!summable || levels + 1 > NameList::capacity || Operands::size != levels) return;
        int used = 0;
        int level_of_result = -1;
        for (int k = 0; k < levels; ++k) {
          const char name = A::level_names[k];
          out.factor_of_level[k] = -1;
          if (name == Result::names[0]) {
            if (level_of_result >= 0) return;
            level_of_result = k;
            continue;
          }
          if (name == Result::names[1]) return;
          for (int before = 0; before < k; ++before)
            if (A::level_names[before] == name) return;
          const int places[] = {
              (is_factor<typename Operands::template at<K>, Value>(name, Result::names[1]) ? K : -1)...};
          for (const int place : places)
            if (place >= 0 && out.factor_of_level[k] < 0) out.factor_of_level[k] = place;
          if (out.factor_of_level[k] < 0) return;
          ++used;
        }
        if (level_of_result < 0 || used != levels - 1 || Result::names[0] == Result::names[1]) return;
        out.result_level = level_of_result;
        out.tensor = At;
      }
    };
    (look.template operator()<K>(), ...);
    if (sparse != 1) out.tensor = -1;
  }
  template <class A, class Value>
  static constexpr bool is_factor(char row, char column) {
    if constexpr (std::is_same_v<typename A::format, DenseMatrix<>> &&
                  std::is_same_v<typename A::value_type, Value>)
      return A::names[0] == row && A::names[1] == column;
    else
      return false;
  }
};

/// A(i, j) = B(i, k) * C(k, j), all in CSR: spgemm.hpp.
struct SpgemmStatement {
  static constexpr std::string_view name = "SpGEMM on the GPU";
  static constexpr bool is_deterministic = false;

  template <class Result, class B, class C>
  static constexpr bool fits() {
    if constexpr (detail::is_csr<typename B::format> && detail::is_csr<typename C::format>)
      return B::names[0] == Result::names[0] && B::names[1] == C::names[0] &&
             C::names[1] == Result::names[1] && Result::names[0] != Result::names[1] &&
             !Result::names.contains(B::names[1]);
    else
      return false;
  }
  template <class S, class Operands = detail::ListOf<detail::factors_of<typename S::right_type>>>
  static constexpr int left_place() {
    if constexpr (Operands::size == 2) {
      using Result = typename S::result_type;
      using Value = typename Result::value_type;
      if constexpr (detail::is_csr<typename Result::format> && std::is_same_v<detail::compute_of<S>, Value> &&
                    !std::is_same_v<Value, bool>) {
        using First = typename Operands::template at<0>;
        using Second = typename Operands::template at<1>;
        if (fits<Result, First, Second>()) return 0;
        if (fits<Result, Second, First>()) return 1;
      }
    }
    return -1;
  }
  template <class S>
  static constexpr bool computes() {
    return left_place<S>() >= 0;
  }
  template <class S>
  static constexpr bool matches = detail::matches<SpgemmStatement, S>();

  template <class S>
  static bool run(const S& statement) {
    constexpr int place = left_place<S>();
    bounds_of(statement);
    const auto b = detail::csr_view(detail::factor<place>(statement.right()).tensor());
    const auto c = detail::csr_view(detail::factor<1 - place>(statement.right()).tensor());
    const auto& result = statement.result().tensor();
    using New = detail::NewCsr<std::remove_cvref_t<decltype(result)>>;
    New made(result.extents());
    const Kokkos::Cuda space;
    Spgemm<detail::compute_of<S>, std::remove_const_t<decltype(b)>, std::remove_const_t<decltype(c)>,
           typename New::View>
        product(space, b, c, shared_workspace<SpgemmWorkspace>());
    const std::int64_t nonzeros = product.count(made.positions());
    product.fill(made.make_room(nonzeros));
    made.put_into(result);
    space.fence("sporos::spgemm");
    return true;
  }
};

/// A(i, j) = ± b * B(i, j) ± c * C(i, j) with scalars b and c or without, all in CSR: add.hpp.
struct AddStatement {
  static constexpr std::string_view name = "the sparse sum on the GPU";
  static constexpr bool is_deterministic = true;

  /// A term of the sum: what it is an access of, and its coefficient.
  template <class E>
  struct Term {
    using access = void;
  };
  template <class TensorType, char... Names>
  struct Term<Access<TensorType, Names...>> {
    using access = Access<TensorType, Names...>;
    static const access& of(const access& e) { return e; }
    template <class Compute>
    static Compute coefficient(const access&) {
      return Compute(1);
    }
  };
  template <class E>
    requires(!std::is_void_v<typename Term<E>::access>)
  struct Term<Negation<E>> {
    using access = typename Term<E>::access;
    static const access& of(const Negation<E>& e) { return Term<E>::of(e.operand); }
    template <class Compute>
    static Compute coefficient(const Negation<E>& e) {
      return -Term<E>::template coefficient<Compute>(e.operand);
    }
  };
  template <class E, class T>
    requires(!std::is_void_v<typename Term<E>::access>)
  struct Term<Product<E, Literal<T>>> {
    using access = typename Term<E>::access;
    static const access& of(const Product<E, Literal<T>>& e) { return Term<E>::of(e.left); }
    template <class Compute>
    static Compute coefficient(const Product<E, Literal<T>>& e) {
      return Term<E>::template coefficient<Compute>(e.left) * static_cast<Compute>(e.right.value);
    }
  };
  template <class T, class E>
    requires(!std::is_void_v<typename Term<E>::access>)
  struct Term<Product<Literal<T>, E>> {
    using access = typename Term<E>::access;
    static const access& of(const Product<Literal<T>, E>& e) { return Term<E>::of(e.right); }
    template <class Compute>
    static Compute coefficient(const Product<Literal<T>, E>& e) {
      return static_cast<Compute>(e.left.value) * Term<E>::template coefficient<Compute>(e.right);
    }
  };

  template <class S, class E>
  static constexpr bool is_term() {
    using Result = typename S::result_type;
    using A = typename Term<E>::access;
    if constexpr (std::is_void_v<A>)
      return false;
    else
      return detail::is_csr<typename A::format> && A::names == Result::names && A::names[0] != A::names[1];
  }
  template <class S, class L, class R>
  static constexpr bool is_sum_of_two(const Sum<L, R>*) {
    return is_term<S, L>() && is_term<S, R>();
  }
  template <class S>
  static constexpr bool is_sum_of_two(const void*) {
    return false;
  }
  template <class S>
  static constexpr bool computes() {
    using Result = typename S::result_type;
    if constexpr (detail::is_csr<typename Result::format> &&
                  !std::is_same_v<typename Result::value_type, bool>)
      return is_sum_of_two<S>(static_cast<const typename S::right_type*>(nullptr));
    else
      return false;
  }
  template <class S>
  static constexpr bool matches = detail::matches<AddStatement, S>();

  template <class S>
  static bool run(const S& statement) {
    using Left = std::remove_cvref_t<decltype(statement.right().left)>;
    using Right = std::remove_cvref_t<decltype(statement.right().right)>;
    using Compute = detail::compute_of<S>;
    bounds_of(statement);
    const auto b = detail::csr_view(Term<Left>::of(statement.right().left).tensor());
    const auto c = detail::csr_view(Term<Right>::of(statement.right().right).tensor());
    const auto& result = statement.result().tensor();
    using New = detail::NewCsr<std::remove_cvref_t<decltype(result)>>;
    New made(result.extents());
    const Kokkos::Cuda space;
    SparseSum<Compute, std::remove_const_t<decltype(b)>, std::remove_const_t<decltype(c)>, typename New::View>
        sum(space, b, c, shared_workspace());
    const std::int64_t nonzeros = sum.count(made.positions());
    sum.fill(made.make_room(nonzeros), Term<Left>::template coefficient<Compute>(statement.right().left),
             Term<Right>::template coefficient<Compute>(statement.right().right));
    made.put_into(result);
    space.fence("sporos::add");
    return true;
  }
};

}  // namespace sporos::cuda
