"""The relay: a mitmproxy of its own before external systems, which counts calls, delays, rejects and cuts them."""
