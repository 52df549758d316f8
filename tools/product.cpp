// SPDX-License-Identifier: Apache-2.0
/// @file product.cpp
/// Loop orders by name, and the reference with which a product is compared.
#include "product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "command.hpp"

namespace sporos::tool {
namespace {

struct Name {
  ProductOrder order;
  std::string_view name;
};
constexpr std::array names = {Name{ProductOrder::ikj, "ikj"}, Name{ProductOrder::kij, "kij"},
                              Name{ProductOrder::ijk, "ijk"}, Name{ProductOrder::jki, "jki"},
                              Name{ProductOrder::kji, "kji"}, Name{ProductOrder::jik, "jik"}};

/// A product of two values and its modulus, in long double; for complex values, by components.
struct Term {
  long double re = 0, im = 0;
  long double modulus = 0;  ///< sum of the moduli of the real products that make it up
};

Term multiplied(double a, double b) {
  const long double product = static_cast<long double>(a) * b;
  return {product, 0, std::abs(product)};
}
Term multiplied(const Complex& a, const Complex& b) {
  const long double ar = a.real(), ai = a.imag(), br = b.real(), bi = b.imag();
  return {ar * br - ai * bi, ar * bi + ai * br,
          (std::abs(ar) + std::abs(ai)) * (std::abs(br) + std::abs(bi))};
}

double real_part(double value) { return value; }
double real_part(const Complex& value) { return value.real(); }
double imaginary_part(double) { return 0; }
double imaginary_part(const Complex& value) { return value.imag(); }

/// The entries of row i in a list sorted by rows.
template <class Value>
std::pair<std::size_t, std::size_t> row(const Entries<Value, 2>& entries, std::int64_t i) {
  const std::int64_t* const begin = entries.coordinates[0].data();
  const auto [first, last] = std::equal_range(begin, begin + entries.size(), i);
  return {static_cast<std::size_t>(first - begin), static_cast<std::size_t>(last - begin)};
}

/// One row of the product: its terms, sorted by column.
template <class Value>
class ReferenceRow {
 public:
  struct Sum {
    std::int64_t column;
    Term term;
    std::int64_t count;
  };

  ReferenceRow(const Entries<Value, 2>& A, const Entries<Value, 2>& B) : a_(A), b_(B) {}

  /// Computes the row from entries [first, last) of A.
  const std::vector<Sum>& form(std::size_t first, std::size_t last) {
    sums_.clear();
    for (std::size_t p = first; p < last; ++p) {
      const auto [begin, end] = row(b_, a_.coordinates[1](p));
      for (std::size_t q = begin; q < end; ++q)
        sums_.push_back({b_.coordinates[1](q), multiplied(a_.values(p), b_.values(q)), 1});
    }
    std::sort(sums_.begin(), sums_.end(), [](const Sum& x, const Sum& y) { return x.column < y.column; });
    std::size_t kept = 0;
    for (std::size_t at = 0; at < sums_.size(); ++at) {
      if (kept > 0 && sums_[kept - 1].column == sums_[at].column) {
        Sum& sum = sums_[kept - 1];
        sum.term.re += sums_[at].term.re;
        sum.term.im += sums_[at].term.im;
        sum.term.modulus += sums_[at].term.modulus;
        ++sum.count;
      } else {
        sums_[kept++] = sums_[at];
      }
    }
    sums_.resize(kept);
    return sums_;
  }

 private:
  const Entries<Value, 2>& a_;
  const Entries<Value, 2>& b_;
  std::vector<Sum> sums_;
};

template <class Value>
void compare_value(const Value& value, const Term& term, std::int64_t count, const Rounding& rounding,
                   Comparison& out) {
  ++out.compared;
  // A complex product consists of four real ones, two for each component.
  const double n = static_cast<double>(is_complex_v<Value> ? 2 * count : count) + 1;
  const double u = rounding.sum;
  const double modulus = static_cast<double>(term.modulus);
  const double bound = (n * u / (1 - n * u) + rounding.term) * modulus + n * rounding.least;
  const auto differ = [](double x, long double y) {
    const auto nearest = static_cast<double>(y);
    if (x == nearest || (x != x && nearest != nearest)) return 0.0;
    return static_cast<double>(std::abs(x - y));
  };
  if (!std::isfinite(modulus)) return;  // if terms overflow, a double gives no information
  const double error = std::max(differ(real_part(value), term.re), differ(imaginary_part(value), term.im));
  if (!(error <= bound)) ++out.beyond;
  out.largest_error = std::max(out.largest_error, error);
  out.largest_part_of_bound = std::max(out.largest_part_of_bound, error / bound);
}

/// C must be sorted by rows and then by columns, like A and B.
template <class Value>
Comparison compare(const Entries<Value, 2>& A, const Entries<Value, 2>& B, const Entries<Value, 2>& C,
                   const Rounding& rounding) {
  Comparison out;
  ReferenceRow<Value> reference(A, B);
  std::size_t c = 0;
  const auto c_size = static_cast<std::size_t>(C.size());
  const auto a_size = static_cast<std::size_t>(A.size());
  for (std::size_t first = 0; first < a_size;) {
    const std::int64_t i = A.coordinates[0](first);
    std::size_t last = first;
    while (last < a_size && A.coordinates[0](last) == i) ++last;
    for (const auto& sum : reference.form(first, last)) {
      const auto before = [&] {
        return c < c_size &&
               (C.coordinates[0](c) < i || (C.coordinates[0](c) == i && C.coordinates[1](c) < sum.column));
      };
      for (; before(); ++c) ++out.unexpected;
      if (c < c_size && C.coordinates[0](c) == i && C.coordinates[1](c) == sum.column)
        compare_value(C.values(c++), sum.term, sum.count, rounding, out);
      else
        ++out.missing;
    }
    first = last;
  }
  out.unexpected += static_cast<std::int64_t>(c_size - c);
  return out;
}

}  // namespace

std::string_view to_string(ProductOrder order) {
  for (const auto& known : names)
    if (known.order == order) return known.name;
  return "unknown";
}

std::optional<ProductOrder> product_order_named(std::string_view name) {
  for (const auto& known : names)
    if (known.name == name) return known.order;
  return std::nullopt;
}

std::string_view to_string(WorkspaceChoice workspace) {
  switch (workspace) {
    case WorkspaceChoice::dense:
      return "dense";
    case WorkspaceChoice::coordinate:
      return "coordinate";
    default:
      return "auto";
  }
}

std::optional<WorkspaceChoice> workspace_named(std::string_view name) {
  for (const auto known : {WorkspaceChoice::automatic, WorkspaceChoice::dense, WorkspaceChoice::coordinate})
    if (to_string(known) == name) return known;
  return std::nullopt;
}

void expect_workspace(ProductOrder order, WorkspaceChoice workspace) {
  if (workspace == WorkspaceChoice::automatic) return;
  const std::string refused =
      text("--workspace ", to_string(workspace), " does not go with the order ", to_string(order), ": ");
  if (order == ProductOrder::ijk || order == ProductOrder::jik)
    throw UsageError(refused + "its results come one after the other and need no workspace");
  const bool scatters_over_both = order == ProductOrder::kij || order == ProductOrder::kji;
  if (scatters_over_both && workspace == WorkspaceChoice::dense)
    throw UsageError(refused +
                     "its results scatter over rows and columns; give coordinate, or the order ikj");
}

Comparison compare_product(const AnyEntries& A, const AnyEntries& B, const AnyEntries& C,
                           const Rounding& rounding) {
  if (const auto* real = std::get_if<Entries<double, 2>>(&A))
    return compare(*real, std::get<Entries<double, 2>>(B), std::get<Entries<double, 2>>(C), rounding);
  return compare(std::get<Entries<Complex, 2>>(A), std::get<Entries<Complex, 2>>(B),
                 std::get<Entries<Complex, 2>>(C), rounding);
}

std::int64_t count_products(const AnyEntries& A, const AnyEntries& B) {
  return std::visit(
      []<class ValueA, int OrderA, class ValueB, int OrderB>(
          const Entries<ValueA, OrderA>& a, const Entries<ValueB, OrderB>& b) -> std::int64_t {
        std::int64_t count = 0;
        if constexpr (OrderA == 2 && OrderB == 2)
          for (std::int64_t p = 0; p < a.size(); ++p) {
            const auto [begin, end] = row(b, a.coordinates[1](static_cast<std::size_t>(p)));
            count += static_cast<std::int64_t>(end - begin);
          }
        return count;
      },
      A, B);
}

}  // namespace sporos::tool
