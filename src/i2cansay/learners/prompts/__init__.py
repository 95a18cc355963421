"""Methods that learn prompts inside a frozen vision transformer: they read images, and need the extra `torch`.

A row of their features is an image: the pixels that the encoder saw, from 0 to 1, and before them the class token of
the encoder, where it is stored (`blocks`). Weights of the transformer come in as arrays; nothing here opens an
encoder.
"""
