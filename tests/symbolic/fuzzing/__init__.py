"""A seeded fuzzer of composed rules: random programs, realised by concrete vectors at the limits of their premises."""
