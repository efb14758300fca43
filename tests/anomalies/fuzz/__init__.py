"""Damaged files through every reader, whole and in blocks: right, or refused; never a crash, a hang or a guess."""
