"""Supervision of the model server: its environment and its process."""
