"""The proxy process from outside: launched on a leash, driven through its control API, or served to drivers of other kinds.

What happens inside it is the business of `proxy_addons`.
"""
