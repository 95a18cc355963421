"""A taught `ImageLearner` for other runtimes: as an ONNX file, or as a page for a browser."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from i2cansay.image_learner.identity import EncoderIdentity
from i2cansay.image_learner.predicting import ImagePredictor


class ImageExporter(ImagePredictor):
    """The part of `ImageLearner` that writes what it decides for others."""

    def to_onnx(
        self,
        path: str | PathLike[str],
        *,
        with_encoder: bool = True,
        error: float = 0.05,
        new_error: float = 0.05,
    ) -> None:
        """Write what it decides now as an ONNX file: pixels in, label, probabilities and verdict out.

        The file takes squares of pixels, (n, size, size, 3) uint8; `encoder.prepare` makes them, and the metadata
        of the file say how. It is a snapshot that cannot go on learning; docs/export.md says what is in it.

        Parameters
        ----------
        with_encoder : bool
            False leaves the encoder out: the file then takes features, as `encoder.encode` gives them.
        error, new_error : float
            As for `verdicts`; they are fixed in the file.
        """
        from i2cansay.export.image_file import write_image_learner

        with self._taught() as known:
            write_image_learner(
                self.encoder,
                known,
                path,
                with_encoder=with_encoder,
                identity=EncoderIdentity.of(self.encoder).header(),
                error=error,
                new_error=new_error,
            )

    def to_page(
        self,
        folder: str | PathLike[str],
        *,
        title: str = "i2cansay",
        runtime: str | PathLike[str] | None = None,
        error: float = 0.05,
        new_error: float = 0.05,
    ) -> bool:
        """Write a folder that classifies images in a browser; return whether it has all that it needs.

        Parameters
        ----------
        folder : path
            Made where it is not there.
        title : str
            What the page is called.
        runtime : path, optional
            The package onnxruntime-web, as ``npm pack onnxruntime-web@1.30`` fetches it, or a folder with it.
            Without it the page says how to get it.
        error, new_error : float
            As for `verdicts`; they are fixed in the page.
        """
        from i2cansay.export.browser_folder import write_browser_folder
        from i2cansay.export.image_file import image_model

        identity = EncoderIdentity.of(self.encoder).header()
        with self._taught() as known:
            model = image_model(self.encoder, known, identity=identity, error=error, new_error=new_error)
        package = None if runtime is None else Path(runtime)
        return write_browser_folder(model, Path(folder), title=title, runtime=package)
