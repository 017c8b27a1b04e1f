"""What goes wrong by plan: an error instead of an answer, a stream that ends in the middle, usage that is not reported.

A fault is `{"status": 429}`, `{"cut": true}` or `{"hang": SECONDS}`, which stops for so long and is cut then.
"""

# The event before which a stream is cut: something of the answer was sent.
CUT_BEFORE = {"anthropic": 4, "responses": 3, "chat": 2, "gemini": 1}
USAGES = ("usage", "usageMetadata")
KINDS = {400: "invalid_request_error", 429: "rate_limit_error", 529: "overloaded_error"}
STATES = {429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}


def error(api, status):
    """Returns the body of an answer with this status."""
    kind = KINDS.get(status, "api_error")
    what = {"type": kind, "code": status if api == "gemini" else kind, "message": kind}
    return {"type": "error", "error": what | {"status": STATES.get(status, "INVALID_ARGUMENT")}}


def without_usage(value, how):
    """Returns an answer, or an event of its stream, without its usage (`none`), or with one of zeros (`zero`)."""
    if isinstance(value, list):
        return [without_usage(one, how) for one in value]
    if not isinstance(value, dict):
        return value
    kept = {key: one for key, one in value.items() if how == "zero" or key not in USAGES}
    return {key: _zeros(one) if key in USAGES else without_usage(one, how) for key, one in kept.items()}


def _zeros(value):
    if isinstance(value, dict):
        return {key: _zeros(one) for key, one in value.items()}
    return 0 if isinstance(value, int) else value
