// SPDX-License-Identifier: Apache-2.0
/// @file explain.hpp
/// Says in words what a statement will do before it runs: its loops, what each operand does in each of them,
/// which candidate runs it, how the result is made, and how many bytes are read and needed.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "../../core/statement.hpp"
#include "../../formats/format_name.hpp"
#include "../../formats/print.hpp"
#include "../nest/bounds.hpp"
#include "../nest/domain.hpp"
#include "../nest/nest_run.hpp"
#include "candidates_text.hpp"
#include "checks.hpp"
#include "estimate.hpp"
#include "select.hpp"

namespace sporos {

namespace detail {

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

/// What the loops of a statement are described as where no candidate of the nest takes it.
struct WithoutNest {
  template <class S>
  static constexpr std::string_view role_at(int) {
    return "written";
  }
  template <class S>
  static constexpr std::string_view parallel_text() {
    return "parallel";
  }
};

/// Calls f with the candidate of the nest whose loops are described: K, which runs the statement, or where K
/// is a kernel, the one that would run it in place of K.
template <class K, class S, class F>
void with_nest(const S& statement, const F& f) {
  if constexpr (is_nest<K>) {
    f.template operator()<K>();
  } else {
    [&]<class... N>(TypeList<N...>) {
      if constexpr (sizeof...(N) == 0) {
        f.template operator()<WithoutNest>();
      } else if constexpr (sizeof...(N) == 1) {
        (f.template operator()<N>(), ...);
      } else {
        std::string why_not;
        const std::array seconds{detail::seconds<N>(statement, Use::once, why_not)...};
        call_at<void, N...>(std::min_element(seconds.begin(), seconds.end()) - seconds.begin(), f);
      }
    }(matching<S>(NestCandidates{}));
  }
}

inline std::string padded(std::string_view word, std::size_t width) {
  std::string out(word);
  out.resize(std::max(out.size(), width), ' ');
  return out;
}

/// The loops over strips, from strip `At` on, that run directly outside the loop at `depth`.
template <int At, class S, class NestBounds_>
std::string strips_text(const S& statement, const NestBounds_& bounds, TensorLetters& letters, int depth,
                        int& indent) {
  std::string out;
  if constexpr (At < S::schedule::loops::stripped.count) {
    constexpr Strip strip = S::schedule::loops::stripped.strips[At];
    if (strip.depth == depth) {
      std::string line(static_cast<std::size_t>(indent), ' ');
      line += text("for ", strip.name, " in strips of ", bounds.strips[At].size);
      if constexpr (strip.operand >= 0) {
        using A = StripOperand<S, At>;
        char letter = ' ';
        for_each_access(statement.right(), [&](const auto& access) {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(access)>, A>)
            if (letter == ' ') letter = letters.of(access.tensor());
        });
        line += text(bounds.strips[At].size == 1 ? " position of " : " positions of ", letter, " over ",
                     strip.variables.str());
      } else {
        line +=
            text(bounds.strips[At].size == 1 ? " coordinate of " : " coordinates of ", strip.variables.str());
      }
      if (At == 0 && NestOf<S>::Traits::shares_strips && statement.resources().space().concurrency() > 1)
        line = padded(line, 36) + (padded(line, 36) == line ? " " : "") + "parallel";
      out += line + "\n";
      indent += 2;
    }
    out += strips_text<At + 1>(statement, bounds, letters, depth, indent);
  }
  return out;
}

/// The loops of a statement, each with what it iterates over.
/// @tparam Nest  the candidate that runs them
template <class Nest, class S>
std::string loops_text(const S& statement, TensorLetters& letters) {
  using Result = typename S::result_type;
  const NameList& order = S::order::names;
  const auto bounds = bounds_of(statement);
  std::string out;
  int indent = 2;
  for (int depth = 0; depth < order.size; ++depth) {
    out += strips_text<0>(statement, bounds, letters, depth, indent);
    const bool reduced = !Result::level_names.contains(order[depth]);
    const std::string found = Domain{order[depth], reduced, letters}.of(statement.right());
    std::string walked = found == Domain::absent ? std::string() : found;
    if (walked.starts_with("not ")) walked = text("0..", bounds.extent[depth], " and ", walked);
    std::string line(static_cast<std::size_t>(indent), ' ');
    indent += 2;
    line += text("for ", order[depth], " in ", walked.empty() ? text("0..", bounds.extent[depth]) : walked);
    constexpr StrippedLoops stripped = S::schedule::loops::stripped;
    for (int at = 0; at < stripped.count; ++at)
      if (stripped.strips[at].variables.contains(order[depth]))
        line += text(" in ", stripped.strips[at].name);
    if (depth == 0 && !NestOf<S>::Traits::shares_strips && statement.resources().space().concurrency() > 1) {
      line = padded(line, 36);
      line += Nest::template parallel_text<S>();
    }
    out += line + "\n";
  }
  return out;
}

/// What each tensor does in each loop, and its size.
/// @tparam Nest  the candidate that runs the loops
template <class Nest, class S>
std::string tensors_text(const S& statement, TensorLetters& letters) {
  using Result = typename S::result_type;
  const NameList& order = S::order::names;
  constexpr std::size_t width = 10;
  std::string out(14, ' ');
  for (int depth = 0; depth < order.size; ++depth)
    out +=
        depth + 1 < order.size ? padded(std::string(1, order[depth]), width) : std::string(1, order[depth]);
  const auto row = [&](const auto& access, const auto& role) {
    using A = std::remove_cvref_t<decltype(access)>;
    out += "\n  " +
           padded(text(letters.of(access.tensor()), '(', text_of_modes(access.tensor(), A::names), ')'), 12);
    for (int depth = 0; depth < order.size; ++depth) out += padded(role(depth), width);
    const auto& tensor = access.tensor();
    out += text("  ", format_name<typename A::format>(), ", ", A::format::order == 1 ? "extent " : "",
                to_string(tensor.extents()), ", ", tensor.nnz(), tensor.nnz() == 1 ? " value, " : " values, ",
                bytes_text(tensor.bytes()));
  };
  row(statement.result(), [&](int depth) {
    const bool reduced = !Result::level_names.contains(order[depth]);
    return reduced ? std::string_view("reduced") : Nest::template role_at<S>(depth);
  });
  for_each_access(statement.right(), [&](const auto& access) {
    row(access, [&](int depth) { return role_at<std::remove_cvref_t<decltype(access)>>(order[depth]); });
  });
  return out + "\n";
}

/// What a statement on the tensors of one process will do.
template <class S>
std::string explanation(const S& statement) {
  using Result = typename S::result_type;
  expect_kokkos();
  TensorLetters letters;
  for (const AccessView& tensor : views_of_tensors(statement)) letters.of(tensor.identity());
  std::ostringstream out;
  out << statement.str() << "\n\n";
  with_candidate<void>(statement, Use::once, [&]<class K>() {
    with_nest<K>(statement, [&]<class Nest>() {
      out << loops_text<Nest>(statement, letters) << "\n" << tensors_text<Nest>(statement, letters) << "\n";
    });
    const typename K::template Plan<S> plan(statement, statement.resources());
    if (!is_nest<K> && !Result::is_part)
      out << "  run by " << K::name << ", in place of these loops (.generic() keeps them)\n";
    plan.explain(out);
    const Bytes bytes = plan.bytes();
    out << computing_text<S>() << "  needs at most ";
    if (!Result::format::is_dense) out << bytes_text(bytes.result) << " for the result and ";
    out << bytes_text(bytes.workspace) << " of workspace\n";
  });
  out << candidates_text(statement);
  return out.str();
}

}  // namespace detail

/// What a statement will do, in words; nothing is run.
///
/// The loops are those of the notation, in their order. If a specialised kernel runs in their place, the text
/// says which one, and what it does.
/// @throws ShapeError     if an index variable has two different extents
/// @throws ScheduleError  if no candidate accepts the statement
template <class Result, class Right, class Order, class Options>
std::string explain(const Statement<Result, Right, Order, Options>& statement) {
  using S = Statement<Result, Right, Order, Options>;
  require_valid<S>();
  if constexpr (!can_run<S>)
    return {};
  else if constexpr (is_distributed_statement<S>)
    return AcrossRanks<S>::explain(statement);
  else
    return detail::explanation(statement);
}

/// An expression as index notation, tensors as letters: "A(i, k) * B(k, j)". Nothing is computed; expressions
/// that are numbers are written as their values.
template <Expression E>
  requires(!E::is_number)
std::ostream& operator<<(std::ostream& out, const E& expression) {
  TensorLetters letters;
  return out << Notation(letters).of(expression);
}
/// A statement as index notation: "A(i, j) = B(i, k) * C(k, j)".
template <class Result, class Right, class Order, class Options>
std::ostream& operator<<(std::ostream& out, const Statement<Result, Right, Order, Options>& statement) {
  return out << statement.str();
}

/// Does not compile: the message says what to write.
template <class T, char... Names>
Refused explain(const Access<T, Names...>&) {
  return detail::refuse_assignment<Access<T, Names...>>();
}
/// Of a statement that has been refused.
template <std::same_as<Refused> R>
std::string explain(const R&) {
  return {};
}

}  // namespace sporos
