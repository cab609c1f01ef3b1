"""The experiments of the paper: problem, competitors, run; `epro reproduce` draws and prints them."""
