"""Taught learners for other runtimes: a snapshot of what they decide, as an ONNX file or as a page for a browser."""
