"""`i2cansay serve` and `i2cansay token`: the service, and who may use it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from i2cansay.cli.application import Application

if TYPE_CHECKING:
    from i2cansay.service.label_studio.connection import LabelStudio
    from i2cansay.service.limits import Limits
    from i2cansay.service.service import Service

app = Application(help="Tokens of a service: add, list, remove.")
Folder = Annotated[Path, typer.Argument(help="The data folder of the service.")]


def serve(
    folder: Annotated[Path, typer.Argument(help="Folder of the models; created if missing.")],
    *,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any address but loopback needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")] = 8000,
    model: Annotated[
        str, typer.Option(help="Name of the model that is created in an empty folder; '' for none.")
    ] = "first",
    learner: Annotated[
        str,
        typer.Option(
            help="What new models are: best (most accurate), small (nearly as accurate, a fifth of the size), paper "
            "(the method of the paper), or the name of another learner that keeps no samples."
        ),
    ] = "small",
    encoder: Annotated[
        str,
        typer.Option(
            help="Encoder of new models; by default efficientnet-lite0+stages for best and small, and "
            "efficientnet-lite0 for the others.",
            show_default=False,
        ),
    ] = "",
    import_: Annotated[
        list[Path],
        typer.Option(
            "--import",
            help="A model file, as `learn` writes it, to bring in under the name of the file; repeat for several.",
        ),
    ] = [],  # noqa: B006 - typer reads the default, nobody changes it
    need_token: Annotated[
        bool, typer.Option("--need-token", help="Require a token on loopback as well.")
    ] = False,
    certificate: Annotated[Path | None, typer.Option(help="For HTTPS, a certificate (PEM).")] = None,
    key: Annotated[Path | None, typer.Option(help="For HTTPS, its private key (PEM).")] = None,
    allow_origin: Annotated[
        list[str], typer.Option(help="Another site whose pages may use the service; repeat for several.")
    ] = [],  # noqa: B006 - typer reads the default, nobody changes it
    allow_host: Annotated[
        list[str], typer.Option(help="Another host name under which the service answers; repeat for several.")
    ] = [],  # noqa: B006
    trusted_proxy: Annotated[
        list[str],
        typer.Option(
            help="Address or network of a proxy whose X-Forwarded-For is believed; repeat for several."
        ),
    ] = [],  # noqa: B006
    label_studio: Annotated[
        str,
        typer.Option(
            help="Address of a Label Studio whose annotations are learnt, as http://127.0.0.1:8080; images of its "
            "tasks are fetched from there and from nowhere else.",
            show_default=False,
        ),
    ] = "",
    label_studio_token: Annotated[
        Path | None,
        typer.Option(help="A file with a token of Label Studio, of somebody who sees the projects."),
    ] = None,
    rate: Annotated[float, typer.Option(min=0.1, help="Most requests per second of one token.")] = 50.0,
    max_body: Annotated[int, typer.Option(min=1, help="Largest request, in megabytes.")] = 64,
    max_connections: Annotated[int, typer.Option(min=1, help="Most connections at once.")] = 1024,
    max_per_address: Annotated[
        int,
        typer.Option(
            min=1, help="Most connections from one address; loopback and trusted proxies have no limit."
        ),
    ] = 128,
) -> None:
    """Serve models that people teach by example, over HTTP and on a page.

    A lesson that was answered survives a power cut. No image is kept.

    Example: i2cansay serve data, and open http://127.0.0.1:8000
    """
    for path in import_:
        if not path.is_file():
            raise FileNotFoundError(f"there is no model file {path} to import")
    from i2cansay.encoders.extra import import_extra

    for module in ("fastapi", "uvicorn", "python_multipart"):
        _import(module)
    import_extra("PIL")
    from i2cansay.learners import learner_class
    from i2cansay.service.http.server import Address, check_address, run
    from i2cansay.service.limits import MEGABYTE, Limits
    from i2cansay.service.service import Service

    limits = Limits(
        requests_per_second=rate,
        body_bytes=max_body * MEGABYTE,
        connections=max_connections,
        connections_per_address=max_per_address,
    )
    address = Address(
        host,
        port,
        certificate,
        key,
        need_token,
        hosts=tuple(allow_host),
        origins=tuple(allow_origin),
        proxies=tuple(trusted_proxy),
    )
    studio = _label_studio(label_studio, label_studio_token, limits)
    learner_class(learner)  # a wrong name is told now, not when somebody makes a model
    service = Service(folder, limits=limits, learner=learner, encoder=encoder)
    try:
        check_address(service, address)
        for path in import_:
            _import_model(service, path)
        if model and not service.models and not service.damaged and not service.read_only:
            with _in_words(f"the model {model} cannot be made"):
                service.create(model)
    except BaseException:
        service.close()
        raise
    service.warm()
    for name, sentence in service.damaged.items():
        typer.echo(f"the model {name} {sentence}; restore its file from a backup", err=True)
    secure = "https" if certificate else "http"
    models = "1 model" if len(service.models) == 1 else f"{len(service.models)} models"
    typer.echo(f"{models} in {folder}; open {secure}://{host}:{port} (Ctrl-C ends it)")
    run(service, address, studio)


@app.command("add")
def add_token(
    folder: Folder,
    name: Annotated[str, typer.Argument(help="Whom the token is for; the audit log names it.")],
    scope: Annotated[
        str, typer.Option(help="predict, teach (and predict), or admin (everything).")
    ] = "teach",
) -> None:
    """Create a token and print it, once: only its hash is kept. A running service accepts it at once."""
    from i2cansay.service.access.tokens import SCOPES, Scope, Tokens

    if scope not in SCOPES:
        raise ValueError(f"a scope is one of {', '.join(SCOPES)}, got {scope!r}")
    folder.mkdir(parents=True, exist_ok=True)
    chosen: Scope = scope  # type: ignore[assignment]
    typer.echo(Tokens(folder).add(name, chosen))


@app.command("list")
def list_tokens(folder: Folder) -> None:
    """List the names and scopes of the tokens."""
    from i2cansay.service.access.tokens import Tokens

    for token in Tokens(folder).all():
        typer.echo(f"{token.name}  {token.scope}")


@app.command("remove")
def remove_token(folder: Folder, name: Annotated[str, typer.Argument(help="Name of the token.")]) -> None:
    """Remove a token; a running service refuses it at once."""
    from i2cansay.service.access.tokens import Tokens

    Tokens(folder).remove(name)


def _label_studio(address: str, token: Path | None, limits: Limits) -> LabelStudio | None:
    """Return the Label Studio that was named, None where none was."""
    if not address and token is None:
        return None
    from i2cansay.service.label_studio.connection import LabelStudio
    from i2cansay.service.label_studio.origin import Origin

    origin = Origin.parse(address)
    if token is None:
        raise ValueError(
            "--label-studio needs --label-studio-token FILE: a token is not given on the command line, where every "
            "user of the machine sees it"
        )
    return LabelStudio(origin, read_token(token), limits)


def read_token(path: Path) -> str:
    """Return the token in a file."""
    secret = path.read_text().strip()
    if not secret or not secret.isascii() or any(character.isspace() for character in secret):
        raise ValueError(f"expected one token in {path}, and nothing else")
    return secret


def _import_model(service: Service, path: Path) -> None:
    from i2cansay.service.storage.model_records import model_name

    name = model_name(path.stem)
    if name in service.models or name in service.damaged:
        raise ValueError(
            f"{path} cannot be imported: there is a model {name} already; leave out --import to serve that one, or "
            "give the file another name"
        )
    with _in_words(f"{path} cannot be imported"):
        service.import_model(name, path.read_bytes())
    typer.echo(f"{path} is now the model {name}")


@contextmanager
def _in_words(what: str) -> Iterator[None]:
    """Turn a refusal of the service into one of the command line."""
    from i2cansay.service.errors import ServiceError

    try:
        yield
    except ServiceError as error:
        raise ValueError(f"{what}: {error}") from error


def _import(module: str) -> None:
    from importlib import import_module

    try:
        import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(f'serve needs the package {module}: pip install "i2cansay[serve]"') from error
