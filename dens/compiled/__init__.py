"""The same text through mypyc where a C compiler is: what is compiled, and whether it is used."""
