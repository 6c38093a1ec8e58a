"""The headers of every response.  Knows what a browser may do with our pages, and no more."""

from __future__ import annotations

from typing import Final

# Nothing is inline and nothing comes from elsewhere.  Trusted types make the browser refuse any
# script that would turn a text into elements: law text and model text can only be text.
_POLICY: Final = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}

SECURITY_HEADERS: Final = {
    "Content-Security-Policy": "; ".join(f"{name} {what}" for name, what in _POLICY.items()),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    # Questions are nobody else's business, also not of a later user of the same browser.
    "Cache-Control": "no-store",
}
