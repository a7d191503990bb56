"""What loops are printed as: LLVM IR."""
