"""The web page and the API."""
