"""The front of the compiler: graphs of whole operators, and what is refused."""
