"""Parts of the loaders for PyTorch, JAX and Hugging Face."""
