"""Statistics of classes, exact under any batching, and the closed forms made from them."""
