// SPDX-License-Identifier: Apache-2.0
/// @file targets.hpp
/// What is fuzzed: each target reads bytes as a file of its kind, twice, cut into blocks and spread over
/// threads another way, and demands the same entries or the same error. libfuzzer.cc makes programs of them,
/// corpus.cpp replays what they found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <sporos/formats/io/file.hpp>
#include <string>
#include <string_view>

namespace sporos_fuzz {

/// A result as text: what it is, or the error.
using Outcome = std::string;

/// A stream that delivers what it is told to, in small portions: every refill is a seam.
class Portions final : public sporos::io::ByteStream {
 public:
  Portions(std::string_view bytes, std::size_t portion) : bytes_(bytes), portion_(portion) {}
  std::size_t read(char* out, std::size_t room) override {
    const std::size_t count = std::min({room, portion_, bytes_.size() - at_});
    if (count > 0) std::memcpy(out, bytes_.data() + at_, count);
    at_ += count;
    return count;
  }
  std::int64_t taken() const override { return static_cast<std::int64_t>(at_); }
  std::int64_t total() const override { return portion_ % 2 ? 0 : static_cast<std::int64_t>(bytes_.size()); }

 private:
  std::string_view bytes_;
  std::size_t portion_;
  std::size_t at_ = 0;
};

/// Runs `read` on the bytes; errors of the input are outcomes, everything else is a finding.
template <class Read>
Outcome outcome(std::string_view bytes, std::size_t portion, const sporos::io::TextOptions& options,
                Read read) {
  try {
    sporos::io::TextSource source(std::make_unique<Portions>(bytes, portion), "input", options);
    return read(source);
  } catch (const sporos::ParseError& error) {
    return std::string("error ") + error.what();
  } catch (const sporos::ShapeError& error) {
    return std::string("error ") + error.what();
  }
}

/// Calls `read` with the text taken in at once and in pieces; the outcomes must agree.
template <class Read>
void expect_agreement(std::string_view bytes, sporos::io::Cut cut, std::size_t least_block, Read read) {
  sporos::io::TextOptions whole, pieces;
  whole.progress = pieces.progress = false;
  whole.cut = pieces.cut = cut;
  whole.block_bytes = std::max<std::size_t>(least_block, 1 << 16);
  pieces.block_bytes = std::max<std::size_t>(least_block, 1 + bytes.size() % 61);
  sporos::ReadOptions one, several;
  one.threads = 1;
  several.threads = bytes.size() % 8 == 0 ? 3 : 1;  // threads are slow to start
  one.strict = several.strict = bytes.size() % 5 == 0;
  one.expand_symmetry = several.expand_symmetry = bytes.size() % 3 != 0;
  const Outcome expected =
      outcome(bytes, 1 << 16, whole, [&](sporos::io::TextSource& source) { return read(source, one); });
  const Outcome given = outcome(bytes, 1 + bytes.size() % 7, pieces,
                                [&](sporos::io::TextSource& source) { return read(source, several); });
  if (given != expected) {
    std::cerr << "at once:   " << expected.substr(0, 500) << "\nin pieces: " << given.substr(0, 500) << '\n';
    std::abort();
  }
}

/// Entries as text; aborts where one is out of the extents.
template <class Value, int Order>
Outcome describe(const sporos::Entries<Value, Order>& entries) {
  Outcome out = sporos::to_string(entries.extents);
  char digits[2 * sporos::io::scalar_width + 1];
  for (std::int64_t q = 0; q < entries.size(); ++q) {
    out += '\n';
    const auto at = entries.coordinate(q);
    for (std::size_t mode = 0; mode < at.size(); ++mode) {
      if (at[mode] < 0 || at[mode] >= entries.extents[mode]) std::abort();
      out += std::to_string(at[mode]) + ' ';
    }
    out.append(digits, sporos::io::format_value(digits, entries.values(static_cast<std::size_t>(q))));
  }
  return out;
}

/// A Matrix Market file into a real, a complex and an integer type.
inline void matrix_market(std::string_view bytes) {
  const auto as = [&]<class Value>(Value) {
    expect_agreement(bytes, sporos::io::Cut::at_lines, 1,
                     [](sporos::io::TextSource& source, const sporos::ReadOptions& options) {
                       return describe(sporos::read_matrix_market_entries<Value>(source, options));
                     });
  };
  as(double());
  as(Kokkos::complex<float>());
  as(std::int32_t());
}

/// A .tns file of order 2 and, of complex values, of order 3.
inline void tns(std::string_view bytes) {
  const auto as = [&]<class Value, int Order>(Value, std::integral_constant<int, Order>) {
    expect_agreement(bytes, sporos::io::Cut::at_lines, 1,
                     [](sporos::io::TextSource& source, const sporos::ReadOptions& options) {
                       return describe(sporos::read_tns_entries<Value, Order>(source, options));
                     });
  };
  as(double(), std::integral_constant<int, 2>());
  as(Kokkos::complex<double>(), std::integral_constant<int, 3>());
  as(std::uint8_t(), std::integral_constant<int, 1>());
}

/// A .smtx file.
inline void smtx(std::string_view bytes) {
  // The first line lies in one block, as read_smtx_entries(path) sees to.
  const std::size_t first_line = std::min(bytes.find('\n'), bytes.size()) + 1;
  expect_agreement(bytes, sporos::io::Cut::at_words, first_line,
                   [](sporos::io::TextSource& source, const sporos::ReadOptions& options) {
                     return describe(sporos::read_smtx_entries<float>(source, options));
                   });
}

/// An edge list.
inline void edges(std::string_view bytes) {
  const auto as = [&]<class Value>(Value) {
    expect_agreement(bytes, sporos::io::Cut::at_lines, 1,
                     [&](sporos::io::TextSource& source, sporos::ReadOptions options) {
                       options.first_node = bytes.size() % 2;
                       options.bipartite = bytes.size() % 4 < 2;
                       return describe(sporos::read_edge_list_entries<Value>(source, options));
                     });
  };
  as(double());
  as(std::int16_t());
}

/// Reads bytes as a file of known kind, from memory and from a pipe; the outcomes must agree.
template <class Value, int Order>
void expect_same_from_pipe(std::string_view bytes, sporos::FileKind kind) {
  const auto from = [&](std::size_t portion) -> Outcome {
    sporos::ReadOptions options;
    options.kind = kind;
    options.progress = false;
    sporos::io::PipeSource pipe(std::make_unique<Portions>(bytes, portion), "input");
    try {
      const sporos::FileInfo info = sporos::inspect(pipe, options);
      return std::to_string(info.order) + describe(sporos::read_entries<Value, Order>(pipe, options));
    } catch (const sporos::ParseError& error) {
      return std::string("error ") + error.what();
    } catch (const sporos::ShapeError& error) {
      return std::string("error ") + error.what();
    }
  };
  if (from(1 << 16) != from(1 + bytes.size() % 7)) std::abort();
}

/// A .npy array.
inline void npy(std::string_view bytes) {
  expect_same_from_pipe<double, 2>(bytes, sporos::FileKind::npy);
  expect_same_from_pipe<std::int16_t, 1>(bytes, sporos::FileKind::npy);
}

/// A .npz archive.
inline void npz(std::string_view bytes) {
  expect_same_from_pipe<double, 2>(bytes, sporos::FileKind::npz);
  expect_same_from_pipe<Kokkos::complex<float>, 3>(bytes, sporos::FileKind::npz);
}

/// Bytes that may be gzip, as text.
inline void gzip(std::string_view bytes) {
  for (const auto cut : {sporos::io::Cut::at_lines, sporos::io::Cut::at_words})
    expect_agreement(bytes, cut, 512, [](sporos::io::TextSource& source, const sporos::ReadOptions&) {
      Outcome text;
      sporos::io::Block block;
      try {
        while (source.next(block)) text += block.view();
      } catch (const sporos::io::LineFault& fault) {
        return text + fault.reason;
      } catch (const sporos::ParseError&) {
        // How far a broken file is read before it is found out depends on the blocks; that it is does not.
        return Outcome("broken");
      }
      return text;
    });
}

/// The descriptor of a binsparse file. One that is written from what was understood says the same again.
inline void binsparse(std::string_view bytes) {
  sporos::BinsparseHeader header;
  try {
    header = sporos::io::BinsparseDescriptor(std::string(bytes), "input").header();
  } catch (const sporos::ParseError&) {
    return;
  }
  const std::string once = sporos::io::binsparse_descriptor(header);
  const auto again = sporos::io::BinsparseDescriptor(once, "output").header();
  if (sporos::io::binsparse_descriptor(again) != once || again.levels != header.levels) std::abort();
}

/// A target by its name.
inline std::function<void(std::string_view)> target(std::string_view name) {
  if (name == "matrix_market") return matrix_market;
  if (name == "tns") return tns;
  if (name == "smtx") return smtx;
  if (name == "edges") return edges;
  if (name == "npy") return npy;
  if (name == "npz") return npz;
  if (name == "gzip") return gzip;
  if (name == "binsparse") return binsparse;
  return nullptr;
}

}  // namespace sporos_fuzz
