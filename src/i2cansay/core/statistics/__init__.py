"""Statistics of classes, exact under any batching, and closed-form solutions from them."""
