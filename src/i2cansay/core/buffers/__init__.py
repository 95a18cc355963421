"""Bounded buffers of samples, and which samples each of them keeps."""
