"""Target languages of the compiled loops: LLVM IR."""
