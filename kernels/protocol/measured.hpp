// SPDX-License-Identifier: Apache-2.0
/// @file measured.hpp
/// What has been measured of the patterns of matrices while a plan is made: several candidates measure the
/// same matrix to state their cost, and the one that is chosen measures it again as its plan is prepared.
#pragma once

#include <any>
#include <cstdint>
#include <utility>
#include <vector>

namespace sporos::detail {

/// Remembers measurements on this thread until the end of a scope in which no pattern changes: the choice of
/// a candidate and the making of its plan. Inside it, the plan of a part of the statement has a scope of its
/// own.
class Measurements {
 public:
  Measurements() : outer_(std::exchange(innermost(), this)) {}
  Measurements(const Measurements&) = delete;
  Measurements& operator=(const Measurements&) = delete;
  ~Measurements() { innermost() = outer_; }

  /// The T that was measured for this matrix in the innermost scope; otherwise measures it now. A type must
  /// mean the same for a matrix whoever asks for it.
  /// @param rows  the matrix, such as a CsrView
  template <class T, class Rows, class Measure>
  static T of(const Rows& rows, const Measure& measure) {
    Measurements* const scope = innermost();
    if (!scope) return measure();
    const Matrix matrix{rows.positions, rows.coordinates, rows.rows, rows.columns, rows.nonzeros};
    for (const auto& [known, found] : scope->found_)
      if (const T* const measured = std::any_cast<T>(&found); measured && known == matrix) return *measured;
    T measured = measure();
    scope->found_.emplace_back(matrix, measured);
    return measured;
  }

 private:
  struct Matrix {
    const void* positions;
    const void* coordinates;
    std::int64_t rows, columns, nonzeros;

    bool operator==(const Matrix&) const = default;
  };

  static Measurements*& innermost() {
    thread_local Measurements* scope = nullptr;
    return scope;
  }

  Measurements* outer_;
  std::vector<std::pair<Matrix, std::any>> found_;
};

}  // namespace sporos::detail
