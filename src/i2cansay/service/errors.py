"""Errors as the client sees them: a status, a code, a sentence."""

from __future__ import annotations


class ServiceError(Exception):
    """A refusal.

    Attributes
    ----------
    status : int
        The HTTP status.
    code : str
        One word, for programs.
    sentence : str
        For people: what was expected, what came, what to do.
    retry_after : float or None
        Seconds after which it is worth trying again.

    Examples
    --------
    >>> error = refused("labels: expected 2, got 3")
    >>> error.status, error.code, str(error)
    (422, 'refused', 'labels: expected 2, got 3')
    """

    def __init__(self, status: int, code: str, sentence: str, *, retry_after: float | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code
        self.sentence = sentence
        self.retry_after = retry_after


def error_content(error: ServiceError) -> tuple[dict[str, str], dict[str, str]]:
    """Return the body and the headers of a refusal.

    Examples
    --------
    >>> error_content(busy("the encoder"))[1]
    {'retry-after': '1'}
    """
    headers = {}
    if error.retry_after is not None:
        headers["retry-after"] = str(max(1, round(error.retry_after)))
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    return {"code": error.code, "detail": error.sentence}, headers


def refused(sentence: str) -> ServiceError:
    """The request is not valid."""
    return ServiceError(422, "refused", sentence)


def not_found(sentence: str) -> ServiceError:
    """The request names something that does not exist."""
    return ServiceError(404, "not_found", sentence)


def conflict(sentence: str) -> ServiceError:
    """The request is valid, but does not fit the present state."""
    return ServiceError(409, "conflict", sentence)


def too_large(sentence: str) -> ServiceError:
    """The request exceeds a limit."""
    return ServiceError(413, "too_large", sentence)


def busy(what: str) -> ServiceError:
    """A queue is full."""
    return ServiceError(429, "busy", f"{what} is busy; try again in a second", retry_after=1.0)


def stopping() -> ServiceError:
    """The service is shutting down."""
    return ServiceError(
        503, "stopping", "the service is shutting down; try again in a moment", retry_after=5.0
    )


def not_stored(why: str) -> ServiceError:
    """The change could not be written."""
    return ServiceError(
        507, "not_stored", f"nothing was changed, because it could not be written: {why}", retry_after=10.0
    )
