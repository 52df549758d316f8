// SPDX-License-Identifier: Apache-2.0
/// @file print.hpp
/// Tensors as text: a summary on one line, or the tree that their levels form.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>

#include "../core/bytes_text.hpp"
#include "../core/error.hpp"
#include "../core/extents.hpp"
#include "../core/tensor.hpp"
#include "../core/value.hpp"
#include "format_name.hpp"
#include "structure.hpp"
#include "value_cast.hpp"

namespace sporos {

/// "Tensor<double, CSR> 497 x 497, 1727 nonzeros, 34.1 KiB".
template <AnyTensor T>
std::string summary(const T& t) {
  using F = typename T::format_type;
  const std::string what = F::is_dense ? "value" : detail::Structure<F>::padded ? "stored value" : "nonzero";
  return text("Tensor<", value_name<typename T::value_type>(), ", ", format_name<F>(), "> ",
              T::order == 1 ? "extent " : "", to_string(t.extents()), ", ", t.nnz(), ' ', what,
              t.nnz() == 1 ? ", " : "s, ", bytes_text(t.bytes()));
}

/// The summary of a tensor, on one line.
template <AnyTensor T>
std::ostream& operator<<(std::ostream& out, const T& t) {
  return out << summary(t);
}

/// How much of a tensor `print` shows.
struct PrintOptions {
  std::int64_t children = 8;  ///< coordinates shown below one parent; "…" stands for the others
  std::int64_t lines = 200;   ///< largest number of lines of the tree
};

namespace detail {

/// Draws the levels of a tensor in host memory as a tree.
template <TensorValue Value, TensorFormat F>
class Tree {
 public:
  using shape = Structure<F>;

  Tree(std::ostream& out, const TensorView<Value, F>& view, const PrintOptions& options)
      : out_(out), view_(view), options_(options), lines_left_(options.lines) {}

  void draw() {
    if constexpr (F::levels == 0) {
      out_ << "root: " << value_text(view_.values[0]) << '\n';
    } else {
      out_ << "root\n";
      draw_below<0>(0, "");
      if (lines_left_ < 0) out_ << "… (more than " << options_.lines << " lines)\n";
    }
  }

 private:
  /// Draws the coordinates below position p of level K - 1, each with its subtree.
  template <int K>
  void draw_below(std::int64_t p, const std::string& margin) {
    const auto& level = view_.template level<K>();
    Bounds range;
    if constexpr (shape::full(K))
      range = level.coord_bounds(p);
    else
      range = level.pos_bounds(p);
    const std::int64_t hidden = range.size() > options_.children + 1 ? range.size() - options_.children : 0;
    const std::int64_t shown = hidden ? options_.children - 1 : range.size();
    for (std::int64_t at = 0; at < shown && lines_left_ >= 0; ++at)
      draw_one<K>(p, range.begin + at, margin, !hidden && at + 1 == shown);
    if (!hidden) return;
    line(margin, "├─ ", text("… ", hidden, " more"));
    draw_one<K>(p, range.end - 1, margin, true);
  }

  /// @param at  a coordinate if the level is full, else a position
  template <int K>
  void draw_one(std::int64_t p, std::int64_t at, const std::string& margin, bool last) {
    const auto& level = view_.template level<K>();
    std::int64_t i = at;
    std::int64_t q = at;
    if constexpr (shape::full(K))
      q = level.locate(p, i).position;
    else
      i = static_cast<std::int64_t>(level.coord_at(q));
    const char* branch = last ? "└─ " : "├─ ";
    if constexpr (K + 1 == F::levels) {
      line(margin, branch, text(i, ": ", value_text(view_.values[q])));
    } else {
      line(margin, branch, std::to_string(i));
      draw_below<K + 1>(q, margin + (last ? "   " : "│  "));
    }
  }

  void line(const std::string& margin, const char* branch, const std::string& what) {
    if (--lines_left_ >= 0) out_ << margin << branch << what << '\n';
  }

  std::ostream& out_;
  TensorView<Value, F> view_;
  PrintOptions options_;
  std::int64_t lines_left_;
};

}  // namespace detail

/// Prints the summary of a tensor, its levels, and its values as the tree that the levels form: a node for
/// each stored coordinate, the coordinates of the next level below it, and values at the leaves.
///
///     Tensor<double, CSR> 3 x 3, 3 nonzeros, 68 B
///     Dense(d0), Compressed(d1)
///     root
///     ├─ 0
///     │  └─ 1: 5
///     ├─ 1
///     └─ 2
///        ├─ 0: 7
///        └─ 2: 9
///
/// Cost: proportional to the lines printed, plus a copy if the tensor is not in host memory.
template <AnyTensor T>
void print(std::ostream& out, const T& t, const PrintOptions& options = {}) {
  if constexpr (!HostSpace<typename T::space_type>) {
    print(out, t.template move_to<Host>(), options);
  } else {
    using F = typename T::format_type;
    if (options.children < 1 || options.lines < 0)
      throw ShapeError(text("print is asked for ", options.children, " children and ", options.lines,
                            " lines: it shows one child at least, and no negative number of lines"));
    out << summary(t) << '\n';
    if (F::levels > 0) out << F::str() << '\n';
    detail::Tree<typename T::value_type, F>(out, t.view(), options).draw();
  }
}

/// Does not compile: the message says where to print.
template <AnyTensor T>
void print(const T&, const PrintOptions& = {}) {
  static_assert(detail::never<T>, "print takes a stream as well: print(std::cout, A)");
}

}  // namespace sporos
