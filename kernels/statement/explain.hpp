// SPDX-License-Identifier: Apache-2.0
/// @file explain.hpp
/// Says in words what a statement will do before it runs: its loops, what each operand does at each of them,
/// how the result is made, and the bytes that are read and needed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../../core/statement.hpp"
#include "../../formats/format_name.hpp"
#include "../../formats/print.hpp"
#include "../nest/lower.hpp"
#include "candidates.hpp"
#include "compute_type.hpp"
#include "readable.hpp"

namespace sporos {

namespace detail {

/// What a loop runs through: letters of the operands that are walked, met or merged; `everything` for the
/// whole extent; `absent` where the variable does not stand in the expression at all.
struct Domain {
  static constexpr std::string_view everything = "";
  static constexpr std::string_view absent = "-";

  char variable;
  bool reduced;  ///< a reduction runs over each term of a sum by itself, so terms without the variable do not
                 ///< matter
  TensorLetters& letters;

  template <class TensorType, char... Names>
  std::string of(const Access<TensorType, Names...>& access) {
    using A = Access<TensorType, Names...>;
    if (!A::names.contains(variable)) return std::string(absent);
    for (int k = 0; k < A::level_names.size; ++k)
      if (A::level_names[k] == variable && !A::format::properties[static_cast<std::size_t>(k)].full)
        return std::string(1, letters.of(access.tensor()));
    return std::string(everything);
  }
  template <class T>
  std::string of(const Literal<T>&) {
    return std::string(absent);
  }
  template <class E>
  std::string of(const Negation<E>& negation) {
    return of(negation.operand);
  }
  template <class E, class F>
  std::string of(const Mapped<E, F>& mapped) {
    return of(mapped.operand);
  }
  template <class E, char... Names>
  std::string of(const Reduction<E, Names...>& reduction) {
    return of(reduction.operand);
  }
  template <class L, class R>
  std::string of(const Ratio<L, R>& ratio) {
    return of(Product(ratio.left, ratio.right));
  }
  template <class L, class R>
  std::string of(const Product<L, R>& product) {
    const std::string left = of(product.left);
    const std::string right = of(product.right);
    if (left == absent || (left == everything && right != absent)) return right;
    if (right == absent || right == everything) return left;
    return "(" + left + " and " + right + ")";
  }
  template <class L, class R>
  std::string of(const Sum<L, R>& sum) {
    const std::string left = of(sum.left);
    const std::string right = of(sum.right);
    if (reduced && left == absent) return right;
    if (reduced && right == absent) return left;
    if (left == absent || right == absent || left == everything || right == everything)
      return std::string(everything);
    return "(" + left + " or " + right + ")";
  }
};

/// What an operand does in the loop over `variable`.
template <class A>
std::string_view role_at(char variable) {
  for (int k = 0; k < A::level_names.size; ++k) {
    if (A::level_names[k] != variable) continue;
    const LevelProperties& level = A::format::properties[static_cast<std::size_t>(k)];
    return level.full ? "located" : "walked";
  }
  return "-";
}

/// What the result does in the loop at `depth`.
template <class Result>
std::string_view result_role_at(const NameList& order, int depth, WorkspaceChoice choice) {
  const Classification how = classify<Result>(order, choice);
  if (!Result::level_names.contains(order[depth])) return "reduced";
  switch (how.kind) {
    case ResultKind::located:
      return "located";
    case ResultKind::appended:
      return depth < how.appended_levels ? "appended" : "located";
    case ResultKind::dense_workspace:
      return depth < how.prefix ? "appended" : "gathered";
    case ResultKind::coordinate_workspace:
      return "listed";
  }
  return "-";
}

inline std::string padded(std::string_view word, std::size_t width) {
  std::string out(word);
  out.resize(std::max(out.size(), width), ' ');
  return out;
}

}  // namespace detail

/// The plan of a statement in words; nothing is run.
/// @throws ShapeError where an index variable would run over two extents
template <class Result, class Right, class Order, class How>
std::string explain(const Statement<Result, Right, Order, How>& statement) {
  require_readable_operands<Right, Order>();
  const NameList& order = Order::names;
  constexpr Classification how = classify<Result>(Order::names, How::workspace);
  using Compute = compute_t<Result, Right>;
  using Space = typename Result::tensor_type::space_type;
  const auto bounds = bounds_of(statement);
  TensorLetters letters;
  letters.of(statement.result().tensor());
  for_each_access(statement.right(), [&](const auto& access) { letters.of(access.tensor()); });
  std::string out = statement.str() + "\n\n";

  for (int depth = 0; depth < order.size; ++depth) {
    const bool reduced = !Result::level_names.contains(order[depth]);
    const std::string found = detail::Domain{order[depth], reduced, letters}.of(statement.right());
    const std::string walked = found == detail::Domain::absent ? std::string() : found;
    std::string line(static_cast<std::size_t>(2 * depth + 2), ' ');
    line += text("for ", order[depth], " in ", walked.empty() ? text("0..", bounds.extent[depth]) : walked);
    if (depth == 0 && Space().concurrency() > 1) {
      line = detail::padded(line, 36);
      if (Result::level_names.contains(order[0]))
        line += "parallel: chunks of about equal nonzeros";
      else if (how.kind == ResultKind::coordinate_workspace)
        line += "parallel: chunks of about equal nonzeros, a list each";
      else
        line += how.kind == ResultKind::located ? "parallel where private results pay, then added"
                                                : "serial: every chunk would write the same results";
    }
    out += line + "\n";
  }

  constexpr std::size_t width = 10;
  out += "\n" + std::string(14, ' ');
  for (int depth = 0; depth < order.size; ++depth)
    out += depth + 1 < order.size ? detail::padded(std::string(1, order[depth]), width)
                                  : std::string(1, order[depth]);
  const auto row = [&](const auto& access, const auto& role) {
    using A = std::remove_cvref_t<decltype(access)>;
    out += "\n  " + detail::padded(text(letters.of(access.tensor()), '(', A::names.str(), ')'), 12);
    for (int depth = 0; depth < order.size; ++depth) out += detail::padded(role(depth), width);
    const auto& tensor = access.tensor();
    out += text("  ", format_name<typename A::format>(), ", ", A::format::order == 1 ? "extent " : "",
                to_string(tensor.extents()), ", ", tensor.nnz(), tensor.nnz() == 1 ? " value, " : " values, ",
                bytes_text(tensor.bytes()));
  };
  row(statement.result(),
      [&](int depth) { return detail::result_role_at<Result>(order, depth, How::workspace); });
  for_each_access(statement.right(), [&](const auto& access) {
    row(access,
        [&](int depth) { return detail::role_at<std::remove_cvref_t<decltype(access)>>(order[depth]); });
  });

  out += text("\n\n  result: ", to_string(how.kind));
  if constexpr (how.kind == ResultKind::dense_workspace) {
    const std::int64_t extent = bounds.extent[order.find(Result::level_names[Result::level_names.size - 1])];
    out += text(" over ", Result::level_names[Result::level_names.size - 1], ", ",
                bytes_text(extent * static_cast<std::int64_t>(sizeof(Compute)) + extent / 8), " a thread");
  }
  if constexpr (how.kind == ResultKind::coordinate_workspace)
    out += "; a result whose levels follow the loops' order is written without the list";
  out += text("\n  computes in ", value_name<Compute>());
  if constexpr (!How::is_arithmetic) out += ", " + How::semiring::str();
  out += text(" on ", Space::name());
  if constexpr (How::is_deterministic) out += ", the same bits for any number of threads";
  if constexpr (has_specialised_kernel<Statement<Result, Right, Order, How>>)
    out += text("\n  a kernel of its own takes the place of these loops: ",
                specialised_kernel_name<Statement<Result, Right, Order, How>>(), " (.generic() keeps them)");
  out += "\n";
  return out;
}

}  // namespace sporos
