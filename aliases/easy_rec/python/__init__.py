"""The commands of EasyRec, run by polyrec."""
