// SPDX-License-Identifier: Apache-2.0
/// @file file_kind.hpp
/// The kinds of files that can be read and written.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace sporos {

enum class FileKind { matrix_market, tns, smtx, edges, npy, npz, binsparse };

constexpr std::string_view to_string(FileKind kind) {
  switch (kind) {
    case FileKind::tns:
      return "FROSTT .tns";
    case FileKind::smtx:
      return "DLMC .smtx";
    case FileKind::edges:
      return "edge list";
    case FileKind::npy:
      return "NumPy .npy";
    case FileKind::npz:
      return "SciPy .npz";
    case FileKind::binsparse:
      return "binsparse .h5";
    default:
      return "Matrix Market";
  }
}

/// The short names of the kinds: the usual endings of such files.
inline constexpr std::array file_kind_names = {std::pair{FileKind::matrix_market, std::string_view("mtx")},
                                               std::pair{FileKind::tns, std::string_view("tns")},
                                               std::pair{FileKind::smtx, std::string_view("smtx")},
                                               std::pair{FileKind::edges, std::string_view("edges")},
                                               std::pair{FileKind::npy, std::string_view("npy")},
                                               std::pair{FileKind::npz, std::string_view("npz")},
                                               std::pair{FileKind::binsparse, std::string_view("h5")}};

/// The kind with this short name.
constexpr std::optional<FileKind> file_kind_named(std::string_view name) {
  for (const auto& [kind, known] : file_kind_names)
    if (known == name) return kind;
  return std::nullopt;
}

}  // namespace sporos
