//! Which file the name of a program means, and whether it is still that file.
