"""Clients of the model servers."""
