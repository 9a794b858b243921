"""What all task-based metrics share: a pipeline that tags the texts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from assay.data import DataError, Dataset, Segment
from assay.features.pipelines import Pipeline, pipeline_for
from assay.languages import Side, language_of
from assay.metrics.base import Metric
from assay.settings import setting
from assay.tasks.tagging import Tagged, pipeline_named, tag, tagger_of

__all__ = ["TaggedMetric"]


@dataclass(frozen=True, kw_only=True)
class TaggedMetric(Metric):
    """A metric on tagged text.

    `pipeline` is a spaCy pipeline by name or folder, or a language (`de`), which stands for the
    usual pipeline of that language; without one it is that of the texts' language where it is known
    (`for_dataset`), and else the English one.
    """

    pipeline: str = setting("")

    def __post_init__(self) -> None:
        super().__post_init__()
        if set(self.pipeline) & set(",|") or self.pipeline.strip() != self.pipeline:
            raise DataError(
                f"{self.name}:pipeline={self.pipeline}: a comma, a | or a blank at either end "
                "cannot be written here. Give the folder another name."
            )

    @property
    def title(self) -> str:
        """The name of the class."""
        return type(self).__name__

    @property
    def mask_policy(self) -> Literal["word", "length", "type"]:
        """None: a masked word is no word to a tagger."""
        raise DataError(
            f"{self} looks at tagged text, in which masked words would be no words any more. "
            "Take a metric that compares words or letters: bleu, chrf, ter, macrof ..."
        )

    @property
    def needs_languages(self) -> tuple[Side, ...]:
        """The outputs' language chooses the pipeline, where none is named."""
        return () if self.pipeline else ("target",)

    def for_dataset(self, dataset: Dataset) -> Self:
        """With the pipeline of the texts' language; a `DataError` where none is installed."""
        if self.pipeline:
            return self
        language = language_of(dataset, "target")
        if language.known(self) == "en":
            return self
        pipeline_for(language, "name one: pipeline=NAME")
        return replace(self, pipeline=language.code)

    @classmethod
    def claims(cls) -> dict[str, str]:
        """With the tagger."""
        return super().claims() | {"tagger": "set pipeline=NAME", "spacy": "install that version"}

    def details(self) -> dict[str, str]:
        """With the tagger, as far as it decides the figure."""
        tagger = tagger_of(self.pipeline)
        return super().details() | {"tagger": tagger.pipeline, "spacy": tagger.spacy}

    @abstractmethod
    def check_pipeline(self, pipeline: Pipeline) -> None:
        """Raise a `DataError` where the pipeline cannot find what is to be counted."""

    def tag_outputs(self, segments: Sequence[Segment]) -> dict[str, Tagged]:
        """What is found in every output."""
        self.check_pipeline(pipeline_named(self.pipeline))
        return tag((segment.hypothesis for segment in segments), self.pipeline)

    def tag_all(self, segments: Sequence[Segment]) -> dict[str, Tagged]:
        """What is found in every output and reference."""
        self.check_pipeline(pipeline_named(self.pipeline))
        texts = (text for segment in segments for text in (segment[0], *segment[1]))
        return tag(texts, self.pipeline)
