"""A model provider on loopback that answers by a plan and counts every prompt itself."""

from provider.server import Provider

__all__ = ["Provider"]
