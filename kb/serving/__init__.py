"""How the tools are offered: arguments, errors, stdio, HTTP."""
