"""Errors of the analysis."""


class AnalysisError(Exception):
    """An analysis cannot be completed. The message gives what happened, where, and what to do."""


class NoJava(AnalysisError):
    """No Java that Spark can use was found."""


class NoSpark(AnalysisError):
    """Spark did not start, or its master cannot be reached."""


class TraceError(AnalysisError):
    """The folder is not a run, or its trace cannot be read."""


class SweepError(AnalysisError):
    """A sweep cannot be run, or its folder holds another one."""


class LearningError(AnalysisError):
    """The past values are not sufficient for learning."""
