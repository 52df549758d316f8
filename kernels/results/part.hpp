// SPDX-License-Identifier: Apache-2.0
/// @file part.hpp
/// The candidate for results that are parts of dense tensors: rows, blocks, diagonals.
///
/// The values of the part are computed by a statement with a dense result of the part's own shape, which any
/// candidate may run. If they are contiguous in the tensor, as those of rows of a row-major matrix are, that
/// result is the memory of the part itself; otherwise it is a separate tensor, which is copied to its places.
/// The rest of the tensor stays as it is.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../core/few_steps.hpp"
#include "../../core/part.hpp"
#include "../../core/statement.hpp"
#include "../../formats/named.hpp"
#include "../../formats/position.hpp"
#include "../../formats/print.hpp"
#include "../nest/bounds.hpp"
#include "../nest/nest_run.hpp"
#include "../protocol/candidate.hpp"
#include "../protocol/demands.hpp"
#include "../protocol/parts.hpp"

namespace sporos {

namespace detail {

constexpr NameList each_once(const NameList& names) {
  NameList out;
  for (int at = 0; at < names.size; ++at) out.push_new(names[at]);
  return out;
}

/// A dense tensor over the variables of a part: each variable is a mode, and they are stored in the order in
/// which the part's tensor stores them.
template <class A>
struct ShapeOfPart {
  static constexpr NameList modes = each_once(A::names);
  static constexpr NameList stored = each_once(A::level_names);
  static constexpr int order = modes.size;

  template <class Places>
  struct Dense;
  template <int... K>
  struct Dense<std::integer_sequence<int, K...>> {
    using type = DenseTensor<order, ModeOrder<modes.find(stored[K])...>>;
  };
  using format = typename Dense<std::make_integer_sequence<int, order>>::type;
  using tensor = Tensor<typename A::value_type, format, typename A::tensor_type::space_type>;

  template <class Places>
  struct Accessed;
  template <int... Mode>
  struct Accessed<std::integer_sequence<int, Mode...>> {
    using type = Access<tensor, modes[Mode]...>;
  };
  using access = typename Accessed<std::make_integer_sequence<int, order>>::type;
};

/// Where the values of a part, in the order in which they are stored, are in its tensor.
template <class A>
struct PlacesOfPart {
  using F = typename A::format;
  using Shape = ShapeOfPart<A>;
  static constexpr std::size_t capacity = Shape::order > 0 ? std::size_t{Shape::order} : 1;

  TensorView<typename A::value_type, F> tensor;
  Extents<F::order> first;
  std::int64_t extents[capacity];  ///< extents of the variables, outermost first

  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t at) const {
    std::int64_t coordinates[capacity] = {};
    for (int variable = Shape::order - 1; variable >= 0; --variable) {
      coordinates[variable] = at % extents[variable];
      at /= extents[variable];
    }
    Extents<F::order> coordinate = first;
    move_by<0>(coordinates, coordinate);
    return position_of(tensor, F::level_coordinates(coordinate));
  }

  std::int64_t size() const {
    std::int64_t out = 1;
    for (int variable = 0; variable < Shape::order; ++variable) out *= extents[variable];
    return out;
  }

  /// Whether the values are contiguous.
  bool are_contiguous() const {
    if (size() <= 1) return true;
    if (F::is_blocked) return false;
    const std::int64_t begin = (*this)(0);
    std::int64_t stride = 1;
    for (int variable = Shape::order - 1; variable >= 0; --variable) {
      if (extents[variable] > 1 && (*this)(stride)-begin != stride) return false;
      stride *= extents[variable];
    }
    return true;
  }

 private:
  template <int Mode>
  KOKKOS_INLINE_FUNCTION static void move_by(const std::int64_t* coordinates, Extents<F::order>& to) {
    if constexpr (Mode < F::order) {
      constexpr char name = A::names[Mode];
      if constexpr (name != no_variable) {
        constexpr int variable = Shape::stored.find(name);
        to[std::size_t{Mode}] += coordinates[variable];
      }
      move_by<Mode + 1>(coordinates, to);
    }
  }
};

/// Copies the values of a part to their places in its tensor, or back.
template <class A, bool ToPlaces>
struct CopyPart {
  using Value = typename A::value_type;

  PlacesOfPart<A> places;
  Value* whole;
  Value* part;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const {
    if constexpr (ToPlaces)
      whole[places(at)] = part[at];
    else
      part[at] = whole[places(at)];
  }
};

}  // namespace detail

/// D(2, j) = …, D(i, i) += …, block(D, …)(i, j) = …: results that are parts of dense tensors.
struct IntoPart {
  static constexpr std::string_view name = "part of a dense tensor";
  static constexpr std::string_view takes = "results that are parts of dense tensors";
  static constexpr bool deterministic = true;  ///< the candidate for the values is asked for determinism too
  static constexpr bool any_schedule = true;
  static constexpr double seconds_of_term = 2e-9;

  template <class S>
  static constexpr bool matches = S::result_type::is_part && S::result_type::format::is_dense;

  template <class S>
  class Plan;
};

template <class S>
class IntoPart::Plan {
  using Result = typename S::result_type;
  using Shape = detail::ShapeOfPart<Result>;
  using Values = typename Shape::tensor;
  using Space = typename S::space_type;
  using Value = typename Result::value_type;
  using Memory = typename Values::memory_space;
  using Statement = sporos::Statement<typename Shape::access, typename S::right_type, typename S::order,
                                      typename S::schedule>;

 public:
  Plan(const S& statement, const Resources<Space>&)
      : statement_(statement),
        places_(places_of(statement)),
        is_in_place_(places_.are_contiguous()),
        values_(without_memory()) {
    if (is_in_place_) refer_to_part();
  }

  void prepare() { plan_.emplace(of_values()); }

  void run() {
    make_room();
    plan_ ? plan_->run() : of_values().run();
    if (!is_in_place_) copy<true>();
    if (!plan_) give_back();
  }

  Bytes bytes() const {
    const auto& result = statement_.result().tensor();
    return {places_.size(), result.bytes(), detail::workspace_of_part(of_values(), plan_) + own_bytes()};
  }
  std::int64_t held_bytes() const { return (plan_ ? plan_->bytes() : 0) + own_bytes(); }

  void explain(std::ostream& out) const {
    if (is_in_place_)
      out << "  the part is written in place\n";
    else
      out << "  the part is computed into a tensor of its own, " << bytes_text(own_bytes())
          << ", and copied to its places\n";
    const auto values = of_values();
    with_candidate<void>(values, Use::once, [&]<class K>() {
      out << "  its values: " << K::name << '\n';
      typename K::template Plan<Statement>(values, values.resources()).explain(out);
    });
  }

 private:
  /// The statement that computes the values of the part.
  Statement of_values() const {
    return {typename Shape::access(values_), statement_.right(), statement_.options(),
            statement_.accumulates(), detail::besides(statement_.resources(), own_bytes())};
  }

  /// @throws ShapeError if the tensor does not have the part, or a variable has two extents
  static detail::PlacesOfPart<Result> places_of(const S& statement) {
    const auto bounds = bounds_of(statement);
    const auto& part = statement.result().tensor();
    detail::PlacesOfPart<Result> out{detail::whole_of(part).view(), {}, {}};
    if constexpr (is_part_v<typename Result::tensor_type>) out.first = part.first();
    for (int variable = 0; variable < Shape::order; ++variable)
      out.extents[variable] = bounds.extent[S::order::names.find(Shape::stored[variable])];
    return out;
  }

  Values without_memory() const {
    Extents<Shape::order> extents{};
    for (int mode = 0; mode < Shape::order; ++mode)
      extents[static_cast<std::size_t>(mode)] = places_.extents[Shape::stored.find(Shape::modes[mode])];
    typename Values::level_storage levels;
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      ((std::get<K>(levels).extent = places_.extents[K]), ...);
    }(std::make_index_sequence<static_cast<std::size_t>(Shape::order)>{});
    return Values(extents, levels, array_at(nullptr));
  }
  Array<Value, Memory> array_at(Value* values) const {
    return Array<Value, Memory>(values, static_cast<std::size_t>(places_.size()));
  }
  void replace(const Array<Value, Memory>& values) {
    values_.replace(values_.extents(), values_.levels(), values);
  }

  Value* whole() const { return detail::whole_of(statement_.result().tensor()).values().data(); }
  void refer_to_part() { replace(array_at(places_.size() > 0 ? whole() + places_(0) : nullptr)); }

  /// Gives the values their memory; if the statement accumulates, with the present values of the part in it.
  void make_room() {
    if (is_in_place_) {
      refer_to_part();
      return;
    }
    if (values_.values().data() == nullptr)
      replace(make_array<Value, Memory>("sporos::part", places_.size()));
    if (statement_.accumulates()) copy<false>();
  }
  void give_back() {
    if (!is_in_place_) replace(array_at(nullptr));
  }

  template <bool ToPlaces>
  void copy() const {
    const Space& space = statement_.resources().space();
    detail::for_each_element(space, "sporos::copy part", places_.size(),
                             detail::CopyPart<Result, ToPlaces>{places_, whole(), values_.values().data()});
    space.fence("sporos::copy part");
  }

  std::int64_t own_bytes() const { return is_in_place_ ? 0 : array_bytes<Value>(places_.size()); }

  const S& statement_;
  detail::PlacesOfPart<Result> places_;
  bool is_in_place_;
  Values values_;
  std::optional<sporos::Plan<Statement>> plan_;
};

}  // namespace sporos
