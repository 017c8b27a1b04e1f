"""Tests of what runs without a client."""
